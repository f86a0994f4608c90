//! Sessions as they were.

use std::ffi::{c_int, c_void};
use std::ptr;

use seslite_sys as sys;

use crate::callback::{panicked, Callback};
use crate::error::{call, Result};
use crate::key::Key;
use crate::labels::CLabels;
use crate::limits::Limits;
use crate::raw::{limited, optional_ref, sized, zeroed};
use crate::store::Store;
use crate::text::{c_string, c_string_or_null, name, optional_bytes, pointer};

/// An event of a session that is loaded.
#[derive(Debug, Clone, Default)]
pub struct LoadedEvent {
    pub json: String,
    /// Its number, above that of the one before; 0: the next.
    pub seq: i64,
    /// The session's update time after it; `None`: the latest time so far.
    pub updated_us: Option<i64>,
}

/// A key of the state at the base of a log.
#[derive(Debug, Clone, Copy)]
pub struct LoadedValue<'a> {
    pub name: &'a str,
    pub json: &'a str,
    pub seq: i64,
}

/// A session as it was. The default is an empty one.
#[derive(Debug, Clone, Default)]
pub struct Loaded<'a> {
    pub initial_state: Option<&'a str>,
    /// Its own keys, which are checked against what the rest leads to.
    pub state: Option<&'a str>,
    pub created_us: Option<i64>,
    pub updated_us: Option<i64>,
    pub expires_us: Option<i64>,
    pub version: Option<i64>,
    pub last_seq: i64,
    pub title: Option<&'a str>,
    pub labels: Vec<(&'a str, &'a str)>,
    pub parent: Option<(Key<'a>, i64)>,
    pub base_seq: i64,
    pub base: Vec<LoadedValue<'a>>,
    /// A random number that it has in common with the sessions that it was forked from, and with their forks,
    /// for [`RedactOptions::forks`](crate::RedactOptions::forks); 0: none.
    pub origin: i64,
    /// When it was archived; `None`: it is not.
    pub archived_us: Option<i64>,
    /// The number of the last event that is remembered; 0: none is.
    pub remembered_seq: i64,
    /// The session that it is a child of.
    pub child_of: Option<Key<'a>>,
    /// It is memory, and no child.
    pub is_memory: bool,
}

/// How to handle a session if a different one with its name exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conflict {
    /// [`Code::Exists`](crate::Code::Exists).
    #[default]
    Refuse,
    /// If the existing one is its beginning, the events that it lacks are added. An import does this as with
    /// [`LoadOptions::follow`].
    Update,
    /// The existing one is deleted.
    Replace,
    /// It is loaded as NAME~2, or NAME~3, and so on.
    Rename,
}

impl Conflict {
    pub(crate) fn flags(self) -> u32 {
        match self {
            Conflict::Refuse => 0,
            Conflict::Update => sys::SES_LOAD_UPDATE,
            Conflict::Replace => sys::SES_LOAD_REPLACE,
            Conflict::Rename => sys::SES_LOAD_RENAME,
        }
    }
}

/// How to load.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    pub conflict: Conflict,
    /// Find out what the call would do, and change nothing.
    pub dry_run: bool,
    /// Only for [`Store::load_json`]: also write shared keys that do not exist yet.
    pub shared: bool,
    /// With [`Conflict::Update`]: title, labels and expiry time become those that are given. Otherwise
    /// different ones are [`Code::Exists`](crate::Code::Exists).
    pub follow: bool,
}

impl LoadOptions {
    fn raw(&self, limits: &Limits) -> sys::ses_load_options {
        let mut raw: sys::ses_load_options = limited(limits);
        raw.flags = self.conflict.flags();
        if self.dry_run {
            raw.flags |= sys::SES_LOAD_DRY_RUN;
        }
        if self.shared {
            raw.flags |= sys::SES_LOAD_SHARED;
        }
        if self.follow {
            raw.flags |= sys::SES_LOAD_FOLLOW;
        }
        raw
    }
}

/// The outcome for a session that was loaded or imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    New,
    Equal,
    Updated,
    Replaced,
    Renamed,
    /// Of an import: see the error.
    Refused,
    /// Of a shared key: it has another value here, and keeps it.
    KeyKept,
    /// It had another value, and has that of the file now.
    KeyReplaced,
}

impl Outcome {
    pub(crate) fn from_number(number: c_int) -> Outcome {
        // The enumerators of bindgen are unsigned; these numbers are small.
        match number.unsigned_abs() {
            sys::SES_LOADED_EQUAL => Outcome::Equal,
            sys::SES_LOADED_UPDATED => Outcome::Updated,
            sys::SES_LOADED_REPLACED => Outcome::Replaced,
            sys::SES_LOADED_RENAMED => Outcome::Renamed,
            sys::SES_IMPORTED_REFUSED => Outcome::Refused,
            sys::SES_IMPORTED_KEY_KEPT => Outcome::KeyKept,
            sys::SES_IMPORTED_KEY_REPLACED => Outcome::KeyReplaced,
            _ => Outcome::New,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadResult {
    pub outcome: Outcome,
    /// Events that were stored.
    pub events: i64,
    pub version: i64,
    /// The session's id.
    pub session: String,
}

impl LoadResult {
    fn from_raw(raw: &sys::ses_load_result) -> LoadResult {
        LoadResult {
            outcome: Outcome::from_number(raw.outcome),
            events: raw.events,
            version: raw.version,
            session: unsafe { name(raw.session.as_ptr()) }.to_owned(),
        }
    }
}

/// The closure that gives events, and the last event, which the library reads until the next call.
struct Source<F> {
    next: F,
    event: LoadedEvent,
}

unsafe extern "C" fn next_of<F: FnMut() -> Result<Option<LoadedEvent>>>(
    context: *mut c_void,
    raw: *mut sys::ses_loaded_event,
    error: *mut sys::ses_error,
) -> c_int {
    let step = |source: &mut Source<F>| -> Result<bool> {
        let Some(event) = (source.next)()? else {
            return Ok(false);
        };
        source.event = event;
        let raw = unsafe { &mut *raw };
        raw.json = source.event.json.as_ptr().cast();
        raw.json_len = source.event.json.len();
        raw.seq = source.event.seq;
        raw.updated_us = optional_ref(&source.event.updated_us);
        Ok(true)
    };
    match unsafe { Callback::run(context, step) }.unwrap_or_else(|| Err(panicked())) {
        Ok(more) => c_int::from(more),
        Err(failure) => failure.to_raw(error),
    }
}

impl Store {
    /// Stores a session with everything that it had, in one transaction. `next` gives its events one by one;
    /// it must not write to this store.
    pub fn load<F>(
        &self,
        key: Key<'_>,
        loaded: &Loaded<'_>,
        next: F,
        options: LoadOptions,
    ) -> Result<LoadResult>
    where
        F: FnMut() -> Result<Option<LoadedEvent>>,
    {
        let key = key.to_c()?;
        let title = c_string_or_null("the title", loaded.title)?;
        let labels: Vec<_> = loaded.labels.iter().map(|&(label, value)| (label, Some(value))).collect();
        let labels = CLabels::new(&labels)?;
        let parent =
            loaded.parent.map(|(parent, _)| parent.to_c()).transpose()?.map(|parent| (parent.raw(), parent));
        let child_of = loaded.child_of.map(Key::to_c).transpose()?.map(|of| (of.raw(), of));
        let names = loaded
            .base
            .iter()
            .map(|value| c_string("the state key", value.name))
            .collect::<Result<Vec<_>>>()?;
        let base: Vec<_> = loaded
            .base
            .iter()
            .zip(&names)
            .map(|(value, name)| sys::ses_loaded_value {
                name: name.as_ptr(),
                json: value.json.as_ptr().cast(),
                json_len: value.json.len(),
                seq: value.seq,
            })
            .collect();
        let mut source = Callback::new(Source { next, event: LoadedEvent::default() });
        let mut raw: sys::ses_loaded = sized();
        (raw.initial_state, raw.initial_state_len) = optional_bytes(loaded.initial_state);
        (raw.state, raw.state_len) = optional_bytes(loaded.state);
        raw.created_us = optional_ref(&loaded.created_us);
        raw.updated_us = optional_ref(&loaded.updated_us);
        raw.expires_us = optional_ref(&loaded.expires_us);
        raw.version = optional_ref(&loaded.version);
        raw.last_seq = loaded.last_seq;
        raw.title = pointer(&title);
        raw.labels = labels.as_ptr();
        raw.label_count = labels.len();
        raw.parent = parent.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        raw.parent_seq = loaded.parent.map_or(0, |(_, seq)| seq);
        raw.base_seq = loaded.base_seq;
        raw.base = if base.is_empty() { ptr::null() } else { base.as_ptr() };
        raw.base_count = base.len();
        raw.origin = loaded.origin;
        raw.archived_us = optional_ref(&loaded.archived_us);
        raw.remembered_seq = loaded.remembered_seq;
        raw.child_of = child_of.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        raw.kind = if loaded.is_memory { sys::SES_KIND_MEMORY as c_int } else { 0 };
        raw.next = Some(next_of::<F>);
        raw.next_context = source.context();
        let options = options.raw(&self.limits);
        let mut result: sys::ses_load_result = zeroed();
        let done = call(|error| unsafe {
            sys::ses_load(self.raw(), &key.raw(), &raw, &options, &mut result, error)
        });
        source.end(done)?;
        Ok(LoadResult::from_raw(&result))
    }

    /// Loads a session from the JSON that the ADK and [`SessionView::json`](crate::SessionView::json) write.
    /// Names that are `None` are as in the JSON.
    pub fn load_json(
        &self,
        (app, user, session): (Option<&str>, Option<&str>, Option<&str>),
        json: &str,
        options: LoadOptions,
    ) -> Result<LoadResult> {
        let app = c_string_or_null("the app", app)?;
        let user = c_string_or_null("the user", user)?;
        let session = c_string_or_null("the session id", session)?;
        let key = sys::ses_key { app: pointer(&app), user: pointer(&user), session: pointer(&session) };
        let options = options.raw(&self.limits);
        let mut result: sys::ses_load_result = zeroed();
        call(|error| unsafe {
            sys::ses_load_json(
                self.raw(),
                &key,
                json.as_ptr().cast(),
                json.len(),
                &options,
                &mut result,
                error,
            )
        })?;
        Ok(LoadResult::from_raw(&result))
    }
}
