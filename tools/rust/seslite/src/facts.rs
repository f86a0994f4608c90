//! Facts about a store.

use seslite_sys as sys;

use crate::error::{call, static_text, Result};
use crate::raw::{limited, sized};
use crate::store::Store;
use crate::text::{name, take_required, Json};

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

/// The version of the library: "0.3.0".
pub fn version() -> &'static str {
    static_text(unsafe { sys::ses_version() })
}

impl Store {
    /// Gives at most `limit` free pages (0: 10,000) back to the file system. True: call again later.
    pub fn maintain(&self, limit: i64) -> Result<bool> {
        let mut options: sys::ses_maintain_options = limited(&self.limits);
        options.limit = limit;
        Ok(call(|error| unsafe { sys::ses_store_maintain(self.raw(), &options, error) })? == sys::SES_MORE)
    }
    /// How much of the file is in use.
    pub fn space(&self) -> Result<Space> {
        let (mut space, options) = (sized::<sys::ses_space>(), self.limits.call_options());
        call(|error| unsafe { sys::ses_store_space(self.raw(), &options, &mut space, error) })?;
        Ok(Space { bytes: space.bytes, free_bytes: space.free_bytes })
    }
    /// Facts about the store.
    pub fn info(&self) -> Result<Info<'_>> {
        let mut info: sys::ses_info = sized();
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
    /// Statistics since the store was opened; `seslite.h` documents each number.
    pub fn stats(&self) -> Result<sys::ses_stats> {
        let mut stats: sys::ses_stats = sized();
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
