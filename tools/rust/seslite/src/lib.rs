#![doc = include_str!("../README.md")]
#![deny(unsafe_op_in_unsafe_fn)]

mod agent;
mod append;
mod artifact;
mod by_key;
mod callback;
mod create;
mod delete;
mod draft;
mod erase;
mod error;
mod event;
mod facts;
mod family;
mod find;
mod history;
mod inbox;
mod key;
mod labels;
mod lease;
mod limits;
mod lines;
mod lists;
mod load;
mod memory;
mod open;
mod page;
mod range;
mod raw;
mod search;
mod session;
mod state;
mod store;
mod text;
mod trace;
mod upkeep;
mod usage;
mod walk;

pub use agent::{
    AnswerOptions, Builder, Content, Context, ContextOptions, Function, LeftOut, Part, Pending,
    RenderOptions, Tracked,
};
pub use append::{AppendOptions, Appended, RewindOptions, Status};
pub use artifact::{
    Artifact, ArtifactInfo, ArtifactKind, ArtifactList, ArtifactOpenOptions, ArtifactSaveOptions, Artifacts,
};
pub use create::CreateOptions;
pub use delete::{DeleteOptions, Deleted, DeletedUser, ExpireOptions};
pub use draft::Draft;
pub use erase::{Erased, RedactOptions};
pub use error::{Code, Error, Result};
pub use event::{Event, EventCount, OwnedEvent};
pub use facts::{version, Info, Space};
pub use family::{Relation, Relative};
pub use find::{FindOptions, Finding, Findings, Found};
pub use history::{CutOptions, ForkOptions, Popped, PruneOptions};
pub use inbox::{Inboxes, Input, InputOptions};
pub use key::Key;
pub use lease::Lease;
pub use limits::{Cancel, Limits};
pub use lines::{ExportOptions, ImportItem, ImportOptions};
pub use lists::{Filter, Kind, ListOptions, Order};
pub use load::{Conflict, LoadOptions, LoadResult, Loaded, LoadedEvent, LoadedValue, Outcome};
pub use memory::{RecallOptions, RememberOptions};
pub use open::{Journal, OpenOptions, Synchronous};
pub use page::{Names, Page, Preview};
pub use range::{Point, Range};
pub use search::{Hit, Hits, Index, SearchOptions};
pub use seslite_sys::{ses_import_report as ImportReport, ses_stats as Stats, ses_usage as Usage};
pub use session::{Events, Session, SessionView};
pub use state::State;
pub use store::Store;
pub use text::{text_cut, Json};
pub use trace::Trace;
pub use upkeep::{CheckLevel, Problem};
pub use usage::{Tally, UsageOptions, UsageRow, UsageRows};
pub use walk::{Cursor, FollowOptions, Followed, Follower, Waker};
