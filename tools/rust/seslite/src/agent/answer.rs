use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use seslite_sys as sys;

use super::nothing;
use crate::agent::content::Function;
use crate::callback::{panicked, Callback};
use crate::error::{call, Result};
use crate::event::Event;
use crate::key::Key;
use crate::limits::Limits;
use crate::raw::limited;
use crate::session::Session;
use crate::store::Store;
use crate::text::optional_bytes;

type Answer<'a> = dyn FnMut(Function<'_>, Event<'_>, bool) -> Result<Option<String>> + 'a;

/// Answers calls; the library takes the responses in memory of the store.
struct Answerer<'a> {
    store: *mut sys::ses_store,
    answer: Box<Answer<'a>>,
}

/// How to answer pending calls.
#[derive(Default)]
pub struct AnswerOptions<'a> {
    interrupts: bool,
    answerer: Option<Answerer<'a>>,
    responses: Vec<sys::ses_function>,
    lease: i64,
    texts: PhantomData<&'a str>,
}

fn text(text: Option<&str>) -> sys::ses_text {
    let (text, len) = optional_bytes(text);
    sys::ses_text { text, len }
}

impl<'a> AnswerOptions<'a> {
    /// Answers with what [`response`](AnswerOptions::response) and [`answer`](AnswerOptions::answer) give;
    /// without them, nothing.
    pub fn new() -> Self {
        Self::default()
    }
    /// Every call that is not long-running gets the response `{"error":"interrupted"}`.
    pub fn interrupted() -> Self {
        AnswerOptions { interrupts: true, ..Self::default() }
    }
    /// A response that the caller already has, a JSON object. It answers the pending calls of that id, or
    /// without an id those that have the name and no id.
    pub fn response(mut self, id: Option<&'a str>, name: Option<&'a str>, response: &'a str) -> Self {
        self.interrupts = false;
        self.responses.push(sys::ses_function { id: text(id), name: text(name), json: text(Some(response)) });
        self
    }
    /// Asked about each other call, with its event and whether it is long-running. It returns the response, a
    /// JSON object, or `None` to leave the call pending.
    pub fn answer(
        mut self,
        store: &'a Store,
        answer: impl FnMut(Function<'_>, Event<'_>, bool) -> Result<Option<String>> + 'a,
    ) -> Self {
        self.interrupts = false;
        self.answerer = Some(Answerer { store: store.raw(), answer: Box::new(answer) });
        self
    }
    /// The token of a lease.
    pub fn lease(mut self, token: i64) -> Self {
        self.lease = token;
        self
    }

    /// To the library, options that give no answers are those of [`interrupted`](AnswerOptions::interrupted).
    fn answers_nothing(&self) -> bool {
        !self.interrupts && self.answerer.is_none() && self.responses.is_empty()
    }

    fn answered(
        &mut self,
        limits: &Limits,
        answer: impl FnOnce(*const sys::ses_answer_options, *mut i64, *mut sys::ses_error) -> c_int,
    ) -> Result<i64> {
        let mut raw: sys::ses_answer_options = limited(limits);
        let mut answered = 0;
        raw.responses = self.responses.as_ptr();
        raw.response_count = self.responses.len();
        raw.lease = self.lease;
        let Some(answerer) = &mut self.answerer else {
            return call(|error| answer(&raw, &mut answered, error)).map(|_| answered);
        };
        let mut callback = Callback::new(answerer);
        raw.answer = Some(answer_of);
        raw.answer_context = callback.context();
        let result = call(|error| answer(&raw, &mut answered, error)).map(|_| answered);
        callback.end(result)
    }
}

unsafe extern "C" fn answer_of(
    context: *mut c_void,
    function: *const sys::ses_function,
    event: *const sys::ses_event,
    long_running: c_int,
    response: *mut *mut c_char,
    len: *mut usize,
    error: *mut sys::ses_error,
) -> c_int {
    // Neither is ever NULL.
    let (Some(function), Some(event)) = (unsafe { Function::new(function) }, unsafe { Event::new(event) })
    else {
        return sys::SES_MISUSE;
    };
    let ask = |answerer: &mut &mut Answerer<'_>| {
        (answerer.answer)(function, event, long_running != 0).map(|text| (answerer.store, text))
    };
    let (store, text) = match unsafe { Callback::run(context, ask) }.unwrap_or_else(|| Err(panicked())) {
        Ok((_, None)) => return sys::SES_ABSENT,
        Ok((store, Some(text))) => (store, text),
        Err(failure) => return failure.to_raw(error),
    };
    let made = unsafe { sys::ses_text_make(store, text.len()) };
    if made.is_null() {
        return nothing().to_raw(error);
    }
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast(), made, text.len());
        *response = made;
        *len = text.len();
    }
    0
}

impl Store {
    /// Answers the calls of a session that have no response, each once, and returns how many it answered.
    pub fn answer_pending(&self, key: Key<'_>, options: &mut AnswerOptions<'_>) -> Result<i64> {
        let key = key.to_c()?;
        if options.answers_nothing() {
            return Ok(0);
        }
        options.answered(&self.limits, |options, answered, error| unsafe {
            sys::ses_pending_answer_by_key(self.raw(), &key.raw(), options, answered, error)
        })
    }
}

impl Session {
    /// See [`Store::answer_pending`].
    pub fn answer_pending(&mut self, options: &mut AnswerOptions<'_>) -> Result<i64> {
        if options.answers_nothing() {
            return Ok(0);
        }
        let limits = self.limits.clone();
        options.answered(&limits, |options, answered, error| unsafe {
            sys::ses_pending_answer(self.raw(), options, answered, error)
        })
    }
}
