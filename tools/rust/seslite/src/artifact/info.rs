use std::ffi::{c_int, CString};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use seslite_sys as sys;

use crate::error::{opened, Result};
use crate::limits::Limits;
use crate::raw::limited;
use crate::text::{borrowed, name, optional_name, pointer};

/// The kind of an artifact, as the parts of the ADK's contents have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArtifactKind {
    /// `inlineData`: any bytes.
    #[default]
    Bytes,
    /// `text`: UTF-8.
    Text,
    /// `fileData`: the bytes are the address of a file. One that begins with `artifact://` refers to a
    /// version of another artifact of the same session or user.
    Uri,
    /// A kind that a later version of seslite has added. Such an artifact is listed; opening it is
    /// [`Code::Unsupported`](crate::Code::Unsupported).
    Other(i32),
}

impl ArtifactKind {
    pub(crate) fn number(self) -> c_int {
        let number = match self {
            ArtifactKind::Bytes => sys::SES_ARTIFACT_BYTES,
            ArtifactKind::Text => sys::SES_ARTIFACT_TEXT,
            ArtifactKind::Uri => sys::SES_ARTIFACT_URI,
            ArtifactKind::Other(number) => return number,
        };
        number as c_int
    }
    fn from_number(number: c_int) -> ArtifactKind {
        match number as sys::ses_artifact_kind {
            sys::SES_ARTIFACT_BYTES => ArtifactKind::Bytes,
            sys::SES_ARTIFACT_TEXT => ArtifactKind::Text,
            sys::SES_ARTIFACT_URI => ArtifactKind::Uri,
            _ => ArtifactKind::Other(number),
        }
    }
}

/// One version of an artifact, borrowed from an open artifact or a list.
#[derive(Clone, Copy)]
pub struct ArtifactInfo<'a> {
    raw: &'a sys::ses_artifact_info,
    // Its texts belong to an object that one thread uses at a time.
    thread: PhantomData<*const ()>,
}

impl<'a> ArtifactInfo<'a> {
    pub(crate) unsafe fn new(raw: *const sys::ses_artifact_info) -> Option<ArtifactInfo<'a>> {
        unsafe { raw.as_ref() }.map(|raw| ArtifactInfo { raw, thread: PhantomData })
    }

    /// With its prefix `user:`, if it is the user's.
    pub fn name(&self) -> &'a str {
        unsafe { name(self.raw.name) }
    }
    /// 0, 1, 2 and so on.
    pub fn version(&self) -> i64 {
        self.raw.version
    }
    /// When it was saved, in microseconds since 1970.
    pub fn created_us(&self) -> i64 {
        self.raw.created_us
    }
    /// In bytes.
    pub fn size(&self) -> u64 {
        u64::try_from(self.raw.size).unwrap_or(0)
    }
    pub fn kind(&self) -> ArtifactKind {
        ArtifactKind::from_number(self.raw.kind)
    }
    pub fn mime_type(&self) -> Option<&'a str> {
        unsafe { optional_name(self.raw.mime_type) }
    }
    pub fn display_name(&self) -> Option<&'a str> {
        unsafe { optional_name(self.raw.display_name) }
    }
    /// A JSON object, byte for byte as it was given.
    pub fn metadata(&self) -> Result<Option<&'a str>> {
        if self.raw.metadata.is_null() {
            return Ok(None);
        }
        unsafe { borrowed(self.raw.metadata, self.raw.metadata_len) }.map(Some)
    }
    /// SHA-256 of the bytes, in hexadecimal.
    pub fn hash(&self) -> &'a str {
        unsafe { name(self.raw.hash) }
    }
    /// The address of this version, as the ADK forms it: `artifact://apps/...`.
    pub fn uri(&self) -> &'a str {
        unsafe { name(self.raw.uri) }
    }
}

impl fmt::Debug for ArtifactInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArtifactInfo")
            .field("name", &self.name())
            .field("version", &self.version())
            .field("size", &self.size())
            .field("kind", &self.kind())
            .field("mime_type", &self.mime_type())
            .finish_non_exhaustive()
    }
}

pub(crate) fn list_options(
    limits: &Limits,
    after: &Option<CString>,
    first_version: i64,
    limit: usize,
) -> sys::ses_artifact_list_options {
    let mut options: sys::ses_artifact_list_options = limited(limits);
    options.after = pointer(after);
    options.first_version = first_version;
    options.limit = limit;
    options
}

/// One page of artifacts or of versions.
pub struct ArtifactList {
    raw: NonNull<sys::ses_artifact_list>,
}

unsafe impl Send for ArtifactList {}

impl ArtifactList {
    pub(crate) fn open(
        open: impl FnOnce(*mut *mut sys::ses_artifact_list, *mut sys::ses_error) -> c_int,
    ) -> Result<ArtifactList> {
        Ok(ArtifactList { raw: opened(open)? })
    }

    pub fn len(&self) -> usize {
        unsafe { sys::ses_artifact_list_count(self.raw.as_ptr()) }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn get(&self, index: usize) -> Option<ArtifactInfo<'_>> {
        unsafe { ArtifactInfo::new(sys::ses_artifact_list_at(self.raw.as_ptr(), index)) }
    }
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = ArtifactInfo<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
    /// There are more after the page.
    pub fn more(&self) -> bool {
        unsafe { sys::ses_artifact_list_more(self.raw.as_ptr()) != 0 }
    }
}

impl Drop for ArtifactList {
    fn drop(&mut self) {
        unsafe { sys::ses_artifact_list_close(self.raw.as_ptr()) };
    }
}
