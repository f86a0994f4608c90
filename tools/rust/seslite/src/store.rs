use std::ffi::CString;
use std::path::Path;
use std::ptr::{self, NonNull};

use seslite_sys as sys;

use crate::append::{texts, AppendOptions, Appended, RewindOptions};
use crate::error::{call, static_text, Code, Error, Result};
use crate::history::{as_of, CutOptions, Deleted, ForkOptions, PruneOptions};
use crate::key::Key;
use crate::options::{CLabels, Callbacks, CreateOptions, ExpireOptions, Filter, ListOptions, OpenOptions};
use crate::page::{Names, Page};
use crate::range::{Point, Range};
use crate::session::Session;
use crate::text::{
    c_string, c_string_or_null, name, optional_bytes, pointer, size_of, take_required, take_text, zeroed, Json,
};
use crate::walk::{Cursor, FollowOptions, Follower};

/// A store: sessions in an SQLite file. All threads share it; dropping it closes it. Handles may outlive it.
pub struct Store {
    raw: NonNull<sys::ses_store>,
    // What the store calls: dropped after it was closed.
    _callbacks: Callbacks,
}

// "Any thread may call anything on a ses_store at any time until ses_close", which only drop calls.
unsafe impl Send for Store {}
unsafe impl Sync for Store {}

fn path_of(path: &Path) -> Result<CString> {
    let text = path.to_str().ok_or_else(|| Error::new(Code::Invalid, format!("the path {path:?} is not UTF-8")))?;
    c_string("the path", text)
}

/// What was deleted of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeletedUser {
    pub sessions: i64,
    pub state_keys: i64,
    /// As for [`Deleted::more`].
    pub more: bool,
}

impl Store {
    /// Opens the store in a file, and creates it if there is none. ":memory:" is a store in memory.
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        Store::open_with(path, OpenOptions::new())
    }

    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Store> {
        let path = path_of(path.as_ref())?;
        Store::make(options, |options, store, error| unsafe { sys::ses_open(path.as_ptr(), options, store, error) })
    }

    fn make(
        options: OpenOptions,
        open: impl FnOnce(*const sys::ses_open_options, *mut *mut sys::ses_store, *mut sys::ses_error) -> i32,
    ) -> Result<Store> {
        let (options, callbacks) = options.into_raw();
        let mut store = ptr::null_mut();
        call(|error| open(&options, &mut store, error))?;
        let raw = NonNull::new(store).ok_or_else(|| Error::new(Code::Internal, "the library returned no store"))?;
        Ok(Store { raw, _callbacks: callbacks })
    }

    /// Copies the whole store, as of one moment, into a store in memory.
    pub fn copy(&self, options: OpenOptions) -> Result<Store> {
        Store::make(options, |options, store, error| unsafe { sys::ses_store_copy(self.raw(), options, store, error) })
    }

    pub(crate) fn raw(&self) -> *mut sys::ses_store {
        self.raw.as_ptr()
    }

    // ---------------------------------------------------------------------------------------------- sessions

    /// Creates a session in one transaction. `state` is its initial state, a JSON object; `None`: empty.
    pub fn create(&self, key: Key<'_>, state: Option<&str>) -> Result<Session> {
        self.create_with(key, state, &CreateOptions::new())
    }

    pub fn create_with(&self, key: Key<'_>, state: Option<&str>, options: &CreateOptions<'_>) -> Result<Session> {
        let key = key.to_c()?;
        let (text, len) = optional_bytes(state);
        let mut session = ptr::null_mut();
        options.with_raw(|options| {
            call(|error| unsafe { sys::ses_create(self.raw(), &key.raw(), text, len, options, &mut session, error) })
        })?;
        unsafe { Session::take(session) }
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
        let mut session = ptr::null_mut();
        let code = options.with_raw(|options| {
            call(|error| unsafe {
                sys::ses_get_or_create(self.raw(), &key.raw(), text, len, options, &mut session, error)
            })
        })?;
        Ok((unsafe { Session::take(session) }?, code != sys::SES_EXISTING))
    }

    /// Reads a session with all its events.
    pub fn get(&self, key: Key<'_>) -> Result<Session> {
        self.get_range(key, Range::all())
    }

    /// Reads a session with some of its events.
    pub fn get_range(&self, key: Key<'_>, range: Range) -> Result<Session> {
        let key = key.to_c()?;
        let range = range.raw();
        let mut options: sys::ses_get_options = zeroed();
        options.size = size_of::<sys::ses_get_options>();
        options.range = &range;
        let mut session = ptr::null_mut();
        call(|error| unsafe { sys::ses_get(self.raw(), &key.raw(), &options, &mut session, error) })?;
        unsafe { Session::take(session) }
    }

    /// Appends one event without a handle.
    pub fn append(&self, key: Key<'_>, event: &str, options: &AppendOptions<'_>) -> Result<Appended> {
        let key = key.to_c()?;
        let options = options.raw();
        let mut appended: sys::ses_appended = zeroed();
        call(|error| unsafe {
            let event_text = event.as_ptr().cast();
            sys::ses_append_by_key(self.raw(), &key.raw(), event_text, event.len(), &options, &mut appended, error)
        })?;
        Ok(Appended::from_raw(&appended))
    }

    /// Appends events in order in one transaction, without a handle.
    pub fn append_batch(&self, key: Key<'_>, events: &[&str], options: &AppendOptions<'_>) -> Result<Vec<Appended>> {
        let key = key.to_c()?;
        let options = options.raw();
        let texts = texts(events);
        let mut appended: Vec<sys::ses_appended> = events.iter().map(|_| zeroed()).collect();
        call(|error| unsafe {
            let (first, results) = (texts.as_ptr(), appended.as_mut_ptr());
            sys::ses_append_batch_by_key(self.raw(), &key.raw(), first, texts.len(), &options, results, error)
        })?;
        Ok(appended.iter().map(Appended::from_raw).collect())
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
        let mut options: sys::ses_cursor_options = zeroed();
        options.size = size_of::<sys::ses_cursor_options>();
        options.backward = i32::from(backward);
        options.range = &range;
        let mut cursor = ptr::null_mut();
        call(|error| unsafe { sys::ses_cursor_open(self.raw(), &key.raw(), &options, &mut cursor, error) })?;
        unsafe { Cursor::take(cursor) }
    }

    // ------------------------------------------------------------------------------------------------- state

    /// The stored merged state of a session.
    pub fn state(&self, key: Key<'_>) -> Result<Json> {
        let key = key.to_c()?;
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_by_key(self.raw(), &key.raw(), ptr::null(), json, len, error)
        })
    }
    /// One stored value of a session's merged state.
    pub fn state_value(&self, key: Key<'_>, state_key: &str) -> Result<Option<Json>> {
        let key = key.to_c()?;
        let state_key = c_string("the state key", state_key)?;
        take_text(|json, len, error| unsafe {
            sys::ses_state_get_by_key(self.raw(), &key.raw(), state_key.as_ptr(), ptr::null(), json, len, error)
        })
    }
    /// The state of an app, or of a user in it. Keys have no prefix here.
    pub fn shared_state(&self, app: &str, user: Option<&str>) -> Result<Json> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        take_required(|json, len, error| unsafe {
            sys::ses_shared_state_json(self.raw(), app.as_ptr(), pointer(&user), ptr::null(), json, len, error)
        })
    }
    pub fn shared_state_value(&self, app: &str, user: Option<&str>, state_key: &str) -> Result<Option<Json>> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let state_key = c_string("the state key", state_key)?;
        take_text(|json, len, error| unsafe {
            let state_key = state_key.as_ptr();
            sys::ses_shared_state_get(
                self.raw(),
                app.as_ptr(),
                pointer(&user),
                state_key,
                ptr::null(),
                json,
                len,
                error,
            )
        })
    }
    /// Changes shared state in one transaction. `expected`: the values that the caller has seen, as a JSON object.
    pub fn change_shared_state(
        &self,
        app: &str,
        user: Option<&str>,
        delta: &str,
        expected: Option<&str>,
    ) -> Result<()> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let mut options: sys::ses_shared_state_options = zeroed();
        options.size = size_of::<sys::ses_shared_state_options>();
        (options.expected, options.expected_len) = optional_bytes(expected);
        call(|error| unsafe {
            let text = delta.as_ptr().cast();
            sys::ses_shared_state_change(self.raw(), app.as_ptr(), pointer(&user), text, delta.len(), &options, error)
        })
        .map(drop)
    }

    // ------------------------------------------------------------------------------------------ list, delete

    /// Lists one page of the sessions of a user, or of all users of the app.
    pub fn list(&self, app: &str, user: Option<&str>, options: &ListOptions<'_>) -> Result<Page> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let mut page = ptr::null_mut();
        options.with_raw(|options| {
            call(|error| unsafe { sys::ses_list(self.raw(), app.as_ptr(), pointer(&user), options, &mut page, error) })
        })?;
        unsafe { Page::take(page) }
    }
    /// Counts the sessions that a list would have on all pages.
    pub fn count(&self, app: &str, user: Option<&str>, filter: &Filter<'_>) -> Result<i64> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let mut count = 0;
        filter.with_raw(|filter| {
            call(|error| unsafe {
                sys::ses_list_count(self.raw(), app.as_ptr(), pointer(&user), filter, &mut count, error)
            })
        })?;
        Ok(count)
    }
    /// One page of the names of apps: those after `after` that begin with `prefix`. `limit` 0: 100.
    pub fn apps(&self, after: Option<&str>, prefix: Option<&str>, limit: usize) -> Result<Names> {
        self.names(after, prefix, limit, |options, names, error| unsafe {
            sys::ses_list_apps(self.raw(), options, names, error)
        })
    }
    /// One page of the names of an app's users.
    pub fn users(&self, app: &str, after: Option<&str>, prefix: Option<&str>, limit: usize) -> Result<Names> {
        let app = c_string("the app", app)?;
        self.names(after, prefix, limit, |options, names, error| unsafe {
            sys::ses_list_users(self.raw(), app.as_ptr(), options, names, error)
        })
    }
    fn names(
        &self,
        after: Option<&str>,
        prefix: Option<&str>,
        limit: usize,
        list: impl FnOnce(*const sys::ses_names_options, *mut *mut sys::ses_names, *mut sys::ses_error) -> i32,
    ) -> Result<Names> {
        let (after, prefix) = (c_string_or_null("the name", after)?, c_string_or_null("the prefix", prefix)?);
        let mut options: sys::ses_names_options = zeroed();
        options.size = size_of::<sys::ses_names_options>();
        options.limit = limit;
        options.after = pointer(&after);
        options.prefix = pointer(&prefix);
        let mut names = ptr::null_mut();
        call(|error| list(&options, &mut names, error))?;
        unsafe { Names::take(names) }
    }

    /// Deletes a session. One that does not exist is no error: the count is 0.
    pub fn delete(&self, key: Key<'_>, secure: bool) -> Result<Deleted> {
        let key = key.to_c()?;
        let options = delete_options(secure, 0);
        let mut deleted = 0;
        let code = call(|error| unsafe { sys::ses_delete(self.raw(), &key.raw(), &options, &mut deleted, error) })?;
        Ok(Deleted::new(deleted, code))
    }
    /// Deletes everything of a user in an app, `user:` state included, in one transaction.
    pub fn delete_user(&self, app: &str, user: &str, secure: bool) -> Result<DeletedUser> {
        let (app, user) = (c_string("the app", app)?, c_string("the user", user)?);
        let options = delete_options(secure, 0);
        let (mut sessions, mut state_keys) = (0, 0);
        let code = call(|error| unsafe {
            let (app, user) = (app.as_ptr(), user.as_ptr());
            sys::ses_delete_user(self.raw(), app, user, &options, &mut sessions, &mut state_keys, error)
        })?;
        Ok(DeletedUser { sessions, state_keys, more: code == sys::SES_MORE })
    }
    /// Deletes everything of an app, at most `limit` sessions per call (0: 100). Call it until there is no more.
    pub fn delete_app(&self, app: &str, secure: bool, limit: i64) -> Result<Deleted> {
        let app = c_string("the app", app)?;
        let options = delete_options(secure, limit);
        let mut sessions = 0;
        let code =
            call(|error| unsafe { sys::ses_delete_app(self.raw(), app.as_ptr(), &options, &mut sessions, error) })?;
        Ok(Deleted::new(sessions, code))
    }
    /// Deletes sessions whose expiry time has come, in one app or in all, and others as the options say.
    pub fn expire(&self, app: Option<&str>, options: &ExpireOptions) -> Result<Deleted> {
        let app = c_string_or_null("the app", app)?;
        let mut deleted = 0;
        let code = options.with_raw(|options| {
            call(|error| unsafe { sys::ses_expire(self.raw(), pointer(&app), options, &mut deleted, error) })
        })?;
        Ok(Deleted::new(deleted, code))
    }

    // ---------------------------------------------------------------------------- the calls of a session, by key

    pub fn set_title(&self, key: Key<'_>, title: Option<&str>) -> Result<()> {
        let (key, title) = (key.to_c()?, c_string_or_null("the title", title)?);
        call(|error| unsafe { sys::ses_title_set_by_key(self.raw(), &key.raw(), pointer(&title), ptr::null(), error) })
            .map(drop)
    }
    pub fn set_labels(&self, key: Key<'_>, labels: &[(&str, Option<&str>)]) -> Result<()> {
        let (key, labels) = (key.to_c()?, CLabels::new(labels)?);
        call(|error| unsafe {
            let (first, count) = (labels.as_ptr(), labels.len());
            sys::ses_labels_set_by_key(self.raw(), &key.raw(), first, count, ptr::null(), error)
        })
        .map(drop)
    }
    pub fn set_expiry(&self, key: Key<'_>, expires_us: Option<i64>) -> Result<()> {
        let key = key.to_c()?;
        let time = expires_us.as_ref().map_or(ptr::null(), ptr::from_ref);
        call(|error| unsafe { sys::ses_expiry_set_by_key(self.raw(), &key.raw(), time, ptr::null(), error) }).map(drop)
    }
    /// See [`Session::state_as_of`].
    pub fn state_as_of(&self, key: Key<'_>, point: Point<'_>, shared: bool) -> Result<Json> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let (point, options) = (point.raw(), as_of(shared));
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_as_of_by_key(self.raw(), &key.raw(), &point, &options, json, len, error)
        })
    }
    /// See [`Session::initial_state`].
    pub fn initial_state(&self, key: Key<'_>) -> Result<Json> {
        let key = key.to_c()?;
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_initial_by_key(self.raw(), &key.raw(), ptr::null(), json, len, error)
        })
    }
    /// See [`Session::rewind`].
    pub fn rewind(&self, key: Key<'_>, point: Point<'_>, options: &RewindOptions<'_>) -> Result<Appended> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let (point, options) = (point.raw(), options.raw());
        let mut appended: sys::ses_appended = zeroed();
        call(|error| unsafe {
            sys::ses_rewind_by_key(self.raw(), &key.raw(), &point, &options, &mut appended, error)
        })?;
        Ok(Appended::from_raw(&appended))
    }
    /// See [`Session::redo`].
    pub fn redo(&self, key: Key<'_>, options: &RewindOptions<'_>) -> Result<Appended> {
        let (key, options) = (key.to_c()?, options.raw());
        let mut appended: sys::ses_appended = zeroed();
        call(|error| unsafe { sys::ses_redo_by_key(self.raw(), &key.raw(), &options, &mut appended, error) })?;
        Ok(Appended::from_raw(&appended))
    }
    /// See [`Session::cut`].
    pub fn cut(&self, key: Key<'_>, point: Point<'_>, options: &CutOptions) -> Result<Deleted> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let (point, options) = (point.raw(), options.raw());
        let mut deleted = 0;
        let code = call(|error| unsafe {
            sys::ses_cut_by_key(self.raw(), &key.raw(), &point, &options, &mut deleted, error)
        })?;
        Ok(Deleted::new(deleted, code))
    }
    /// See [`Session::fork`].
    pub fn fork(&self, key: Key<'_>, point: Point<'_>, to: Option<Key<'_>>, options: &ForkOptions) -> Result<Session> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let to = to.map(Key::to_c).transpose()?.map(|to| (to.raw(), to));
        let to_raw = to.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        let point = point.raw();
        let mut fork = ptr::null_mut();
        options.with_raw(|options| {
            call(|error| unsafe {
                sys::ses_fork_by_key(self.raw(), &key.raw(), &point, to_raw, options, &mut fork, error)
            })
        })?;
        unsafe { Session::take(fork) }
    }
    /// See [`Session::prune`].
    pub fn prune(&self, key: Key<'_>, options: &PruneOptions) -> Result<Deleted> {
        let (key, options) = (key.to_c()?, options.raw());
        let mut deleted = 0;
        let code =
            call(|error| unsafe { sys::ses_prune_by_key(self.raw(), &key.raw(), &options, &mut deleted, error) })?;
        Ok(Deleted::new(deleted, code))
    }

    // -------------------------------------------------------------------------------------- leases, following

    /// Takes the lease of a session. `duration_us` 0: 60 seconds. `wait_ms` `None`: the busy timeout; 0: no wait.
    pub fn take_lease(&self, key: Key<'_>, owner: &str, duration_us: i64, wait_ms: Option<u32>) -> Result<Lease> {
        let (key, owner) = (key.to_c()?, c_string("the owner", owner)?);
        let mut options = lease_options(duration_us);
        options.wait_ms = wait_ms.map_or(0, |wait| if wait == 0 { -1 } else { i64::from(wait) });
        let mut lease: sys::ses_lease = zeroed();
        call(|error| unsafe {
            sys::ses_lease_take(self.raw(), &key.raw(), owner.as_ptr(), &options, &mut lease, error)
        })?;
        Ok(Lease { token: lease.token, until_us: lease.until_us })
    }
    pub fn renew_lease(&self, key: Key<'_>, token: i64, duration_us: i64) -> Result<Lease> {
        let (key, options) = (key.to_c()?, lease_options(duration_us));
        let mut lease: sys::ses_lease = zeroed();
        call(|error| unsafe { sys::ses_lease_renew(self.raw(), &key.raw(), token, &options, &mut lease, error) })?;
        Ok(Lease { token: lease.token, until_us: lease.until_us })
    }
    pub fn release_lease(&self, key: Key<'_>, token: i64) -> Result<()> {
        let key = key.to_c()?;
        call(|error| unsafe { sys::ses_lease_release(self.raw(), &key.raw(), token, ptr::null(), error) }).map(drop)
    }

    /// Follows a session, or without a session id all sessions of a user.
    pub fn follow(&self, key: Key<'_>, options: FollowOptions<'_>) -> Result<Follower> {
        Follower::open(self.raw(), key, options)
    }

    /// Interrupts the calls of other threads that are reading, or wait for a lease or a follower.
    pub fn interrupt(&self) -> Result<()> {
        call(|error| unsafe { sys::ses_store_interrupt(self.raw(), error) }).map(drop)
    }

    // ------------------------------------------------------------------------------------------- the store itself

    /// Gives at most `limit` free pages (0: 10,000) back to the file system. True: call again later.
    pub fn maintain(&self, limit: i64) -> Result<bool> {
        let mut options: sys::ses_maintain_options = zeroed();
        options.size = size_of::<sys::ses_maintain_options>();
        options.limit = limit;
        Ok(call(|error| unsafe { sys::ses_store_maintain(self.raw(), &options, error) })? == sys::SES_MORE)
    }
    /// How much of the file is in use.
    pub fn space(&self) -> Result<Space> {
        let mut space: sys::ses_space = zeroed();
        space.size = size_of::<sys::ses_space>();
        call(|error| unsafe { sys::ses_store_space(self.raw(), &mut space, error) })?;
        Ok(Space { bytes: space.bytes, free_bytes: space.free_bytes })
    }
    /// Facts about the store.
    pub fn info(&self) -> Result<Info<'_>> {
        let mut info: sys::ses_info = zeroed();
        info.size = size_of::<sys::ses_info>();
        call(|error| unsafe { sys::ses_store_info(self.raw(), &mut info, error) })?;
        Ok(unsafe {
            Info {
                engine: name(info.engine),
                path: name(info.path),
                schema_version: info.schema_version,
                read_only: info.read_only != 0,
                journal_mode: name(info.sqlite.journal_mode),
                journal_reason: name(info.sqlite.journal_reason),
                sqlite_version: name(info.sqlite.version),
                sqlite_bugs: name(info.sqlite.bugs),
            }
        })
    }
    /// What the store has done since it was opened; `seslite.h` says what each number counts.
    pub fn stats(&self) -> Result<sys::ses_stats> {
        let mut stats: sys::ses_stats = zeroed();
        stats.size = size_of::<sys::ses_stats>();
        call(|error| unsafe { sys::ses_store_stats(self.raw(), &mut stats, error) })?;
        Ok(stats)
    }
    /// Makes an id as the store does.
    pub fn make_id(&self) -> Result<String> {
        let mut id = [0; sys::SES_ID_MAX as usize + 1];
        call(|error| unsafe { sys::ses_store_make_id(self.raw(), id.as_mut_ptr(), id.len(), error) })?;
        Ok(unsafe { name(id.as_ptr()) }.to_owned())
    }
    /// Any text as a JSON string, in quotes.
    pub fn quote(&self, text: &str) -> Result<Json> {
        take_required(|json, len, error| unsafe {
            sys::ses_text_quote(self.raw(), text.as_ptr().cast(), text.len(), json, len, error)
        })
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        unsafe { sys::ses_close(self.raw()) };
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

fn delete_options(secure: bool, limit: i64) -> sys::ses_delete_options {
    let mut options: sys::ses_delete_options = zeroed();
    options.size = size_of::<sys::ses_delete_options>();
    options.flags = if secure { sys::SES_DELETE_SECURE } else { 0 };
    options.limit = limit;
    options
}

fn lease_options(duration_us: i64) -> sys::ses_lease_options {
    let mut options: sys::ses_lease_options = zeroed();
    options.size = size_of::<sys::ses_lease_options>();
    options.duration_us = duration_us;
    options
}

/// A lease that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// For [`AppendOptions::lease`].
    pub token: i64,
    /// The lease holds until then, by the store's clock.
    pub until_us: i64,
}

/// How much of the file is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Space {
    pub bytes: i64,
    pub free_bytes: i64,
}

/// Facts about a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info<'a> {
    pub engine: &'a str,
    pub path: &'a str,
    pub schema_version: i32,
    pub read_only: bool,
    pub journal_mode: &'a str,
    /// Why the mode is not WAL; "" if it is.
    pub journal_reason: &'a str,
    pub sqlite_version: &'a str,
    /// Corruption bugs of that version of SQLite that concern a store; "" if none.
    pub sqlite_bugs: &'a str,
}

/// The version of the library: "0.1.0".
pub fn version() -> &'static str {
    static_text(unsafe { sys::ses_version() })
}

pub(crate) fn file_path(path: &Path) -> Result<CString> {
    path_of(path)
}
