//! What goes in and out, backups and checks: the calls that call back.

use std::any::Any;
use std::ffi::{c_char, c_int, c_void};
use std::io::{Read, Write};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::Path;
use std::ptr;

use seslite_sys as sys;

use crate::error::{call, Code, Error, Result};
use crate::key::Key;
use crate::options::CLabels;
use crate::store::{file_path, Store};
use crate::text::{c_string, c_string_or_null, name, optional_bytes, optional_name, pointer, size_of, zeroed};

/// A closure that the library calls, and the panic that it ended with. No panic gets into C: the call is ended, and the
/// panic goes on when it has returned.
struct Callback<F> {
    function: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F> Callback<F> {
    fn new(function: F) -> Callback<F> {
        Callback { function, panic: None }
    }

    fn context(&mut self) -> *mut c_void {
        ptr::from_mut(self).cast()
    }

    /// Runs the closure of a context; `None`: it panicked, now or before.
    unsafe fn run<T>(context: *mut c_void, run: impl FnOnce(&mut F) -> T) -> Option<T> {
        let callback = unsafe { &mut *context.cast::<Callback<F>>() };
        if callback.panic.is_some() {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| run(&mut callback.function))) {
            Ok(result) => Some(result),
            Err(panic) => {
                callback.panic = Some(panic);
                None
            }
        }
    }

    fn end<T>(self, result: Result<T>) -> Result<T> {
        match self.panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }
}

fn panicked() -> Error {
    Error::new(Code::Interrupted, "a callback panicked")
}

fn io_error(error: &std::io::Error) -> Error {
    Error::new(Code::Io, error.to_string())
}

// -------------------------------------------------------------------------------------------------------- load

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
}

/// What becomes of a session if a different one of its name exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conflict {
    /// [`Code::Exists`].
    #[default]
    Refuse,
    /// If the existing one is its beginning, the events that it lacks are added.
    Update,
    /// The existing one is deleted.
    Replace,
    /// It is loaded as NAME~2, or NAME~3, and so on.
    Rename,
}

impl Conflict {
    fn flags(self) -> u32 {
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
    /// Only of [`Store::load_json`]: write the shared keys that are not there yet, too.
    pub shared: bool,
}

impl LoadOptions {
    fn raw(&self) -> sys::ses_load_options {
        let mut raw: sys::ses_load_options = zeroed();
        raw.size = size_of::<sys::ses_load_options>();
        raw.flags = self.conflict.flags();
        if self.dry_run {
            raw.flags |= sys::SES_LOAD_DRY_RUN;
        }
        if self.shared {
            raw.flags |= sys::SES_LOAD_SHARED;
        }
        raw
    }
}

/// What became of a session that was loaded or imported.
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
    fn from_number(number: c_int) -> Outcome {
        // The enumerators of bindgen are unsigned; these numbers are small.
        match number.unsigned_abs() {
            sys::SES_LOADED_EQUAL => Outcome::Equal,
            sys::SES_LOADED_UPDATED => Outcome::Updated,
            sys::SES_LOADED_REPLACED => Outcome::Replaced,
            sys::SES_LOADED_RENAMED => Outcome::Renamed,
            sys::SES_IMPORT_REFUSED => Outcome::Refused,
            sys::SES_IMPORT_KEY_KEPT => Outcome::KeyKept,
            sys::SES_IMPORT_KEY_REPLACED => Outcome::KeyReplaced,
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
        raw.updated_us = source.event.updated_us.as_ref().map_or(ptr::null(), ptr::from_ref);
        Ok(true)
    };
    match unsafe { Callback::run(context, step) }.unwrap_or_else(|| Err(panicked())) {
        Ok(more) => c_int::from(more),
        Err(failure) => failure.to_raw(error),
    }
}

fn optional_time(time: &Option<i64>) -> *const i64 {
    time.as_ref().map_or(ptr::null(), ptr::from_ref)
}

impl Store {
    /// Stores a session with everything that it had, in one transaction. `next` gives its events one by one; it must not
    /// write to this store.
    pub fn load<F>(&self, key: Key<'_>, loaded: &Loaded<'_>, next: F, options: LoadOptions) -> Result<LoadResult>
    where
        F: FnMut() -> Result<Option<LoadedEvent>>,
    {
        let key = key.to_c()?;
        let title = c_string_or_null("the title", loaded.title)?;
        let labels: Vec<_> = loaded.labels.iter().map(|&(label, value)| (label, Some(value))).collect();
        let labels = CLabels::new(&labels)?;
        let parent = loaded.parent.map(|(parent, _)| parent.to_c()).transpose()?.map(|parent| (parent.raw(), parent));
        let names =
            loaded.base.iter().map(|value| c_string("the state key", value.name)).collect::<Result<Vec<_>>>()?;
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
        let mut raw: sys::ses_loaded = zeroed();
        raw.size = size_of::<sys::ses_loaded>();
        (raw.initial_state, raw.initial_state_len) = optional_bytes(loaded.initial_state);
        (raw.state, raw.state_len) = optional_bytes(loaded.state);
        raw.created_us = optional_time(&loaded.created_us);
        raw.updated_us = optional_time(&loaded.updated_us);
        raw.expires_us = optional_time(&loaded.expires_us);
        raw.version = optional_time(&loaded.version);
        raw.last_seq = loaded.last_seq;
        raw.title = pointer(&title);
        raw.labels = labels.as_ptr();
        raw.label_count = labels.len();
        raw.parent = parent.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        raw.parent_seq = loaded.parent.map_or(0, |(_, seq)| seq);
        raw.base_seq = loaded.base_seq;
        raw.base = if base.is_empty() { ptr::null() } else { base.as_ptr() };
        raw.base_count = base.len();
        raw.next = Some(next_of::<F>);
        raw.next_context = source.context();
        let options = options.raw();
        let mut result: sys::ses_load_result = zeroed();
        let done = call(|error| unsafe { sys::ses_load(self.raw(), &key.raw(), &raw, &options, &mut result, error) });
        source.end(done)?;
        Ok(LoadResult::from_raw(&result))
    }

    /// Loads a session from the JSON that the ADK and [`SessionView::json`](crate::SessionView::json) write. Names that are
    /// `None` are as in the JSON.
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
        let options = options.raw();
        let mut result: sys::ses_load_result = zeroed();
        call(|error| unsafe {
            sys::ses_load_json(self.raw(), &key, json.as_ptr().cast(), json.len(), &options, &mut result, error)
        })?;
        Ok(LoadResult::from_raw(&result))
    }
}

// --------------------------------------------------------------------------------------------------- JSON lines

/// What to export.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExportOptions<'a> {
    pub app: Option<&'a str>,
    pub user: Option<&'a str>,
    pub session: Option<&'a str>,
    /// Without shared state.
    pub only_sessions: bool,
}

unsafe extern "C" fn write_of<W: Write>(
    context: *mut c_void,
    data: *const c_char,
    len: usize,
    error: *mut sys::ses_error,
) -> c_int {
    let bytes = unsafe { crate::text::bytes(data, len) };
    let write = |out: &mut W| out.write_all(bytes).map_err(|failure| io_error(&failure));
    match unsafe { Callback::run(context, write) }.unwrap_or_else(|| Err(panicked())) {
        Ok(()) => 0,
        Err(failure) => failure.to_raw(error),
    }
}

unsafe extern "C" fn read_of<R: Read>(
    context: *mut c_void,
    buffer: *mut c_char,
    capacity: usize,
    len: *mut usize,
    error: *mut sys::ses_error,
) -> c_int {
    let read = |from: &mut R| {
        // What is read into must be initialised.
        let buffer = unsafe {
            ptr::write_bytes(buffer, 0, capacity);
            std::slice::from_raw_parts_mut(buffer.cast::<u8>(), capacity)
        };
        loop {
            match from.read(buffer) {
                Err(failure) if failure.kind() == std::io::ErrorKind::Interrupted => {}
                other => return other.map(|count| count.min(capacity)).map_err(|failure| io_error(&failure)),
            }
        }
    };
    match unsafe { Callback::run(context, read) }.unwrap_or_else(|| Err(panicked())) {
        Ok(count) => {
            unsafe { *len = count };
            0
        }
        Err(failure) => failure.to_raw(error),
    }
}

/// How to import.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions<'a> {
    pub conflict: Conflict,
    pub dry_run: bool,
    /// Go on after a session that is refused.
    pub skip: bool,
    /// Shared keys that have another value here get that of the file.
    pub replace_keys: bool,
    /// Put everything into this app.
    pub app: Option<&'a str>,
    /// Put all that belongs to a user to this one.
    pub user: Option<&'a str>,
}

/// What became of a session, or of a shared key that has another value here.
#[derive(Debug)]
#[non_exhaustive]
pub struct ImportItem<'a> {
    pub app: &'a str,
    pub user: Option<&'a str>,
    pub session: Option<&'a str>,
    pub loaded_as: Option<&'a str>,
    pub key: Option<&'a str>,
    pub outcome: Outcome,
    pub events: i64,
    pub line: i64,
    pub error: Option<Error>,
}

unsafe extern "C" fn report_of<F: FnMut(&ImportItem<'_>)>(context: *mut c_void, item: *const sys::ses_import_item) {
    let item = unsafe {
        let item = &*item;
        ImportItem {
            app: name(item.app),
            user: optional_name(item.user),
            session: optional_name(item.session),
            loaded_as: optional_name(item.loaded_as),
            key: optional_name(item.key),
            outcome: Outcome::from_number(item.outcome),
            events: item.events,
            line: item.line,
            error: item.error.as_ref().map(|error| Error::from_raw(error.code, error)),
        }
    };
    // There is no way to end the import from here: later calls of the closure are left out.
    unsafe { Callback::run(context, |report: &mut F| report(&item)) };
}

impl Store {
    /// Writes a store, an app, a user or a session as JSON lines, of one moment, in constant memory.
    pub fn export<W: Write>(&self, options: &ExportOptions<'_>, out: W) -> Result<()> {
        let app = c_string_or_null("the app", options.app)?;
        let user = c_string_or_null("the user", options.user)?;
        let session = c_string_or_null("the session id", options.session)?;
        let mut raw: sys::ses_export_options = zeroed();
        raw.size = size_of::<sys::ses_export_options>();
        raw.flags = if options.only_sessions { sys::SES_EXPORT_ONLY_SESSIONS } else { 0 };
        raw.app = pointer(&app);
        raw.user = pointer(&user);
        raw.session = pointer(&session);
        let mut out = Callback::new(out);
        let context = out.context();
        let done = call(|error| unsafe { sys::ses_export(self.raw(), &raw, Some(write_of::<W>), context, error) });
        out.end(done).map(drop)
    }

    /// Reads JSON lines. `report` is called for each session, and for each shared key that has another value here. The
    /// counts tell, with a failure, too, what was done.
    pub fn import<R: Read, F: FnMut(&ImportItem<'_>)>(
        &self,
        options: &ImportOptions<'_>,
        from: R,
        report: F,
    ) -> (sys::ses_import_report, Result<()>) {
        let mut counts: sys::ses_import_report = zeroed();
        counts.size = size_of::<sys::ses_import_report>();
        let result = self.import_into(options, from, report, &mut counts);
        (counts, result)
    }

    fn import_into<R: Read, F: FnMut(&ImportItem<'_>)>(
        &self,
        options: &ImportOptions<'_>,
        from: R,
        report: F,
        counts: &mut sys::ses_import_report,
    ) -> Result<()> {
        let app = c_string_or_null("the app", options.app)?;
        let user = c_string_or_null("the user", options.user)?;
        let mut report = Callback::new(report);
        let mut raw: sys::ses_import_options = zeroed();
        raw.size = size_of::<sys::ses_import_options>();
        raw.flags = options.conflict.flags();
        for (set, flag) in [
            (options.dry_run, sys::SES_IMPORT_DRY_RUN),
            (options.skip, sys::SES_IMPORT_SKIP),
            (options.replace_keys, sys::SES_IMPORT_REPLACE_KEYS),
        ] {
            if set {
                raw.flags |= flag;
            }
        }
        raw.app = pointer(&app);
        raw.user = pointer(&user);
        raw.report = Some(report_of::<F>);
        raw.report_context = report.context();
        let mut from = Callback::new(from);
        let context = from.context();
        let done =
            call(|error| unsafe { sys::ses_import(self.raw(), &raw, Some(read_of::<R>), context, counts, error) });
        report.end(from.end(done)).map(drop)
    }
}

// --------------------------------------------------------------------------------------------- backup and check

unsafe extern "C" fn progress_of<F: FnMut(i64, i64) -> bool>(context: *mut c_void, done: i64, total: i64) -> c_int {
    let go_on = unsafe { Callback::run(context, |progress: &mut F| progress(done, total)) };
    c_int::from(go_on != Some(true))
}

/// How much is checked. Each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckLevel {
    /// The pages of the file, without its indexes.
    Quick,
    /// And the indexes, and that no row has lost the row that it belongs to.
    Full,
    /// And every row: the log of each session, and all that follows from it.
    Log,
}

/// One problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem<'a> {
    /// "page", "index", "reference" and so on.
    pub kind: &'a str,
    pub app: Option<&'a str>,
    pub user: Option<&'a str>,
    pub session: Option<&'a str>,
    /// Of an event; 0: none.
    pub seq: i64,
    pub message: &'a str,
}

unsafe extern "C" fn problem_of<F: FnMut(Problem<'_>) -> bool>(
    context: *mut c_void,
    problem: *const sys::ses_problem,
) -> c_int {
    let problem = unsafe {
        let problem = &*problem;
        Problem {
            kind: name(sys::ses_problem_name(problem.kind)),
            app: optional_name(problem.app),
            user: optional_name(problem.user),
            session: optional_name(problem.session),
            seq: problem.seq,
            message: name(problem.message),
        }
    };
    let go_on = unsafe { Callback::run(context, |report: &mut F| report(problem)) };
    c_int::from(go_on != Some(true))
}

impl Store {
    /// Copies the whole store, as of one moment, into a new file, while readers and writers go on. `replace` a store that
    /// is there; `compact`: without free pages.
    pub fn backup(&self, path: impl AsRef<Path>, replace: bool, compact: bool) -> Result<()> {
        self.backup_with(path, replace, compact, |_, _| true)
    }

    /// The same; `progress` is told how many pages of how many are copied, and ends the backup by returning false.
    pub fn backup_with<F: FnMut(i64, i64) -> bool>(
        &self,
        path: impl AsRef<Path>,
        replace: bool,
        compact: bool,
        progress: F,
    ) -> Result<()> {
        let path = file_path(path.as_ref())?;
        let mut progress = Callback::new(progress);
        let mut raw: sys::ses_backup_options = zeroed();
        raw.size = size_of::<sys::ses_backup_options>();
        if replace {
            raw.flags |= sys::SES_BACKUP_REPLACE;
        }
        if compact {
            raw.flags |= sys::SES_BACKUP_COMPACT;
        }
        raw.progress = Some(progress_of::<F>);
        raw.progress_context = progress.context();
        let done = call(|error| unsafe { sys::ses_backup(self.raw(), path.as_ptr(), &raw, error) });
        progress.end(done).map(drop)
    }

    /// Checks the store as of one moment and changes nothing. Returns the number of problems; `report` is given each, and
    /// ends the check by returning false. `limit` 0: ends after 100.
    pub fn check<F: FnMut(Problem<'_>) -> bool>(&self, level: CheckLevel, limit: i64, report: F) -> Result<i64> {
        let mut report = Callback::new(report);
        let mut raw: sys::ses_check_options = zeroed();
        raw.size = size_of::<sys::ses_check_options>();
        raw.level = match level {
            CheckLevel::Quick => sys::SES_CHECK_QUICK,
            CheckLevel::Full => sys::SES_CHECK_FULL,
            CheckLevel::Log => sys::SES_CHECK_LOG,
        } as c_int;
        raw.limit = limit;
        raw.report = Some(problem_of::<F>);
        raw.report_context = report.context();
        let mut problems = 0;
        let done = call(|error| unsafe { sys::ses_check(self.raw(), &raw, &mut problems, error) });
        report.end(done)?;
        Ok(problems)
    }
}
