use std::ffi::{c_char, c_int};
use std::ptr::NonNull;

use seslite_sys as sys;

use super::nothing;
use crate::agent::content::Function;
use crate::append::{AppendOptions, Appended};
use crate::error::{call, opened, Result};
use crate::key::Key;
use crate::session::Session;
use crate::store::Store;
use crate::text::{borrowed, c_string, c_string_or_null, pointer};

/// Makes the JSON of one event as the ADK writes it.
pub struct Builder {
    raw: NonNull<sys::ses_builder>,
}

unsafe impl Send for Builder {}

type TextSetter =
    unsafe extern "C" fn(*mut sys::ses_builder, *const c_char, usize, *mut sys::ses_error) -> c_int;
type FieldSetter = unsafe extern "C" fn(
    *mut sys::ses_builder,
    *const c_char,
    *const c_char,
    usize,
    *mut sys::ses_error,
) -> c_int;
type FunctionSetter = unsafe extern "C" fn(
    *mut sys::ses_builder,
    *const c_char,
    *const c_char,
    *const c_char,
    usize,
    *mut sys::ses_error,
) -> c_int;

impl Builder {
    /// An event by `author` ("user", or the agent's name) in an invocation.
    pub fn new(store: &Store, author: &str, invocation_id: Option<&str>) -> Result<Builder> {
        let author = c_string("the author", author)?;
        let invocation = c_string_or_null("the invocation id", invocation_id)?;
        let raw = opened(|builder, error| unsafe {
            sys::ses_builder_open(store.raw(), author.as_ptr(), pointer(&invocation), builder, error)
        })?;
        Ok(Builder { raw })
    }

    fn set(&mut self, text: &str, set: TextSetter) -> Result<&mut Self> {
        call(|error| unsafe { set(self.raw.as_ptr(), text.as_ptr().cast(), text.len(), error) })?;
        Ok(self)
    }
    fn set_field(&mut self, field: &str, text: &str, set: FieldSetter) -> Result<&mut Self> {
        let field = c_string("the field", field)?;
        call(|error| unsafe {
            set(self.raw.as_ptr(), field.as_ptr(), text.as_ptr().cast(), text.len(), error)
        })?;
        Ok(self)
    }
    fn set_function(
        &mut self,
        id: Option<&str>,
        name: &str,
        json: &str,
        set: FunctionSetter,
    ) -> Result<&mut Self> {
        let (id, name) = (c_string_or_null("the id", id)?, c_string("the name", name)?);
        call(|error| unsafe {
            set(self.raw.as_ptr(), pointer(&id), name.as_ptr(), json.as_ptr().cast(), json.len(), error)
        })?;
        Ok(self)
    }

    /// Adds a part to the content.
    pub fn text(&mut self, text: &str) -> Result<&mut Self> {
        self.set(text, sys::ses_builder_text)
    }
    pub fn thought(&mut self, text: &str) -> Result<&mut Self> {
        self.set(text, sys::ses_builder_thought)
    }
    /// Adds a function call. `args` is a JSON object.
    pub fn call(&mut self, id: Option<&str>, name: &str, args: &str) -> Result<&mut Self> {
        self.set_function(id, name, args, sys::ses_builder_call)
    }
    /// Adds a function response. `response` is a JSON object.
    pub fn response(&mut self, id: Option<&str>, name: &str, response: &str) -> Result<&mut Self> {
        self.set_function(id, name, response, sys::ses_builder_response)
    }
    /// Adds the response to a call that was read.
    pub fn response_to(&mut self, to: &Function<'_>, response: &str) -> Result<&mut Self> {
        let text = response.as_ptr().cast();
        call(|error| unsafe {
            sys::ses_builder_response_to(self.raw.as_ptr(), to.raw, text, response.len(), error)
        })?;
        Ok(self)
    }
    /// Adds the response `{"error":"interrupted"}` to a call that was read.
    pub fn interrupted(&mut self, to: &Function<'_>) -> Result<&mut Self> {
        call(|error| unsafe { sys::ses_builder_interrupted(self.raw.as_ptr(), to.raw, error) })?;
        Ok(self)
    }
    /// Adds any other part, a JSON object.
    pub fn part(&mut self, json: &str) -> Result<&mut Self> {
        self.set(json, sys::ses_builder_part)
    }
    /// Sets the whole content, a JSON object.
    pub fn content(&mut self, json: &str) -> Result<&mut Self> {
        self.set(json, sys::ses_builder_content)
    }
    /// Sets `actions.stateDelta`, a JSON object.
    pub fn delta(&mut self, json: &str) -> Result<&mut Self> {
        self.set(json, sys::ses_builder_delta)
    }
    /// Sets any other field of the event, as JSON.
    pub fn field(&mut self, field: &str, json: &str) -> Result<&mut Self> {
        self.set_field(field, json, sys::ses_builder_field)
    }
    /// Sets any other field of the event, as a text.
    pub fn field_string(&mut self, field: &str, text: &str) -> Result<&mut Self> {
        self.set_field(field, text, sys::ses_builder_field_string)
    }
    /// Sets any other field of the event's actions, as JSON.
    pub fn action(&mut self, field: &str, json: &str) -> Result<&mut Self> {
        self.set_field(field, json, sys::ses_builder_action)
    }
    /// Sets any other field of the event's actions, as a text.
    pub fn action_string(&mut self, field: &str, text: &str) -> Result<&mut Self> {
        self.set_field(field, text, sys::ses_builder_action_string)
    }

    /// Appends the event. If it has no id, the builder is given one first, so the call can be repeated after
    /// any failure: the event is stored once. Build the next event with another builder.
    pub fn append(&mut self, session: &mut Session, options: &AppendOptions<'_>) -> Result<Appended> {
        let options = options.to_c(&session.limits)?;
        Appended::of(|appended, error| unsafe {
            sys::ses_builder_append(self.raw.as_ptr(), session.raw(), options.as_ptr(), appended, error)
        })
    }
    /// The same without a handle.
    pub fn append_by_key(
        &mut self,
        store: &Store,
        key: Key<'_>,
        options: &AppendOptions<'_>,
    ) -> Result<Appended> {
        let (key, options) = (key.to_c()?, options.to_c(&store.limits)?);
        Appended::of(|appended, error| unsafe {
            let options = options.as_ptr();
            sys::ses_builder_append_by_key(
                self.raw.as_ptr(),
                store.raw(),
                &key.raw(),
                options,
                appended,
                error,
            )
        })
    }

    /// The event, for an append.
    pub fn json(&mut self) -> Result<&str> {
        let mut len = 0;
        let json = unsafe { sys::ses_builder_json(self.raw.as_ptr(), &mut len) };
        if json.is_null() {
            return Err(nothing());
        }
        unsafe { borrowed(json, len) }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { sys::ses_builder_close(self.raw.as_ptr()) };
    }
}
