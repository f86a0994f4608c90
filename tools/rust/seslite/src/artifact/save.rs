use std::ffi::{c_int, c_void, CString};
use std::io::Read;
use std::ptr;

use seslite_sys as sys;

use crate::artifact::ArtifactKind;
use crate::callback::{read_of, Callback, Source};
use crate::error::{done, Result};
use crate::limits::Limits;
use crate::raw::limited;
use crate::text::{c_string_or_null, optional_bytes, pointer};

/// How to save an artifact. [`ArtifactSaveOptions::new`] is any bytes, and nothing said about them.
#[derive(Debug, Clone, Copy, Default)]
pub struct ArtifactSaveOptions<'a> {
    anyway: bool,
    kind: ArtifactKind,
    mime_type: Option<&'a str>,
    display_name: Option<&'a str>,
    metadata: Option<&'a str>,
    created_us: Option<i64>,
    max_bytes: i64,
}

impl<'a> ArtifactSaveOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// The session need not exist. If it is created later, it has the artifact.
    pub fn anyway(mut self) -> Self {
        self.anyway = true;
        self
    }
    pub fn kind(mut self, kind: ArtifactKind) -> Self {
        self.kind = kind;
        self
    }
    pub fn mime_type(mut self, mime_type: &'a str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }
    pub fn display_name(mut self, name: &'a str) -> Self {
        self.display_name = Some(name);
        self
    }
    /// Kept with the version: a JSON object.
    pub fn metadata(mut self, json: &'a str) -> Self {
        self.metadata = Some(json);
        self
    }
    /// The time of the version, for imports. Otherwise it is that of the store's clock.
    pub fn created_us(mut self, time_us: i64) -> Self {
        self.created_us = Some(time_us);
        self
    }
    /// More bytes are [`Code::Limit`](crate::Code::Limit): at most 64 GiB; 64 MiB if it is not set.
    pub fn max_bytes(mut self, bytes: i64) -> Self {
        self.max_bytes = bytes;
        self
    }

    pub(crate) fn to_c(self, limits: &Limits) -> Result<CSaveOptions> {
        let mut options = CSaveOptions {
            raw: limited(limits),
            mime_type: c_string_or_null("the MIME type", self.mime_type)?,
            display_name: c_string_or_null("the display name", self.display_name)?,
            created_us: self.created_us.map(Box::new),
        };
        let raw = &mut options.raw;
        raw.flags = if self.anyway { sys::SES_ARTIFACT_WITHOUT_SESSION } else { 0 };
        raw.kind = self.kind.number();
        // Moving a CString or a Box does not move what it holds.
        raw.mime_type = pointer(&options.mime_type);
        raw.display_name = pointer(&options.display_name);
        raw.created_us = options.created_us.as_deref().map_or(ptr::null(), ptr::from_ref);
        (raw.metadata, raw.metadata_len) = optional_bytes(self.metadata);
        raw.max_bytes = self.max_bytes;
        Ok(options)
    }
}

/// The same as the library takes it, and its texts.
pub(crate) struct CSaveOptions {
    raw: sys::ses_artifact_save_options,
    mime_type: Option<CString>,
    display_name: Option<CString>,
    created_us: Option<Box<i64>>,
}

/// SES_NUL: a reader gives any number of bytes.
const ANY_NUMBER: usize = usize::MAX;

impl CSaveOptions {
    pub(crate) fn as_ptr(&self) -> *const sys::ses_artifact_save_options {
        &self.raw
    }

    /// A call that saves what a reader gives. The options in the library's keeping lose the reader with the
    /// call.
    pub(crate) fn reading<R: Read, T>(
        &self,
        from: R,
        save: impl FnOnce(*const c_void, usize, *const sys::ses_artifact_save_options) -> Result<T>,
    ) -> Result<T> {
        let mut source = Callback::new(Source { from, report: () });
        let mut raw = self.raw;
        raw.read = Some(read_of::<R, ()>);
        raw.read_context = source.context();
        let result = save(ptr::null(), ANY_NUMBER, &raw);
        source.end(result)
    }
}

/// A call that gives a version.
pub(crate) fn version_of(save: impl FnOnce(*mut i64, *mut sys::ses_error) -> c_int) -> Result<i64> {
    let mut version = 0;
    done(|error| save(&mut version, error))?;
    Ok(version)
}
