use std::ptr::NonNull;

use seslite_sys as sys;

use super::text_of;
use crate::agent::content::Function;
use crate::error::{opened, Result};
use crate::event::Event;
use crate::key::Key;
use crate::limits::Limits;
use crate::raw::limited;
use crate::session::Session;
use crate::store::Store;
use crate::text::{c_string, take_text, Json};

/// The part of a session's log that a model should be sent, in the order in which to send it.
pub struct Context {
    raw: NonNull<sys::ses_context>,
}

unsafe impl Send for Context {}

/// How to read a context.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextOptions {
    visible: bool,
    log_order: bool,
    inline_bytes: i64,
}

impl ContextOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// Leaves out events that a model does not see.
    pub fn visible(mut self) -> Self {
        self.visible = true;
        self
    }
    /// Keeps the order of the log when there is a compaction, too, so that a clock that went back puts no
    /// response before its call. Otherwise everything is sorted by time then.
    pub fn log_order(mut self) -> Self {
        self.log_order = true;
        self
    }
    /// Puts up to so many bytes of artifacts back into the contents, those of the newest events first: this
    /// undoes [`Artifacts::offload`](crate::Artifacts::offload). An artifact with more bytes than are left
    /// stays a reference.
    pub fn inline_bytes(mut self, bytes: i64) -> Self {
        self.inline_bytes = bytes;
        self
    }

    fn raw(&self, limits: &Limits) -> sys::ses_context_options {
        let mut options: sys::ses_context_options = limited(limits);
        options.flags = if self.visible { sys::SES_CONTEXT_VISIBLE } else { 0 };
        if self.log_order {
            options.flags |= sys::SES_CONTEXT_LOG_ORDER;
        }
        options.inline_bytes = self.inline_bytes;
        options
    }
}

impl Context {
    pub fn len(&self) -> usize {
        unsafe { sys::ses_context_count(self.raw.as_ptr()) }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The stored events, of a summary the compaction event, each with the content that is to be sent.
    pub fn iter(&self) -> impl Iterator<Item = (Event<'_>, Option<&str>)> {
        (0..self.len()).filter_map(|index| unsafe {
            let event = Event::new(sys::ses_context_event(self.raw.as_ptr(), index))?;
            Some((event, text_of(sys::ses_context_content(self.raw.as_ptr(), index))))
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { sys::ses_context_close(self.raw.as_ptr()) };
    }
}

/// The function calls of a session's live events without a later response.
pub struct Pending {
    raw: NonNull<sys::ses_pending>,
}

unsafe impl Send for Pending {}

impl Pending {
    pub fn len(&self) -> usize {
        unsafe { sys::ses_pending_count(self.raw.as_ptr()) }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Each call, its event, and whether it is long-running.
    pub fn iter(&self) -> impl Iterator<Item = (Function<'_>, Event<'_>, bool)> {
        (0..self.len()).filter_map(|index| unsafe {
            let call = Function::new(sys::ses_pending_call(self.raw.as_ptr(), index))?;
            let event = Event::new(sys::ses_pending_event(self.raw.as_ptr(), index))?;
            Some((call, event, sys::ses_pending_is_long_running(self.raw.as_ptr(), index) != 0))
        })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        unsafe { sys::ses_pending_close(self.raw.as_ptr()) };
    }
}

impl Store {
    /// The part of a session to send to a model. `visible` leaves out events that a model does not see.
    pub fn context(&self, key: Key<'_>, visible: bool) -> Result<Context> {
        self.context_with(key, &ContextOptions { visible, ..Default::default() })
    }
    pub fn context_with(&self, key: Key<'_>, options: &ContextOptions) -> Result<Context> {
        let (key, options) = (key.to_c()?, options.raw(&self.limits));
        let raw = opened(|context, error| unsafe {
            sys::ses_context_open_by_key(self.raw(), &key.raw(), &options, context, error)
        })?;
        Ok(Context { raw })
    }
    /// The calls of a session without a response.
    pub fn pending(&self, key: Key<'_>) -> Result<Pending> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        let raw = opened(|pending, error| unsafe {
            sys::ses_pending_open_by_key(self.raw(), &key.raw(), &options, pending, error)
        })?;
        Ok(Pending { raw })
    }
    /// The delta that saves an agent's final text under a state key; `None`: there is nothing to save.
    pub fn output_delta(&self, event: &str, agent: &str, state_key: &str) -> Result<Option<Json>> {
        let (agent, state_key) = (c_string("the agent", agent)?, c_string("the state key", state_key)?);
        take_text(|delta, len, error| unsafe {
            let (text, agent, state_key) = (event.as_ptr().cast(), agent.as_ptr(), state_key.as_ptr());
            sys::ses_output_delta(self.raw(), text, event.len(), agent, state_key, delta, len, error)
        })
    }
}

impl Session {
    /// See [`Store::context`].
    pub fn context(&mut self, visible: bool) -> Result<Context> {
        self.context_with(&ContextOptions { visible, ..Default::default() })
    }
    pub fn context_with(&mut self, options: &ContextOptions) -> Result<Context> {
        let options = options.raw(&self.limits);
        let raw =
            opened(|context, error| unsafe { sys::ses_context_open(self.raw(), &options, context, error) })?;
        Ok(Context { raw })
    }
    /// See [`Store::pending`].
    pub fn pending(&mut self) -> Result<Pending> {
        let options = self.limits.call_options();
        let raw =
            opened(|pending, error| unsafe { sys::ses_pending_open(self.raw(), &options, pending, error) })?;
        Ok(Pending { raw })
    }
}
