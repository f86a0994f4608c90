//! Texts over the border: C strings in, borrowed and owned texts out.

use std::ffi::{c_char, CStr, CString};
use std::ops::Deref;
use std::ptr;

use seslite_sys as sys;

use crate::error::{Code, Error, Result};

/// A C string of an id or a name. C would see only the part in front of a NUL, so a NUL is an error.
pub(crate) fn c_string(what: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|error| {
        Error::new(
            Code::Invalid,
            format!("{what} contains a NUL at byte {}; use a text without one", error.nul_position()),
        )
    })
}

pub(crate) fn c_string_or_null(what: &str, text: Option<&str>) -> Result<Option<CString>> {
    text.map(|text| c_string(what, text)).transpose()
}

pub(crate) fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

pub(crate) fn optional_bytes(text: Option<&str>) -> (*const c_char, usize) {
    text.map_or((ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// Text of `len` bytes that the library lends. What it lends as text has been checked to be UTF-8, except
/// what another program has put into the file.
pub(crate) unsafe fn borrowed<'a>(text: *const c_char, len: usize) -> Result<&'a str> {
    std::str::from_utf8(unsafe { bytes(text, len) }).map_err(|error| {
        Error::new(Code::Corrupt, format!("another program stored a text that is not UTF-8: {error}"))
    })
}

pub(crate) unsafe fn bytes<'a>(text: *const c_char, len: usize) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(text.cast(), len) }
}

/// A name that the library has checked when it read it: an id, an author, a label.
pub(crate) unsafe fn name<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("\u{fffd}")
}

pub(crate) unsafe fn optional_name<'a>(text: *const c_char) -> Option<&'a str> {
    (!text.is_null()).then(|| unsafe { name(text) })
}

/// A text of JSON in the library's memory, without a copy. It frees itself, and reads as a `str`.
pub struct Json {
    text: *mut c_char,
    len: usize,
}

// It is memory and nothing else; ses_free may be called on any thread, also after the store was closed.
unsafe impl Send for Json {}
unsafe impl Sync for Json {}

impl Json {
    /// Takes over a text that a call returned.
    pub(crate) fn take(text: *mut c_char, len: usize) -> Result<Json> {
        let json = Json { text, len };
        unsafe { borrowed(json.text, json.len) }?;
        Ok(json)
    }

    pub(crate) fn take_optional(text: *mut c_char, len: usize) -> Result<Option<Json>> {
        if text.is_null() {
            return Ok(None);
        }
        Json::take(text, len).map(Some)
    }

    pub fn as_str(&self) -> &str {
        // `take` has checked it.
        unsafe { std::str::from_utf8_unchecked(bytes(self.text, self.len)) }
    }
}

impl Drop for Json {
    fn drop(&mut self) {
        unsafe { sys::ses_free(self.text) };
    }
}

impl Deref for Json {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Json {
    fn as_ref(&self) -> &str {
        self
    }
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
}

impl From<Json> for String {
    fn from(json: Json) -> String {
        json.to_string()
    }
}

/// The longest beginning of a text that has at most `limit` bytes and whole characters: for a title, say.
pub fn text_cut(text: &str, limit: usize) -> &str {
    let len = unsafe { sys::ses_text_cut(text.as_ptr().cast(), text.len(), limit, ptr::null_mut()) };
    text.get(..len).unwrap_or_default()
}

/// A call that gives a text that the caller frees.
pub(crate) fn take_text(
    function: impl FnOnce(*mut *mut c_char, *mut usize, *mut sys::ses_error) -> std::ffi::c_int,
) -> Result<Option<Json>> {
    let mut text = ptr::null_mut();
    let mut len = 0;
    crate::error::call(|error| function(&mut text, &mut len, error))?;
    Json::take_optional(text, len)
}

pub(crate) fn take_required(
    function: impl FnOnce(*mut *mut c_char, *mut usize, *mut sys::ses_error) -> std::ffi::c_int,
) -> Result<Json> {
    take_text(function)?
        .ok_or_else(|| Error::new(Code::Internal, "the library returned no text; please report this"))
}
