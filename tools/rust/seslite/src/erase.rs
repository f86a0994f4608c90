//! Erasing what must not be kept from events that stay.

use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::slice;

use seslite_sys as sys;

use crate::callback::Callback;
use crate::error::{call, Result};
use crate::key::Key;
use crate::limits::Limits;
use crate::raw::{limited, sized};
use crate::session::Session;
use crate::store::Store;
use crate::text::{c_string, optional_bytes, pointer};

/// A receipt: what a call has erased from the store, and what it knows to be left. Backups and exports are
/// not covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Erased {
    /// Sessions that were deleted; for a redaction, others that were redacted.
    pub sessions: i64,
    /// Events that were redacted or deleted.
    pub events: i64,
    /// Values in stored state that were replaced or deleted.
    pub state_keys: i64,
    /// Versions of artifacts that were deleted.
    pub artifacts: i64,
    /// Events whose words were taken out of the index.
    pub index_events: i64,
    /// Sessions that have copies; `None`: not known.
    pub forks_left: Option<i64>,
    /// Values that the events have set and keep.
    pub state_left: i64,
    /// Versions that the events name and that were not deleted.
    pub artifacts_left: i64,
    /// Later compactions, whose summaries may repeat the events.
    pub compactions_left: i64,
    /// Events of which a damaged index or tally that could not be dropped may still have words or names of
    /// models in the file.
    pub derived_left: i64,
    /// After [`Store::redact_found`]: names of state keys, titles and labels that were removed.
    pub names: i64,
    /// After [`Store::redact_found`]: names and ids in which something is found, and that stay.
    pub names_left: i64,
    /// The write-ahead log could not be emptied: call again.
    pub more: bool,
}

impl Erased {
    fn of(raw: &sys::ses_erased, more: bool) -> Self {
        Erased {
            sessions: raw.sessions,
            events: raw.events,
            state_keys: raw.state_keys,
            artifacts: raw.artifacts,
            index_events: raw.index_events,
            forks_left: (raw.forks_left >= 0).then_some(raw.forks_left),
            state_left: raw.state_left,
            artifacts_left: raw.artifacts_left,
            compactions_left: raw.compactions_left,
            derived_left: raw.derived_left,
            names: raw.names,
            names_left: raw.names_left,
            more,
        }
    }
}

/// Where a call that deletes puts its receipt, if one was asked for.
pub(crate) struct Receipt(Option<sys::ses_erased>);

impl Receipt {
    pub(crate) fn new(asked: bool) -> Self {
        Receipt(asked.then(sized))
    }
    /// Valid while the receipt stays where it is.
    pub(crate) fn raw(&mut self) -> *mut sys::ses_erased {
        self.0.as_mut().map_or(ptr::null_mut(), ptr::from_mut)
    }
    pub(crate) fn take(self, more: bool) -> Option<Erased> {
        self.0.map(|raw| Erased::of(&raw, more))
    }
}

/// How to redact.
#[derive(Debug, Clone, Default)]
pub struct RedactOptions<'a> {
    flags: u32,
    version: i64,
    text: Option<&'a str>,
    content: Option<&'a str>,
}

impl<'a> RedactOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// Also the values that the events have set in state.
    pub fn state(mut self) -> Self {
        self.flags |= sys::SES_REDACT_STATE;
        self
    }
    /// With [`Store::redact_found`], [`state`](Self::state) and all events: also removes names in which
    /// something is found: state keys with their values, the title and labels. Ids stay. Without it the
    /// receipt counts the names.
    pub fn names(mut self) -> Self {
        self.flags |= sys::SES_REDACT_NAMES;
        self
    }
    /// Also copies of the events in other sessions of the app.
    pub fn forks(mut self) -> Self {
        self.flags |= sys::SES_REDACT_FORKS;
        self
    }
    /// Changes nothing: only counts.
    pub fn dry_run(mut self) -> Self {
        self.flags |= sys::SES_REDACT_DRY_RUN;
        self
    }
    /// Nothing of it remains in the file.
    pub fn secure(mut self) -> Self {
        self.flags |= sys::SES_SECURE;
        self
    }
    /// An outdated handle catches up in the same transaction.
    pub fn anyway(mut self) -> Self {
        self.flags |= sys::SES_ANYWAY;
        self
    }
    /// Only by key: stale unless the session is at this version.
    pub fn at_version(mut self, version: i64) -> Self {
        self.flags |= sys::SES_AT_VERSION;
        self.version = version;
        self
    }
    /// In place of a text; `[redacted]` otherwise.
    pub fn text(mut self, text: &'a str) -> Self {
        self.text = Some(text);
        self
    }
    /// In place of the content of one event: a JSON object with the same calls and responses.
    pub fn content(mut self, content: &'a str) -> Self {
        self.content = Some(content);
        self
    }

    /// Makes the call with its options, and reads its receipt.
    fn with_raw(
        &self,
        limits: &Limits,
        function: impl FnOnce(&mut sys::ses_redact_options, *mut sys::ses_erased, *mut sys::ses_error) -> c_int,
    ) -> Result<Erased> {
        let text = self.text.map(|text| c_string("the text", text)).transpose()?;
        let mut raw: sys::ses_redact_options = limited(limits);
        raw.flags = self.flags;
        raw.version = self.version;
        raw.text = pointer(&text);
        (raw.content, raw.content_len) = optional_bytes(self.content);
        let mut erased: sys::ses_erased = sized();
        let code = call(|error| function(&mut raw, &mut erased, error))?;
        Ok(Erased::of(&erased, code == sys::SES_MORE))
    }
}

/// The numbers as a pointer; all events without any.
fn numbers(seqs: Option<&[i64]>) -> (*const i64, usize) {
    match seqs {
        None => (ptr::null(), 0),
        Some([]) => (ptr::NonNull::dangling().as_ptr(), 0),
        Some(seqs) => (seqs.as_ptr(), seqs.len()),
    }
}

/// Finds the next piece of a text from a byte on.
pub(crate) type Find<'f> = &'f mut dyn FnMut(&[u8], usize) -> Option<Range<usize>>;

pub(crate) unsafe extern "C" fn find_next(
    context: *mut c_void,
    text: *const c_char,
    len: usize,
    from: usize,
    begin: *mut usize,
    end: *mut usize,
    _error: *mut sys::ses_error,
) -> c_int {
    let text: &[u8] = if len == 0 { &[] } else { unsafe { slice::from_raw_parts(text.cast(), len) } };
    match unsafe { Callback::<Find<'_>>::run(context, |find| find(text, from)) } {
        None => sys::SES_INTERRUPTED,
        Some(None) => 0,
        Some(Some(piece)) => {
            unsafe {
                *begin = piece.start;
                *end = piece.end;
            }
            1
        }
    }
}

impl Session {
    /// Redacts events by their numbers, or (`None`) all of them. Number 0 is the state that the session was
    /// created with. The handle shows the events as they are now.
    pub fn redact(&mut self, seqs: Option<&[i64]>, options: &RedactOptions<'_>) -> Result<Erased> {
        let (array, count) = numbers(seqs);
        let limits = self.limits.clone();
        options.with_raw(&limits, |options, erased, error| unsafe {
            sys::ses_redact(self.raw(), array, count, options, erased, error)
        })
    }
}

impl Store {
    /// See [`Session::redact`].
    pub fn redact(&self, key: Key<'_>, seqs: Option<&[i64]>, options: &RedactOptions<'_>) -> Result<Erased> {
        let (key, (array, count)) = (key.to_c()?, numbers(seqs));
        options.with_raw(&self.limits, |options, erased, error| unsafe {
            sys::ses_redact_by_key(self.raw(), &key.raw(), array, count, options, erased, error)
        })
    }
    /// Redacts only what `find` finds: given a text and a byte of it, it returns the next piece from there
    /// on, in bytes.
    pub fn redact_found(
        &self,
        key: Key<'_>,
        seqs: Option<&[i64]>,
        options: &RedactOptions<'_>,
        mut find: impl FnMut(&[u8], usize) -> Option<Range<usize>>,
    ) -> Result<Erased> {
        let (key, (array, count)) = (key.to_c()?, numbers(seqs));
        let mut callback: Callback<Find<'_>> = Callback::new(&mut find);
        let result = options.with_raw(&self.limits, |options, erased, error| unsafe {
            options.find = Some(find_next);
            options.find_context = callback.context();
            sys::ses_redact_by_key(self.raw(), &key.raw(), array, count, options, erased, error)
        });
        callback.end(result)
    }
}
