use std::ffi::CString;

use seslite_sys as sys;

use crate::error::Result;
use crate::text::{c_string, c_string_or_null, pointer};

/// Names one session. Ids are 1 to 512 bytes long, without a NUL. Every call rejects others with
/// [`Code::Invalid`](crate::Code::Invalid).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    pub app: &'a str,
    pub user: &'a str,
    /// `None` only when creating (the store makes an id), following (all sessions of the user), and for the
    /// user's artifacts.
    pub session: Option<&'a str>,
}

impl<'a> Key<'a> {
    pub fn new(app: &'a str, user: &'a str, session: &'a str) -> Key<'a> {
        Key { app, user, session: Some(session) }
    }

    /// A session whose id the store makes, all sessions of the user, or the user's own artifacts.
    pub fn user(app: &'a str, user: &'a str) -> Key<'a> {
        Key { app, user, session: None }
    }

    pub(crate) fn to_c(self) -> Result<CKey> {
        Ok(CKey {
            app: c_string("the app", self.app)?,
            user: c_string("the user", self.user)?,
            session: c_string_or_null("the session id", self.session)?,
        })
    }
}

pub(crate) struct CKey {
    app: CString,
    user: CString,
    session: Option<CString>,
}

impl CKey {
    pub(crate) fn raw(&self) -> sys::ses_key {
        sys::ses_key { app: self.app.as_ptr(), user: self.user.as_ptr(), session: pointer(&self.session) }
    }
}
