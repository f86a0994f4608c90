#![doc = include_str!("../README.md")]
#![deny(unsafe_op_in_unsafe_fn)]

mod agent;
mod append;
mod error;
mod event;
mod history;
mod io;
mod key;
mod options;
mod page;
mod range;
mod session;
mod state;
mod store;
mod text;
mod walk;

pub use agent::{Builder, Content, Context, Function, Part, Pending, RenderOptions, Tracked};
pub use append::{AppendOptions, Appended, RewindOptions, Status};
pub use error::{Code, Error, Result};
pub use event::{Event, OwnedEvent};
pub use history::{CutOptions, Deleted, ForkOptions, PruneOptions};
pub use io::{
    CheckLevel, Conflict, ExportOptions, ImportItem, ImportOptions, LoadOptions, LoadResult, Loaded, LoadedEvent,
    LoadedValue, Outcome, Problem,
};
pub use key::Key;
pub use options::{CreateOptions, ExpireOptions, Filter, Journal, ListOptions, OpenOptions, Order, Synchronous};
pub use page::{Names, Page};
pub use range::{Point, Range};
pub use seslite_sys::{ses_import_report as ImportReport, ses_stats as Stats, ses_usage as Usage};
pub use session::{Events, Session, SessionView};
pub use state::State;
pub use store::{version, DeletedUser, Info, Lease, Space, Store};
pub use text::Json;
pub use walk::{Cursor, FollowOptions, Followed, Follower, Waker};
