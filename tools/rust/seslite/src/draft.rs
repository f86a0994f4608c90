use seslite_sys as sys;

use crate::error::{call, done, Result};
use crate::key::Key;
use crate::limits::Limits;
use crate::raw::limited;
use crate::store::Store;
use crate::text::take_text;

/// The draft of a session: a text beside the log that is replaced in place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Draft {
    pub body: String,
    /// When it was set, by the store's clock.
    pub updated_us: i64,
}

fn draft_options(limits: &Limits, lease: Option<i64>) -> sys::ses_draft_options {
    let mut options: sys::ses_draft_options = limited(limits);
    options.lease = lease.unwrap_or(0);
    options
}

impl Store {
    /// Sets the draft of a session in place of the one that it has, such as a message that a model is writing.
    /// With the token of a lease it is [`Code::Leased`](crate::Code::Leased) once another owner has taken it.
    /// An append takes the draft away: [`AppendOptions::takes_draft`](crate::AppendOptions::takes_draft).
    pub fn set_draft(&self, key: Key<'_>, body: &str, lease: Option<i64>) -> Result<()> {
        let (key, options) = (key.to_c()?, draft_options(&self.limits, lease));
        done(|error| unsafe {
            sys::ses_draft_set(self.raw(), &key.raw(), body.as_ptr().cast(), body.len(), &options, error)
        })
    }
    /// The draft of a session.
    pub fn draft(&self, key: Key<'_>) -> Result<Option<Draft>> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        let mut updated_us = 0;
        let body = take_text(|body, len, error| unsafe {
            sys::ses_draft_get(self.raw(), &key.raw(), &options, body, len, &mut updated_us, error)
        })?;
        Ok(body.map(|body| Draft { body: body.to_string(), updated_us }))
    }
    /// Removes the draft of a session. False: it had none.
    pub fn clear_draft(&self, key: Key<'_>, lease: Option<i64>) -> Result<bool> {
        let (key, options) = (key.to_c()?, draft_options(&self.limits, lease));
        let code = call(|error| unsafe { sys::ses_draft_clear(self.raw(), &key.raw(), &options, error) })?;
        Ok(code != sys::SES_UNCHANGED)
    }
}
