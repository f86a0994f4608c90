use std::ffi::{c_char, CString};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use seslite_sys as sys;

use crate::append::{texts, AppendOptions, Appended};
use crate::create::CreateOptions;
use crate::error::{done, opened, Code, Error, Result};
use crate::event::EventCount;
use crate::key::Key;
use crate::limits::Limits;
use crate::open::{Callbacks, OpenOptions};
use crate::range::Range;
use crate::raw::limited;
use crate::session::Session;
use crate::text::{c_string, c_string_or_null, optional_bytes, pointer, take_required, take_text, Json};
use crate::walk::{Cursor, FollowOptions, Follower};

/// A store: sessions in an SQLite file. All threads share it. A clone is the same store, which closes when
/// the last of them is dropped. Handles may outlive it.
#[derive(Clone)]
pub struct Store {
    open: Arc<OpenStore>,
    pub(crate) limits: Limits,
}

struct OpenStore {
    raw: NonNull<sys::ses_store>,
    // The store's callbacks, dropped after it was closed.
    _callbacks: Callbacks,
}

// "Any thread may call anything on a ses_store at any time until ses_close", which only drop calls.
unsafe impl Send for OpenStore {}
unsafe impl Sync for OpenStore {}

impl Drop for OpenStore {
    fn drop(&mut self) {
        unsafe { sys::ses_close(self.raw.as_ptr()) };
    }
}

pub(crate) fn path_of(path: &Path) -> Result<CString> {
    let text =
        path.to_str().ok_or_else(|| Error::new(Code::Invalid, format!("the path {path:?} is not UTF-8")))?;
    c_string("the path", text)
}

type Opener = unsafe extern "C" fn(
    *const c_char,
    *const sys::ses_open_options,
    *mut *mut sys::ses_store,
    *mut sys::ses_error,
) -> i32;

#[cfg(feature = "postgres")]
unsafe extern "C" fn open_postgres(
    address: *const c_char,
    options: *const sys::ses_open_options,
    store: *mut *mut sys::ses_store,
    error: *mut sys::ses_error,
) -> i32 {
    unsafe { sys::ses_open_postgres(address, options, std::ptr::null(), store, error) }
}

#[cfg(feature = "postgres")]
const POSTGRES: Option<Opener> = Some(open_postgres);
#[cfg(not(feature = "postgres"))]
const POSTGRES: Option<Opener> = None;

#[cfg(feature = "mysql")]
unsafe extern "C" fn open_mysql(
    address: *const c_char,
    options: *const sys::ses_open_options,
    store: *mut *mut sys::ses_store,
    error: *mut sys::ses_error,
) -> i32 {
    unsafe { sys::ses_open_mysql(address, options, std::ptr::null(), store, error) }
}

#[cfg(feature = "mysql")]
const MYSQL: Option<Opener> = Some(open_mysql);
#[cfg(not(feature = "mysql"))]
const MYSQL: Option<Opener> = None;

/// The engines for servers: how addresses begin, what opens them, if it is built in, and the feature for
/// that.
const SERVERS: [(&[u8], Option<Opener>, &str); 4] = [
    (b"postgresql://", POSTGRES, "postgres"),
    (b"postgres://", POSTGRES, "postgres"),
    (b"mysql://", MYSQL, "mysql"),
    (b"mariadb://", MYSQL, "mysql"),
];

/// What opens a file, or the server whose address it is.
fn opener_of(place: &[u8]) -> Result<Opener> {
    match SERVERS.iter().find(|(scheme, _, _)| place.starts_with(scheme)) {
        None => Ok(sys::ses_open),
        Some((_, Some(open), _)) => Ok(*open),
        Some((_, None, feature)) => Err(Error::new(
            Code::Misuse,
            format!("this is the address of a server, and the crate seslite was built without its feature {feature:?}"),
        )),
    }
}

impl Store {
    /// Opens the store in a file, and creates it if there is none. ":memory:" is a store in memory. With the
    /// feature `postgres`, `postgresql://user@host/database` is one on a server; with the feature `mysql`, so
    /// is `mysql://user@host/database`.
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        Store::open_with(path, OpenOptions::new())
    }

    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Store> {
        let path = path_of(path.as_ref())?;
        let open = opener_of(path.to_bytes())?;
        Store::make(options, |options, store, error| unsafe { open(path.as_ptr(), options, store, error) })
    }

    fn make(
        options: OpenOptions,
        open: impl FnOnce(*const sys::ses_open_options, *mut *mut sys::ses_store, *mut sys::ses_error) -> i32,
    ) -> Result<Store> {
        let (options, callbacks) = options.into_raw();
        let raw = opened(|store, error| open(&options, store, error))?;
        Ok(Store { open: Arc::new(OpenStore { raw, _callbacks: callbacks }), limits: Limits::new() })
    }

    /// The same store, with limits for its calls. They replace those that this handle has.
    pub fn with_limits(&self, limits: Limits) -> Store {
        Store { open: Arc::clone(&self.open), limits }
    }

    /// Copies the whole store, as of one moment, into a store in memory.
    pub fn copy(&self, options: OpenOptions) -> Result<Store> {
        Store::make(options, |options, store, error| unsafe {
            sys::ses_open_copy(self.raw(), options, store, error)
        })
    }

    pub(crate) fn raw(&self) -> *mut sys::ses_store {
        self.open.raw.as_ptr()
    }

    // ---------------------------------------------------------------------------------------------- sessions

    /// Creates a session in one transaction. `state` is its initial state, a JSON object; `None`: empty.
    pub fn create(&self, key: Key<'_>, state: Option<&str>) -> Result<Session> {
        self.create_with(key, state, &CreateOptions::new())
    }

    pub fn create_with(
        &self,
        key: Key<'_>,
        state: Option<&str>,
        options: &CreateOptions<'_>,
    ) -> Result<Session> {
        let key = key.to_c()?;
        let (text, len) = optional_bytes(state);
        options.with_raw(&self.limits, |options| {
            Session::open(&self.limits, |session, error| unsafe {
                sys::ses_create(self.raw(), &key.raw(), text, len, options, session, error)
            })
        })
    }

    /// Reads a session, or creates it. True: it was created.
    pub fn get_or_create(
        &self,
        key: Key<'_>,
        state: Option<&str>,
        options: &CreateOptions<'_>,
    ) -> Result<(Session, bool)> {
        let key = key.to_c()?;
        let (text, len) = optional_bytes(state);
        let mut code = 0;
        let session = options.with_raw(&self.limits, |options| {
            Session::open(&self.limits, |session, error| {
                code = unsafe {
                    sys::ses_get_or_create(self.raw(), &key.raw(), text, len, options, session, error)
                };
                code
            })
        })?;
        Ok((session, code != sys::SES_EXISTING))
    }

    /// Reads a session with all its events.
    pub fn get(&self, key: Key<'_>) -> Result<Session> {
        self.get_range(key, Range::all())
    }

    /// Reads a session with some of its events.
    pub fn get_range(&self, key: Key<'_>, range: Range) -> Result<Session> {
        let key = key.to_c()?;
        let range = range.raw();
        let mut options: sys::ses_get_options = limited(&self.limits);
        options.range = &range;
        Session::open(&self.limits, |session, error| unsafe {
            sys::ses_get(self.raw(), &key.raw(), &options, session, error)
        })
    }

    /// Appends one event without a handle.
    pub fn append(&self, key: Key<'_>, event: &str, options: &AppendOptions<'_>) -> Result<Appended> {
        let key = key.to_c()?;
        let options = options.to_c(&self.limits)?;
        Appended::of(|appended, error| unsafe {
            let (text, len) = (event.as_ptr().cast(), event.len());
            sys::ses_append_by_key(self.raw(), &key.raw(), text, len, options.as_ptr(), appended, error)
        })
    }

    /// Appends events in order in one transaction, without a handle.
    pub fn append_batch(
        &self,
        key: Key<'_>,
        events: &[&str],
        options: &AppendOptions<'_>,
    ) -> Result<Vec<Appended>> {
        let key = key.to_c()?;
        let options = options.to_c(&self.limits)?;
        let texts = texts(events);
        Appended::all_of(events.len(), |results, error| unsafe {
            let (first, count) = (texts.as_ptr(), texts.len());
            sys::ses_append_batch_by_key(
                self.raw(),
                &key.raw(),
                first,
                count,
                options.as_ptr(),
                results,
                error,
            )
        })
    }

    /// The number and the JSON text of the stored event of that id. An index finds it, however long the log
    /// is.
    pub fn event_by_id(&self, key: Key<'_>, id: &str) -> Result<Option<(i64, Json)>> {
        let (key, id) = (key.to_c()?, c_string("the event's id", id)?);
        let options = self.limits.call_options();
        let mut seq = 0;
        let json = take_text(|json, len, error| unsafe {
            sys::ses_event_get_by_key(
                self.raw(),
                &key.raw(),
                id.as_ptr(),
                &options,
                &mut seq,
                json,
                len,
                error,
            )
        })?;
        Ok(json.map(|json| (seq, json)))
    }
    /// How many events a session has stored, and the version that it is at. Nothing else of it is read.
    pub fn event_count(&self, key: Key<'_>) -> Result<EventCount> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        let (mut stored, mut version) = (0, 0);
        done(|error| unsafe {
            sys::ses_event_count_by_key(self.raw(), &key.raw(), &options, &mut stored, &mut version, error)
        })?;
        Ok(EventCount { stored, version })
    }

    /// Opens a cursor, oldest event first.
    pub fn cursor(&self, key: Key<'_>, range: Range) -> Result<Cursor> {
        self.open_cursor(key, range, false)
    }
    /// Opens a cursor, newest event first.
    pub fn cursor_backward(&self, key: Key<'_>, range: Range) -> Result<Cursor> {
        self.open_cursor(key, range, true)
    }
    fn open_cursor(&self, key: Key<'_>, range: Range, backward: bool) -> Result<Cursor> {
        let key = key.to_c()?;
        let range = range.raw();
        let mut options: sys::ses_cursor_options = limited(&self.limits);
        options.flags = if backward { sys::SES_CURSOR_BACKWARD } else { 0 };
        options.range = &range;
        Cursor::open(&self.limits, |cursor, error| unsafe {
            sys::ses_cursor_open(self.raw(), &key.raw(), &options, cursor, error)
        })
    }

    // ------------------------------------------------------------------------------------------------- state

    /// The stored merged state of a session.
    pub fn state(&self, key: Key<'_>) -> Result<Json> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_by_key(self.raw(), &key.raw(), &options, json, len, error)
        })
    }
    /// One stored value of a session's merged state.
    pub fn state_value(&self, key: Key<'_>, state_key: &str) -> Result<Option<Json>> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        let state_key = c_string("the state key", state_key)?;
        take_text(|json, len, error| unsafe {
            sys::ses_state_get_by_key(self.raw(), &key.raw(), state_key.as_ptr(), &options, json, len, error)
        })
    }
    /// The state of an app, or of a user in it. Keys have no prefix here.
    pub fn shared_state(&self, app: &str, user: Option<&str>) -> Result<Json> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let options = self.limits.call_options();
        take_required(|json, len, error| unsafe {
            sys::ses_shared_state_json(self.raw(), app.as_ptr(), pointer(&user), &options, json, len, error)
        })
    }
    pub fn shared_state_value(&self, app: &str, user: Option<&str>, state_key: &str) -> Result<Option<Json>> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let (state_key, options) = (c_string("the state key", state_key)?, self.limits.call_options());
        take_text(|json, len, error| unsafe {
            let state_key = state_key.as_ptr();
            sys::ses_shared_state_get(
                self.raw(),
                app.as_ptr(),
                pointer(&user),
                state_key,
                &options,
                json,
                len,
                error,
            )
        })
    }
    /// Changes shared state in one transaction. `expected`: the values that the caller has seen, as a JSON
    /// object.
    pub fn change_shared_state(
        &self,
        app: &str,
        user: Option<&str>,
        delta: &str,
        expected: Option<&str>,
    ) -> Result<()> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let mut options: sys::ses_shared_state_options = limited(&self.limits);
        (options.expected, options.expected_len) = optional_bytes(expected);
        done(|error| unsafe {
            let text = delta.as_ptr().cast();
            sys::ses_shared_state_change(
                self.raw(),
                app.as_ptr(),
                pointer(&user),
                text,
                delta.len(),
                &options,
                error,
            )
        })
    }

    /// Follows a session, or without a session id all sessions of a user.
    pub fn follow(&self, key: Key<'_>, options: FollowOptions<'_>) -> Result<Follower> {
        Follower::open(self, key, options)
    }

    /// Follows the new events of all sessions of an app, or with `None` of the store, which
    /// [`next_with_key`](Follower::next_with_key) gives. The options can only have a
    /// [`notify`](FollowOptions::notify).
    pub fn follow_all(&self, app: Option<&str>, options: FollowOptions<'_>) -> Result<Follower> {
        Follower::open_all(self, app, options.only_new())
    }

    /// Interrupts the calls of other threads that are reading, or wait for a lease or a follower.
    pub fn interrupt(&self) -> Result<()> {
        done(|error| unsafe { sys::ses_store_interrupt(self.raw(), error) })
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
