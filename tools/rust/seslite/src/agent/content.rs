use std::marker::PhantomData;
use std::ptr::NonNull;

use seslite_sys as sys;

use super::text_of;
use crate::error::{opened, Result};
use crate::store::Store;

/// A function call or function response.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    pub(super) raw: &'a sys::ses_function,
    thread: PhantomData<*const ()>,
}

impl<'a> Function<'a> {
    pub(super) unsafe fn new(raw: *const sys::ses_function) -> Option<Function<'a>> {
        unsafe { raw.as_ref() }.map(|raw| Function { raw, thread: PhantomData })
    }
    pub fn id(&self) -> Option<&'a str> {
        unsafe { text_of(self.raw.id) }
    }
    pub fn name(&self) -> Option<&'a str> {
        unsafe { text_of(self.raw.name) }
    }
    /// The arguments of a call, or the response: a JSON object.
    pub fn json(&self) -> Option<&'a str> {
        unsafe { text_of(self.raw.json) }
    }
}

/// A part of a content.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    raw: &'a sys::ses_part,
    thread: PhantomData<*const ()>,
}

impl<'a> Part<'a> {
    pub fn json(&self) -> Option<&'a str> {
        unsafe { text_of(self.raw.json) }
    }
    pub fn text(&self) -> Option<&'a str> {
        unsafe { text_of(self.raw.text) }
    }
    pub fn is_thought(&self) -> bool {
        self.raw.thought != 0
    }
    pub fn call(&self) -> Option<Function<'a>> {
        unsafe { Function::new(self.raw.call) }
    }
    pub fn response(&self) -> Option<Function<'a>> {
        unsafe { Function::new(self.raw.response) }
    }
}

/// The content of an event. It borrows the event's text.
pub struct Content<'e> {
    raw: NonNull<sys::ses_content>,
    event: PhantomData<&'e str>,
}

unsafe impl Send for Content<'_> {}

impl<'e> Content<'e> {
    /// Reads the JSON of an event.
    pub fn read(store: &Store, event: &'e str) -> Result<Content<'e>> {
        let raw = opened(|content, error| unsafe {
            sys::ses_content_open(store.raw(), event.as_ptr().cast(), event.len(), content, error)
        })?;
        Ok(Content { raw, event: PhantomData })
    }

    fn raw(&self) -> *const sys::ses_content {
        self.raw.as_ptr()
    }

    /// The text of all parts that are not thoughts; `None` if no part has text.
    pub fn text(&self) -> Option<&str> {
        let mut len = 0;
        let text = unsafe { sys::ses_content_text(self.raw(), &mut len) };
        unsafe { text_of(sys::ses_text { text, len }) }
    }
    /// Role and parts, as they are in the event.
    pub fn json(&self) -> Option<&str> {
        unsafe { text_of(sys::ses_content_json(self.raw())) }
    }
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let count = unsafe { sys::ses_content_part_count(self.raw()) };
        (0..count).filter_map(|index| {
            let raw = unsafe { sys::ses_content_part(self.raw(), index).as_ref() }?;
            Some(Part { raw, thread: PhantomData })
        })
    }
    pub fn calls(&self) -> impl Iterator<Item = Function<'_>> {
        let count = unsafe { sys::ses_content_call_count(self.raw()) };
        (0..count).filter_map(|index| unsafe { Function::new(sys::ses_content_call(self.raw(), index)) })
    }
    pub fn responses(&self) -> impl Iterator<Item = Function<'_>> {
        let count = unsafe { sys::ses_content_response_count(self.raw()) };
        (0..count).filter_map(|index| unsafe { Function::new(sys::ses_content_response(self.raw(), index)) })
    }
    /// Whether the event is an agent's final response, as the ADK decides it.
    pub fn is_final(&self) -> bool {
        unsafe { sys::ses_content_is_final(self.raw()) != 0 }
    }
    pub fn actions(&self) -> Option<&str> {
        unsafe { text_of(sys::ses_content_actions(self.raw())) }
    }
    pub fn state_delta(&self) -> Option<&str> {
        unsafe { text_of(sys::ses_content_state_delta(self.raw())) }
    }
    pub fn error_code(&self) -> Option<&str> {
        unsafe { text_of(sys::ses_content_error_code(self.raw())) }
    }
    pub fn error_message(&self) -> Option<&str> {
        unsafe { text_of(sys::ses_content_error_message(self.raw())) }
    }
    /// The tokens that a model call used; -1: it does not say.
    pub fn usage(&self) -> Option<sys::ses_usage> {
        unsafe { sys::ses_content_usage(self.raw()).as_ref() }.copied()
    }
    /// Start and end, in microseconds since 1970, both included, and the summary.
    pub fn compaction(&self) -> Option<(i64, i64, &str)> {
        let compaction = unsafe { sys::ses_content_compaction(self.raw()).as_ref() }?;
        Some((compaction.start_us, compaction.end_us, unsafe { text_of(compaction.content) }?))
    }
}

impl Drop for Content<'_> {
    fn drop(&mut self) {
        unsafe { sys::ses_content_close(self.raw.as_ptr()) };
    }
}
