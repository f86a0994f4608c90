use std::ffi::{c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

use seslite_sys as sys;

use crate::error::{call, opened, Code, Error, Result};
use crate::event::{Event, OwnedEvent};
use crate::key::Key;
use crate::limits::{millis, Limits};
use crate::raw::limited;
use crate::store::Store;
use crate::text::{c_string_or_null, optional_name, pointer};

/// Walks the events of a session in constant memory. As an iterator it gives copies;
/// [`advance`](Cursor::advance) lends each event instead. After a failure the walk is over.
pub struct Cursor {
    raw: NonNull<sys::ses_cursor>,
    over: bool,
    // Each call on the cursor looks at the cancel handle in them.
    _limits: Limits,
}

unsafe impl Send for Cursor {}

impl Cursor {
    pub(crate) fn open(
        limits: &Limits,
        open: impl FnOnce(*mut *mut sys::ses_cursor, *mut sys::ses_error) -> c_int,
    ) -> Result<Cursor> {
        Ok(Cursor { raw: opened(open)?, over: false, _limits: limits.clone() })
    }

    /// The next event, borrowed until the next call; `None` at the end.
    pub fn advance(&mut self) -> Result<Option<Event<'_>>> {
        let mut event = ptr::null();
        call(|error| unsafe { sys::ses_cursor_next(self.raw.as_ptr(), &mut event, error) })?;
        Ok(unsafe { Event::new(event) })
    }
}

impl Iterator for Cursor {
    type Item = Result<OwnedEvent>;
    fn next(&mut self) -> Option<Result<OwnedEvent>> {
        if self.over {
            return None;
        }
        let next = self.advance().map(|event| event.map(|event| event.to_owned())).transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::iter::FusedIterator for Cursor {}

impl Drop for Cursor {
    fn drop(&mut self) {
        // An error was returned by the call in which it happened.
        unsafe { sys::ses_cursor_close(self.raw.as_ptr(), ptr::null_mut()) };
    }
}

type Notify = Box<dyn Fn() + Send + Sync>;

/// The position at which a follower begins.
#[derive(Default)]
pub struct FollowOptions<'a> {
    only_new: bool,
    after_seq: i64,
    place: Option<&'a str>,
    notify: Option<Notify>,
}

impl<'a> FollowOptions<'a> {
    /// With the first event.
    pub fn new() -> Self {
        Self::default()
    }
    /// Only events that are appended after the follower was opened.
    pub fn only_new(mut self) -> Self {
        self.only_new = true;
        self
    }
    /// Of one session: after the event with this number.
    pub fn after_seq(mut self, seq: i64) -> Self {
        self.after_seq = seq;
        self
    }
    /// After this place.
    pub fn place(mut self, place: &'a str) -> Self {
        self.place = Some(place);
        self
    }
    /// For event loops: called once when there may be something to get. It may only wake the caller's loop,
    /// and must not call the library.
    pub fn notify(mut self, notify: impl Fn() + Send + Sync + 'static) -> Self {
        self.notify = Some(Box::new(notify));
        self
    }
}

unsafe extern "C" fn notify_of(context: *mut c_void) {
    let notify = unsafe { &*context.cast::<Notify>() };
    // There is nobody to report it to; the follower continues.
    let _ = catch_unwind(AssertUnwindSafe(notify));
}

/// The result of a follower.
#[derive(Debug)]
pub enum Followed<'a> {
    Event {
        event: Event<'a>,
        session: &'a str,
    },
    /// Events that were not given yet, or had been given, are gone: read the session again. `None`: sessions
    /// of a place were deleted before the follower was opened: list the user's sessions again.
    Reset {
        session: Option<&'a str>,
    },
    /// The time has passed, or the follower was woken.
    Nothing,
}

/// Gives the events of one session, or of all sessions of a user, an app or the store, as they are appended, by
/// this process or another.
pub struct Follower {
    handle: Arc<FollowerHandle>,
    // Lives as long as the follower, since the library calls it.
    _notify: Option<Box<Notify>>,
    // So does the cancel handle in them, which each call on the follower looks at.
    _limits: Limits,
}

struct FollowerHandle {
    raw: NonNull<sys::ses_follower>,
    // The follower was closed: it cannot be woken any more.
    closed: std::sync::Mutex<bool>,
}

// `wake` may be called on any thread; all else goes through `&mut Follower`.
unsafe impl Send for FollowerHandle {}
unsafe impl Sync for FollowerHandle {}

/// Wakes a follower from another thread. It may outlive it.
#[derive(Clone)]
pub struct Waker {
    handle: Arc<FollowerHandle>,
}

impl Waker {
    /// Makes [`Follower::next`] return: the call that waits now, or the next one that would wait.
    pub fn wake(&self) {
        let closed = self.handle.closed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !*closed {
            unsafe { sys::ses_follower_wake(self.handle.raw.as_ptr()) };
        }
    }
}

impl Follower {
    pub(crate) fn open(store: &Store, key: Key<'_>, options: FollowOptions<'_>) -> Result<Follower> {
        let key = key.to_c()?;
        Follower::open_raw(store, &key.raw(), options)
    }

    /// Of all sessions of the app, or of the store.
    pub(crate) fn open_all(store: &Store, app: Option<&str>, options: FollowOptions<'_>) -> Result<Follower> {
        let app = c_string_or_null("the app", app)?;
        let key = sys::ses_key { app: pointer(&app), user: ptr::null(), session: ptr::null() };
        Follower::open_raw(store, &key, options)
    }

    fn open_raw(store: &Store, key: &sys::ses_key, options: FollowOptions<'_>) -> Result<Follower> {
        let place = c_string_or_null("the place", options.place)?;
        let notify = options.notify.map(Box::new);
        let mut raw: sys::ses_follow_options = limited(&store.limits);
        raw.flags = if options.only_new { sys::SES_FOLLOW_NEW } else { 0 };
        raw.after_seq = options.after_seq;
        raw.place = pointer(&place);
        if let Some(notify) = &notify {
            raw.notify = Some(notify_of);
            raw.notify_context = ptr::from_ref::<Notify>(notify).cast_mut().cast();
        }
        let raw = opened(|follower, error| unsafe {
            sys::ses_follower_open(store.raw(), key, &raw, follower, error)
        })?;
        let handle = Arc::new(FollowerHandle { raw, closed: std::sync::Mutex::new(false) });
        Ok(Follower { handle, _notify: notify, _limits: store.limits.clone() })
    }

    fn raw(&self) -> *mut sys::ses_follower {
        self.handle.raw.as_ptr()
    }

    /// The next event. If there is none, waits for one: `None` without limit, `Some(Duration::ZERO)` not at
    /// all.
    pub fn next(&mut self, timeout: Option<Duration>) -> Result<Followed<'_>> {
        self.next_with_key(timeout).map(|(_, followed)| followed)
    }
    /// The same, with the names of the session of the event, or of a reset that is about one session.
    pub fn next_with_key(&mut self, timeout: Option<Duration>) -> Result<(Option<Key<'_>>, Followed<'_>)> {
        let timeout_ms = timeout.map_or(-1, millis);
        let mut event = ptr::null();
        let code =
            call(|error| unsafe { sys::ses_follower_next(self.raw(), timeout_ms, &mut event, error) })?;
        let session = unsafe { optional_name(sys::ses_follower_session(self.raw())) };
        let followed = match (code, unsafe { Event::new(event) }) {
            (sys::SES_RESET, _) => Followed::Reset { session },
            (_, Some(event)) => Followed::Event { event, session: session.unwrap_or("") },
            (_, None) => Followed::Nothing,
        };
        let names = unsafe { &*sys::ses_follower_key(self.raw()) };
        let (app, user) = unsafe { (optional_name(names.app), optional_name(names.user)) };
        let key = app.zip(user).filter(|_| session.is_some());
        Ok((key.map(|(app, user)| Key { app, user, session }), followed))
    }
    /// The place after what [`next`](Follower::next) returned last, for [`FollowOptions::place`]. One of an app
    /// or the store has none.
    pub fn place(&mut self) -> Result<String> {
        let place = unsafe { optional_name(sys::ses_follower_place(self.raw())) };
        place.map(str::to_owned).ok_or_else(|| Error::new(Code::NoMemory, "out of memory"))
    }
    /// Wakes this follower from another thread.
    pub fn waker(&self) -> Waker {
        Waker { handle: Arc::clone(&self.handle) }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut closed = self.handle.closed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *closed = true;
        unsafe { sys::ses_follower_close(self.raw()) };
    }
}
