use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

use seslite_sys as sys;

use crate::error::{opened, Result};
use crate::raw::limited;
use crate::store::Store;

/// Ends calls from another thread. Clones are the same handle, and any number of calls may have it, on any
/// store.
#[derive(Clone)]
pub struct Cancel {
    handle: Arc<CancelHandle>,
}

struct CancelHandle {
    raw: NonNull<sys::ses_cancel>,
}

// The library keeps an atomic flag in it, which any thread may set and clear.
unsafe impl Send for CancelHandle {}
unsafe impl Sync for CancelHandle {}

impl Drop for CancelHandle {
    fn drop(&mut self) {
        unsafe { sys::ses_cancel_close(self.raw.as_ptr()) };
    }
}

impl Cancel {
    /// Makes a handle, in memory of the store, which it may outlive.
    pub fn new(store: &Store) -> Result<Cancel> {
        let raw = opened(|cancel, error| unsafe { sys::ses_cancel_open(store.raw(), cancel, error) })?;
        Ok(Cancel { handle: Arc::new(CancelHandle { raw }) })
    }
    /// Ends the calls that have the handle with [`Code::Interrupted`](crate::Code::Interrupted): those under
    /// way, and those that begin before [`reset`](Cancel::reset). A commit that has begun is not ended.
    pub fn cancel(&self) {
        unsafe { sys::ses_cancel_pull(self.raw()) };
    }
    /// Makes the handle as new. A call that has not noticed yet that it was cancelled goes on.
    pub fn reset(&self) {
        unsafe { sys::ses_cancel_reset(self.raw()) };
    }

    fn raw(&self) -> *mut sys::ses_cancel {
        self.handle.raw.as_ptr()
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").finish_non_exhaustive()
    }
}

/// Limits of calls: [`Store::with_limits`] and [`Session::set_limits`](crate::Session::set_limits) set them.
/// What a call opens has the limits of that call: sessions, forks, cursors, followers and artifacts.
///
/// A call that reaches a limit has changed nothing. It returns [`Code::Busy`](crate::Code::Busy) if its time
/// was over while it waited, and [`Code::Interrupted`](crate::Code::Interrupted) if its time was over while
/// it worked or it was cancelled. A commit that has begun is waited for, so the result is the truth. "Limits"
/// in `seslite.h` names the steps that are finished first. [`Store::count`] and [`Store::space`] have only
/// the time limit of [`OpenOptions`](crate::OpenOptions).
///
/// ```
/// use std::time::Duration;
/// use seslite::{Cancel, Code, Key, Limits, Store};
///
/// # fn main() -> seslite::Result<()> {
/// let store = Store::open(":memory:")?;
/// let cancel = Cancel::new(&store)?;
/// let turn = store.with_limits(Limits::new().timeout(Duration::from_secs(2)).cancel(&cancel));
/// let mut session = turn.create(Key::new("app", "alice", "s1"), None)?;
///
/// cancel.cancel(); // usually on another thread, with a clone
/// assert_eq!(session.append(r#"{"author":"user"}"#).unwrap_err().code(), Code::Interrupted);
/// cancel.reset();
/// session.append(r#"{"author":"user"}"#)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Limits {
    timeout_ms: i64,
    cancel: Option<Cancel>,
}

impl Limits {
    /// The time limit that the store was opened with, and nothing that cancels.
    pub fn new() -> Self {
        Self::default()
    }
    /// How long each call may take, in whole milliseconds and at least one. It applies in addition to the
    /// busy timeout and to the wait for a lease. How long [`Follower::next`](crate::Follower::next) waits is
    /// its own parameter.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout_ms = limit_ms(timeout);
        self
    }
    /// No time limit, not even that of [`OpenOptions::timeout`](crate::OpenOptions::timeout).
    pub fn no_timeout(mut self) -> Self {
        self.timeout_ms = -1;
        self
    }
    /// Ends the calls when the handle is cancelled.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    pub(crate) fn timeout_ms(&self) -> i64 {
        self.timeout_ms
    }
    pub(crate) fn cancel_raw(&self) -> *mut sys::ses_cancel {
        self.cancel.as_ref().map_or(ptr::null_mut(), Cancel::raw)
    }
    /// For the calls that have no other options.
    pub(crate) fn call_options(&self) -> sys::ses_call_options {
        limited(self)
    }
}

/// A fraction of a millisecond counts as a whole one.
pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// To the library, 0 is no limit.
pub(crate) fn limit_ms(timeout: Duration) -> i64 {
    millis(timeout).max(1)
}
