//! Backups and checks.

use std::ffi::{c_int, c_void};
use std::path::Path;

use seslite_sys as sys;

use crate::callback::Callback;
use crate::error::{done, Result};
use crate::raw::limited;
use crate::store::{path_of, Store};
use crate::text::{name, optional_name};

pub(crate) unsafe extern "C" fn progress_of<F: FnMut(i64, i64) -> bool>(
    context: *mut c_void,
    done: i64,
    total: i64,
) -> c_int {
    let go_on = unsafe { Callback::run(context, |progress: &mut F| progress(done, total)) };
    c_int::from(go_on != Some(true))
}

/// How much is checked. Each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckLevel {
    /// The pages of the file, without its indexes.
    Quick,
    /// Also the indexes, and that every row has the row that it belongs to.
    Full,
    /// Also every row: the log of each session, and everything derived from it.
    Log,
}

/// One problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem<'a> {
    /// "page", "index", "reference" and so on. "newer" is no damage: a later version has made it, and this
    /// one cannot check it.
    pub kind: &'a str,
    pub app: Option<&'a str>,
    pub user: Option<&'a str>,
    pub session: Option<&'a str>,
    /// The number of an event, or 0.
    pub seq: i64,
    pub message: &'a str,
}

/// The callbacks of a check.
struct Listener<R, P> {
    report: R,
    progress: P,
}

unsafe extern "C" fn checked_of<R, P: FnMut(i64, i64) -> bool>(
    context: *mut c_void,
    done: i64,
    total: i64,
) -> c_int {
    let go_on =
        unsafe { Callback::run(context, |listener: &mut Listener<R, P>| (listener.progress)(done, total)) };
    c_int::from(go_on != Some(true))
}

unsafe extern "C" fn problem_of<R: FnMut(Problem<'_>) -> bool, P>(
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
    let go_on = unsafe { Callback::run(context, |listener: &mut Listener<R, P>| (listener.report)(problem)) };
    c_int::from(go_on != Some(true))
}

impl Store {
    /// Copies the whole store, as of one moment, into a new file, while readers and writers go on. `replace`
    /// a store that is there; `compact`: without free pages.
    pub fn backup(&self, path: impl AsRef<Path>, replace: bool, compact: bool) -> Result<()> {
        self.backup_with(path, replace, compact, |_, _| true)
    }

    /// The same; `progress` is told how many pages of how many are copied, and ends the backup by returning
    /// false.
    pub fn backup_with<F: FnMut(i64, i64) -> bool>(
        &self,
        path: impl AsRef<Path>,
        replace: bool,
        compact: bool,
        progress: F,
    ) -> Result<()> {
        let path = path_of(path.as_ref())?;
        let mut progress = Callback::new(progress);
        let mut raw: sys::ses_backup_options = limited(&self.limits);
        if replace {
            raw.flags |= sys::SES_BACKUP_REPLACE;
        }
        if compact {
            raw.flags |= sys::SES_BACKUP_COMPACT;
        }
        raw.progress = Some(progress_of::<F>);
        raw.progress_context = progress.context();
        let done = done(|error| unsafe { sys::ses_store_backup(self.raw(), path.as_ptr(), &raw, error) });
        progress.end(done)
    }

    /// The same with another key, or without one: how a key is added, changed or removed.
    pub fn backup_with_key(
        &self,
        path: impl AsRef<Path>,
        replace: bool,
        compact: bool,
        key: Option<&[u8; sys::SES_KEY_BYTES as usize]>,
    ) -> Result<()> {
        let path = path_of(path.as_ref())?;
        let mut raw: sys::ses_backup_options = limited(&self.limits);
        for (is_set, flag) in [
            (replace, sys::SES_BACKUP_REPLACE),
            (compact, sys::SES_BACKUP_COMPACT),
            (key.is_none(), sys::SES_BACKUP_PLAIN),
        ] {
            raw.flags |= if is_set { flag } else { 0 };
        }
        if let Some(key) = key {
            raw.key = key.as_ptr().cast();
            raw.key_len = key.len();
        }
        done(|error| unsafe { sys::ses_store_backup(self.raw(), path.as_ptr(), &raw, error) })
    }

    /// Checks the store as of one moment and changes nothing. Returns the number of problems; `report` is
    /// given each, and ends the check by returning false. `limit` 0: ends after 100.
    pub fn check<R: FnMut(Problem<'_>) -> bool>(
        &self,
        level: CheckLevel,
        limit: i64,
        report: R,
    ) -> Result<i64> {
        self.check_with(level, limit, report, |_, _| true)
    }

    /// The same; with [`CheckLevel::Log`], `progress` is told about how many sessions of how many are
    /// checked, and ends the check with [`Code::Interrupted`](crate::Code::Interrupted) by returning false.
    pub fn check_with<R, P>(&self, level: CheckLevel, limit: i64, report: R, progress: P) -> Result<i64>
    where
        R: FnMut(Problem<'_>) -> bool,
        P: FnMut(i64, i64) -> bool,
    {
        let mut listener = Callback::new(Listener { report, progress });
        let mut raw: sys::ses_check_options = limited(&self.limits);
        raw.level = match level {
            CheckLevel::Quick => sys::SES_CHECK_QUICK,
            CheckLevel::Full => sys::SES_CHECK_FULL,
            CheckLevel::Log => sys::SES_CHECK_LOG,
        } as c_int;
        raw.limit = limit;
        raw.report = Some(problem_of::<R, P>);
        raw.progress = Some(checked_of::<R, P>);
        raw.report_context = listener.context();
        raw.progress_context = raw.report_context;
        let mut problems = 0;
        let done = done(|error| unsafe { sys::ses_store_check(self.raw(), &raw, &mut problems, error) });
        listener.end(done)?;
        Ok(problems)
    }
}
