use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

use seslite_sys as sys;

use super::text_of;
use crate::agent::content::Function;
use crate::callback::{panicked, Callback};
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

/// How to read a context. With [`max_bytes`](ContextOptions::max_bytes),
/// [`max_tokens`](ContextOptions::max_tokens) or [`max_turns`](ContextOptions::max_turns) it holds whole turns,
/// from the newest back to the one that no longer fits. The newest turn and all summaries stay, and calls and
/// their responses stay together.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextOptions {
    visible: bool,
    log_order: bool,
    first_turn: bool,
    inline_bytes: i64,
    max_bytes: i64,
    max_tokens: i64,
    max_turns: i64,
}

/// What the budget of a context left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Those that the context would otherwise hold.
    pub events: i64,
    /// Those with such events.
    pub turns: i64,
    /// What always stays is larger than the budget.
    pub over_budget: bool,
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

    /// Keeps the first turn, too, whatever the budget.
    pub fn first_turn(mut self) -> Self {
        self.first_turn = true;
        self
    }
    /// The most bytes that the contents have together; 0: no limit.
    pub fn max_bytes(mut self, bytes: i64) -> Self {
        self.max_bytes = bytes;
        self
    }
    /// The most tokens that the contents have together; 0: no limit. Four bytes are a token, unless
    /// [`Store::context_counted`] counts them.
    pub fn max_tokens(mut self, tokens: i64) -> Self {
        self.max_tokens = tokens;
        self
    }
    /// The most turns, besides a first turn that is kept; 0: no limit.
    pub fn max_turns(mut self, turns: i64) -> Self {
        self.max_turns = turns;
        self
    }

    fn raw(&self, limits: &Limits) -> sys::ses_context_options {
        let mut options: sys::ses_context_options = limited(limits);
        options.flags = if self.visible { sys::SES_CONTEXT_VISIBLE } else { 0 };
        if self.log_order {
            options.flags |= sys::SES_CONTEXT_LOG_ORDER;
        }
        if self.first_turn {
            options.flags |= sys::SES_CONTEXT_FIRST_TURN;
        }
        options.inline_bytes = self.inline_bytes;
        options.max_bytes = self.max_bytes;
        options.max_tokens = self.max_tokens;
        options.max_turns = self.max_turns;
        options
    }
}

/// Opens a context with a closure that counts tokens.
fn counted<F: FnMut(Event<'_>, &str) -> Result<i64>>(
    mut options: sys::ses_context_options,
    count: F,
    open: impl FnOnce(&sys::ses_context_options) -> Result<Context>,
) -> Result<Context> {
    let mut callback = Callback::new(count);
    options.count = Some(count_of::<F>);
    options.count_context = callback.context();
    let result = open(&options);
    callback.end(result)
}

unsafe extern "C" fn count_of<F: FnMut(Event<'_>, &str) -> Result<i64>>(
    context: *mut c_void,
    event: *const sys::ses_event,
    content: *const c_char,
    len: usize,
    tokens: *mut i64,
    error: *mut sys::ses_error,
) -> c_int {
    let content = unsafe { text_of(sys::ses_text { text: content, len }) };
    // Neither is ever NULL.
    let (Some(event), Some(content)) = (unsafe { Event::new(event) }, content) else {
        return sys::SES_MISUSE;
    };
    let ask = |count: &mut F| count(event, content);
    match unsafe { Callback::run(context, ask) }.unwrap_or_else(|| Err(panicked())) {
        Ok(counted) => {
            unsafe { *tokens = counted };
            0
        }
        Err(failure) => failure.to_raw(error),
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
    pub fn left_out(&self) -> LeftOut {
        let left = unsafe { &*sys::ses_context_left_out(self.raw.as_ptr()) };
        LeftOut { events: left.events, turns: left.turns, over_budget: left.over_budget != 0 }
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
        self.open_context(key, &options.raw(&self.limits))
    }
    /// Like [`Store::context_with`]; the closure counts the tokens of the content of an event.
    pub fn context_counted(
        &self,
        key: Key<'_>,
        options: &ContextOptions,
        count: impl FnMut(Event<'_>, &str) -> Result<i64>,
    ) -> Result<Context> {
        counted(options.raw(&self.limits), count, |options| self.open_context(key, options))
    }
    fn open_context(&self, key: Key<'_>, options: &sys::ses_context_options) -> Result<Context> {
        let key = key.to_c()?;
        let raw = opened(|context, error| unsafe {
            sys::ses_context_open_by_key(self.raw(), &key.raw(), options, context, error)
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
        self.open_context(&options)
    }
    /// See [`Store::context_counted`].
    pub fn context_counted(
        &mut self,
        options: &ContextOptions,
        count: impl FnMut(Event<'_>, &str) -> Result<i64>,
    ) -> Result<Context> {
        counted(options.raw(&self.limits), count, |options| self.open_context(options))
    }
    fn open_context(&mut self, options: &sys::ses_context_options) -> Result<Context> {
        let raw =
            opened(|context, error| unsafe { sys::ses_context_open(self.raw(), options, context, error) })?;
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
