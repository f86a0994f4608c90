use std::ffi::CString;
use std::ptr;

use seslite_sys as sys;

use crate::error::Result;
use crate::text::{c_string, c_string_or_null, pointer};

/// Labels as the library takes them.
pub(crate) struct CLabels {
    _texts: Vec<(CString, Option<CString>)>,
    raw: Vec<sys::ses_label>,
}

impl CLabels {
    pub(crate) fn new(labels: &[(&str, Option<&str>)]) -> Result<CLabels> {
        let texts = labels
            .iter()
            .map(|(name, value)| {
                Ok((c_string("the label", name)?, c_string_or_null("the label's value", *value)?))
            })
            .collect::<Result<Vec<_>>>()?;
        // Moving a CString does not move its bytes.
        let raw = texts
            .iter()
            .map(|(name, value)| sys::ses_label { name: name.as_ptr(), value: pointer(value) })
            .collect();
        Ok(CLabels { _texts: texts, raw })
    }
    pub(crate) fn as_ptr(&self) -> *const sys::ses_label {
        if self.raw.is_empty() {
            return ptr::null();
        }
        self.raw.as_ptr()
    }
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }
}
