use std::ffi::{c_char, c_int};
use std::ptr;

use seslite_sys as sys;

use crate::error::{call, Result};
use crate::session::SessionView;
use crate::text::{borrowed, c_string, name};

/// The merged state of a handle. Keys carry their prefix; a key that is missing is `None`.
#[derive(Clone, Copy)]
pub struct State<'a> {
    session: &'a SessionView,
}

pub(crate) type TextGetter = unsafe extern "C" fn(
    *const sys::ses_session,
    *const c_char,
    *mut *const c_char,
    *mut usize,
    *mut sys::ses_error,
) -> c_int;

impl<'a> State<'a> {
    pub(crate) fn new(session: &'a SessionView) -> State<'a> {
        State { session }
    }

    /// The whole state as one JSON object.
    pub fn json(&self) -> Result<&'a str> {
        let (mut json, mut len) = (ptr::null(), 0);
        call(|error| unsafe { sys::ses_state_json(self.session.raw(), &mut json, &mut len, error) })?;
        unsafe { borrowed(json, len) }
    }

    fn text(&self, key: &str, get: TextGetter) -> Result<Option<&'a str>> {
        let key = c_string("the state key", key)?;
        let (mut text, mut len) = (ptr::null(), 0);
        let code =
            call(|error| unsafe { get(self.session.raw(), key.as_ptr(), &mut text, &mut len, error) })?;
        if code == sys::SES_ABSENT {
            return Ok(None);
        }
        unsafe { borrowed(text, len) }.map(Some)
    }

    /// The value as JSON text, with the bytes that were written.
    pub fn get(&self, key: &str) -> Result<Option<&'a str>> {
        self.text(key, sys::ses_state_get)
    }
    /// The value of a JSON string, decoded.
    pub fn string(&self, key: &str) -> Result<Option<&'a str>> {
        self.text(key, sys::ses_state_get_string)
    }
    /// The exact value of a number that is an integer.
    pub fn int(&self, key: &str) -> Result<Option<i64>> {
        let key = c_string("the state key", key)?;
        let mut value = 0;
        let code = call(|error| unsafe {
            sys::ses_state_get_int64(self.session.raw(), key.as_ptr(), &mut value, error)
        })?;
        Ok((code != sys::SES_ABSENT).then_some(value))
    }
    /// The nearest double.
    pub fn float(&self, key: &str) -> Result<Option<f64>> {
        let key = c_string("the state key", key)?;
        let mut value = 0.0;
        let code = call(|error| unsafe {
            sys::ses_state_get_double(self.session.raw(), key.as_ptr(), &mut value, error)
        })?;
        Ok((code != sys::SES_ABSENT).then_some(value))
    }
    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        let key = c_string("the state key", key)?;
        let mut value = 0;
        let code = call(|error| unsafe {
            sys::ses_state_get_bool(self.session.raw(), key.as_ptr(), &mut value, error)
        })?;
        Ok((code != sys::SES_ABSENT).then_some(value != 0))
    }
    /// The value as serde_json sees it. For the exact bytes, see [`get`](State::get).
    #[cfg(feature = "serde_json")]
    pub fn value(&self, key: &str) -> Result<Option<serde_json::Value>> {
        let parse = |json: &str| {
            serde_json::from_str(json).map_err(|error| {
                crate::Error::new(
                    crate::Code::Range,
                    format!("the value of {key} is beyond serde_json: {error}"),
                )
            })
        };
        self.get(key)?.map(parse).transpose()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        unsafe { sys::ses_state_count(self.session.raw()) }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Keys and values as JSON text: app, user, session, then temp, each sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = Result<(&'a str, &'a str)>> + 'a {
        let session = self.session;
        (0..self.len()).map(move |index| {
            let (mut key, mut json, mut len) = (ptr::null(), ptr::null(), 0);
            call(|error| unsafe {
                sys::ses_state_at(session.raw(), index, &mut key, &mut json, &mut len, error)
            })?;
            Ok(unsafe { (name(key), borrowed(json, len)?) })
        })
    }
}
