//! JSON lines: what goes out and in.

use std::ffi::{c_char, c_int, c_void};
use std::io::{Read, Write};

use seslite_sys as sys;

use crate::callback::{panicked, read_of, Callback, Source};
use crate::error::{done, Error, Result};
use crate::load::{Conflict, Outcome};
use crate::raw::{limited, sized};
use crate::store::Store;
use crate::text::{c_string_or_null, name, optional_name, pointer};

/// Selects the data to export.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExportOptions<'a> {
    pub app: Option<&'a str>,
    pub user: Option<&'a str>,
    pub session: Option<&'a str>,
    /// Without shared state.
    pub only_sessions: bool,
    /// Only for [`Store::export_telling`]: leave out what is damaged, and go on.
    pub skip: bool,
}

/// The callbacks of an export.
struct Sink<W, F, L> {
    out: W,
    progress: F,
    left_out: Option<L>,
}

unsafe extern "C" fn progress_of<W, F: FnMut(i64, i64) -> bool, L>(
    context: *mut c_void,
    sessions: i64,
    events: i64,
) -> c_int {
    let go_on =
        unsafe { Callback::run(context, |sink: &mut Sink<W, F, L>| (sink.progress)(sessions, events)) };
    c_int::from(go_on != Some(true))
}

unsafe extern "C" fn left_out_of<W, F, L: FnMut(&Error) -> bool>(
    context: *mut c_void,
    why: *const sys::ses_error,
) -> c_int {
    let why = unsafe { Error::from_raw((*why).code, &*why) };
    let tell = |sink: &mut Sink<W, F, L>| sink.left_out.as_mut().is_none_or(|left_out| left_out(&why));
    c_int::from(unsafe { Callback::run(context, tell) } != Some(true))
}

unsafe extern "C" fn write_of<W: Write, F, L>(
    context: *mut c_void,
    data: *const c_char,
    len: usize,
    error: *mut sys::ses_error,
) -> c_int {
    let bytes = unsafe { crate::text::bytes(data, len) };
    let write = |sink: &mut Sink<W, F, L>| sink.out.write_all(bytes).map_err(Error::from);
    match unsafe { Callback::run(context, write) }.unwrap_or_else(|| Err(panicked())) {
        Ok(()) => 0,
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
    /// Shared keys and artifacts of users that have another value here get that of the file.
    pub replace_keys: bool,
    /// Put everything into this app.
    pub app: Option<&'a str>,
    /// Put all that belongs to a user to this one.
    pub user: Option<&'a str>,
}

/// The outcome for a session, or for a shared key or an artifact of a user that has another value here.
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
    /// An artifact of the user, or of a session that does not exist.
    pub artifact: Option<&'a str>,
}

unsafe extern "C" fn report_of<R, F: FnMut(&ImportItem<'_>) -> bool>(
    context: *mut c_void,
    item: *const sys::ses_import_item,
) -> c_int {
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
            artifact: optional_name(item.artifact),
        }
    };
    let go_on = unsafe { Callback::run(context, |source: &mut Source<R, F>| (source.report)(&item)) };
    c_int::from(go_on != Some(true))
}

impl Store {
    /// Writes a store, an app, a user or a session as JSON lines, of one moment, in constant memory.
    pub fn export<W: Write>(&self, options: &ExportOptions<'_>, out: W) -> Result<()> {
        self.export_with(options, out, |_, _| true)
    }

    /// The same; `progress` is told how many sessions and events were written, after each session and every
    /// 1,000 events. It ends the export by returning false.
    pub fn export_with<W: Write, F: FnMut(i64, i64) -> bool>(
        &self,
        options: &ExportOptions<'_>,
        out: W,
        progress: F,
    ) -> Result<()> {
        self.export_to(options, Sink { out, progress, left_out: None::<fn(&Error) -> bool> })
    }

    /// The same; `left_out` is told of each version of an artifact that the lines leave out, since a later
    /// version of seslite has made it ([`Code::Unsupported`](crate::Code::Unsupported)), and with
    /// [`ExportOptions::skip`] of what is damaged ([`Code::Corrupt`](crate::Code::Corrupt)). It ends the
    /// export by returning false.
    pub fn export_telling<W, F, L>(
        &self,
        options: &ExportOptions<'_>,
        out: W,
        progress: F,
        left_out: L,
    ) -> Result<()>
    where
        W: Write,
        F: FnMut(i64, i64) -> bool,
        L: FnMut(&Error) -> bool,
    {
        self.export_to(options, Sink { out, progress, left_out: Some(left_out) })
    }

    fn export_to<W, F, L>(&self, options: &ExportOptions<'_>, sink: Sink<W, F, L>) -> Result<()>
    where
        W: Write,
        F: FnMut(i64, i64) -> bool,
        L: FnMut(&Error) -> bool,
    {
        let app = c_string_or_null("the app", options.app)?;
        let user = c_string_or_null("the user", options.user)?;
        let session = c_string_or_null("the session id", options.session)?;
        let mut raw: sys::ses_export_options = limited(&self.limits);
        for (set, flag) in
            [(options.only_sessions, sys::SES_EXPORT_ONLY_SESSIONS), (options.skip, sys::SES_EXPORT_SKIP)]
        {
            if set {
                raw.flags |= flag;
            }
        }
        raw.app = pointer(&app);
        raw.user = pointer(&user);
        raw.session = pointer(&session);
        let tells = sink.left_out.is_some();
        let mut sink = Callback::new(sink);
        let context = sink.context();
        raw.progress = Some(progress_of::<W, F, L>);
        raw.progress_context = context;
        if tells {
            raw.left_out = Some(left_out_of::<W, F, L>);
            raw.left_out_context = context;
        }
        let done = done(|error| unsafe {
            sys::ses_store_export(self.raw(), &raw, Some(write_of::<W, F, L>), context, error)
        });
        sink.end(done)
    }

    /// Reads JSON lines. `report` is called for each session, and for each shared key that has another value
    /// here. It ends the import by returning false. The counts tell, with a failure, too, what was done.
    pub fn import<R: Read, F: FnMut(&ImportItem<'_>) -> bool>(
        &self,
        options: &ImportOptions<'_>,
        from: R,
        report: F,
    ) -> (sys::ses_import_report, Result<()>) {
        let mut counts: sys::ses_import_report = sized();
        let result = self.import_into(options, from, report, &mut counts);
        (counts, result)
    }

    fn import_into<R: Read, F: FnMut(&ImportItem<'_>) -> bool>(
        &self,
        options: &ImportOptions<'_>,
        from: R,
        report: F,
        counts: &mut sys::ses_import_report,
    ) -> Result<()> {
        let app = c_string_or_null("the app", options.app)?;
        let user = c_string_or_null("the user", options.user)?;
        let mut raw: sys::ses_import_options = limited(&self.limits);
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
        let mut source = Callback::new(Source { from, report });
        let context = source.context();
        raw.report = Some(report_of::<R, F>);
        raw.report_context = context;
        let done = done(|error| unsafe {
            sys::ses_store_import(self.raw(), Some(read_of::<R, F>), context, &raw, counts, error)
        });
        source.end(done)
    }
}
