//! The agent layer: building and reading events, what a model is sent, pending calls, state as callbacks and tools see it,
//! instruction templates. `seslite_agent.h` says what each call does.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{self, NonNull};

use seslite_sys as sys;

use crate::append::{AppendOptions, Appended};
use crate::error::{call, Code, Error, Result};
use crate::event::Event;
use crate::key::Key;
use crate::session::{Session, SessionView};
use crate::store::Store;
use crate::text::{
    borrowed, bytes, c_string, c_string_or_null, pointer, size_of, take_required, take_text, zeroed, Json,
};

fn nothing() -> Error {
    Error::new(Code::NoMemory, "out of memory")
}

unsafe fn text_of<'a>(text: sys::ses_text) -> Option<&'a str> {
    if text.text.is_null() {
        return None;
    }
    std::str::from_utf8(unsafe { bytes(text.text, text.len) }).ok()
}

// ----------------------------------------------------------------------------------------------- building events

/// Makes the JSON of one event as the ADK writes it.
pub struct Builder {
    raw: NonNull<sys::ses_builder>,
}

unsafe impl Send for Builder {}

type TextSetter = unsafe extern "C" fn(*mut sys::ses_builder, *const c_char, usize, *mut sys::ses_error) -> c_int;
type FieldSetter =
    unsafe extern "C" fn(*mut sys::ses_builder, *const c_char, *const c_char, usize, *mut sys::ses_error) -> c_int;
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
        let mut builder = ptr::null_mut();
        call(|error| unsafe {
            sys::ses_builder_open(store.raw(), author.as_ptr(), pointer(&invocation), &mut builder, error)
        })?;
        Ok(Builder { raw: NonNull::new(builder).ok_or_else(nothing)? })
    }

    fn set(&mut self, text: &str, set: TextSetter) -> Result<&mut Self> {
        call(|error| unsafe { set(self.raw.as_ptr(), text.as_ptr().cast(), text.len(), error) })?;
        Ok(self)
    }
    fn set_field(&mut self, field: &str, text: &str, set: FieldSetter) -> Result<&mut Self> {
        let field = c_string("the field", field)?;
        call(|error| unsafe { set(self.raw.as_ptr(), field.as_ptr(), text.as_ptr().cast(), text.len(), error) })?;
        Ok(self)
    }
    fn set_function(&mut self, id: Option<&str>, name: &str, json: &str, set: FunctionSetter) -> Result<&mut Self> {
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
        call(|error| unsafe { sys::ses_builder_response_to(self.raw.as_ptr(), to.raw, text, response.len(), error) })?;
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

// ------------------------------------------------------------------------------------------------ reading events

/// A function call or function response.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    raw: &'a sys::ses_function,
    thread: PhantomData<*const ()>,
}

impl<'a> Function<'a> {
    unsafe fn new(raw: *const sys::ses_function) -> Option<Function<'a>> {
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

/// What an event says. It borrows the event's text.
pub struct Content<'e> {
    raw: NonNull<sys::ses_content>,
    event: PhantomData<&'e str>,
}

unsafe impl Send for Content<'_> {}

impl<'e> Content<'e> {
    /// Reads the JSON of an event.
    pub fn read(store: &Store, event: &'e str) -> Result<Content<'e>> {
        let mut content = ptr::null_mut();
        call(|error| unsafe {
            sys::ses_content_open(store.raw(), event.as_ptr().cast(), event.len(), &mut content, error)
        })?;
        Ok(Content { raw: NonNull::new(content).ok_or_else(nothing)?, event: PhantomData })
    }

    fn raw(&self) -> *const sys::ses_content {
        self.raw.as_ptr()
    }

    /// The text of all parts that are no thoughts; `None` if no part has one.
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

// ------------------------------------------------------------------------------------- context and pending calls

/// The part of a session's log that a model should be sent, in the order in which to send it.
pub struct Context {
    raw: NonNull<sys::ses_context>,
}

unsafe impl Send for Context {}

fn context_options(visible: bool) -> sys::ses_context_options {
    let mut options: sys::ses_context_options = zeroed();
    options.size = size_of::<sys::ses_context_options>();
    options.flags = if visible { sys::SES_CONTEXT_VISIBLE } else { 0 };
    options
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

/// The function calls of a session's live events that have no response after them.
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
    /// Each call, the event that holds it, and whether it is long-running.
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
    /// What a model is to be sent of a session. `visible`: without events of which a model sees nothing.
    pub fn context(&self, key: Key<'_>, visible: bool) -> Result<Context> {
        let (key, options) = (key.to_c()?, context_options(visible));
        let mut context = ptr::null_mut();
        call(|error| unsafe { sys::ses_context_open_by_key(self.raw(), &key.raw(), &options, &mut context, error) })?;
        Ok(Context { raw: NonNull::new(context).ok_or_else(nothing)? })
    }
    /// The calls of a session that have no response.
    pub fn pending(&self, key: Key<'_>) -> Result<Pending> {
        let key = key.to_c()?;
        let mut pending = ptr::null_mut();
        call(|error| unsafe {
            sys::ses_pending_open_by_key(self.raw(), &key.raw(), ptr::null(), &mut pending, error)
        })?;
        Ok(Pending { raw: NonNull::new(pending).ok_or_else(nothing)? })
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
        let options = context_options(visible);
        let mut context = ptr::null_mut();
        call(|error| unsafe { sys::ses_context_open(self.raw(), &options, &mut context, error) })?;
        Ok(Context { raw: NonNull::new(context).ok_or_else(nothing)? })
    }
    /// See [`Store::pending`].
    pub fn pending(&mut self) -> Result<Pending> {
        let mut pending = ptr::null_mut();
        call(|error| unsafe { sys::ses_pending_open(self.raw(), ptr::null(), &mut pending, error) })?;
        Ok(Pending { raw: NonNull::new(pending).ok_or_else(nothing)? })
    }
    /// A view that shows the state as a callback or a tool sees it. While it lives, it has the handle.
    pub fn track(&mut self) -> Result<Tracked<'_>> {
        Tracked::open(self, 0)
    }
    /// A view whose writes are [`Code::ReadOnly`].
    pub fn track_read_only(&mut self) -> Result<Tracked<'_>> {
        Tracked::open(self, sys::SES_TRACK_READ_ONLY)
    }
}

// ------------------------------------------------------------------------------------------------- tracked state

/// State as a callback or a tool sees it: own writes first, then the handle's. Writes stay in the view until they are
/// appended with an event.
pub struct Tracked<'s> {
    raw: NonNull<sys::ses_tracked>,
    session: &'s mut Session,
}

// It has the handle, and moves with it.
unsafe impl Send for Tracked<'_> {}

impl<'s> Tracked<'s> {
    fn open(session: &'s mut Session, flags: u32) -> Result<Tracked<'s>> {
        let mut tracked = ptr::null_mut();
        call(|error| unsafe { sys::ses_tracked_open(session.raw(), flags, &mut tracked, error) })?;
        Ok(Tracked { raw: NonNull::new(tracked).ok_or_else(nothing)?, session })
    }

    fn raw(&self) -> *mut sys::ses_tracked {
        self.raw.as_ptr()
    }

    /// What the handle shows.
    pub fn session(&self) -> &SessionView {
        self.session
    }
    /// Brings the handle up to date. The view's writes stay.
    pub fn refresh(&mut self) -> Result<()> {
        self.session.refresh()
    }

    /// Writes a value, as JSON text.
    pub fn set(&mut self, key: &str, json: &str) -> Result<()> {
        let key = c_string("the state key", key)?;
        let text = json.as_ptr().cast();
        call(|error| unsafe { sys::ses_tracked_set(self.raw(), key.as_ptr(), text, json.len(), error) }).map(drop)
    }
    pub fn set_string(&mut self, key: &str, text: &str) -> Result<()> {
        let key = c_string("the state key", key)?;
        let bytes = text.as_ptr().cast();
        call(|error| unsafe { sys::ses_tracked_set_string(self.raw(), key.as_ptr(), bytes, text.len(), error) })
            .map(drop)
    }
    pub fn set_int(&mut self, key: &str, value: i64) -> Result<()> {
        let key = c_string("the state key", key)?;
        call(|error| unsafe { sys::ses_tracked_set_int64(self.raw(), key.as_ptr(), value, error) }).map(drop)
    }
    /// [`Code::Invalid`]: the value is infinite or NaN.
    pub fn set_float(&mut self, key: &str, value: f64) -> Result<()> {
        let key = c_string("the state key", key)?;
        call(|error| unsafe { sys::ses_tracked_set_double(self.raw(), key.as_ptr(), value, error) }).map(drop)
    }
    pub fn set_bool(&mut self, key: &str, value: bool) -> Result<()> {
        let key = c_string("the state key", key)?;
        call(|error| unsafe { sys::ses_tracked_set_bool(self.raw(), key.as_ptr(), c_int::from(value), error) })
            .map(drop)
    }
    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> Result<()> {
        let key = c_string("the state key", key)?;
        call(|error| unsafe { sys::ses_tracked_remove(self.raw(), key.as_ptr(), error) }).map(drop)
    }
    /// Drops the view's own writes and its notes of what it read.
    pub fn discard(&mut self) {
        unsafe { sys::ses_tracked_discard(self.raw()) };
    }

    /// A value as JSON text.
    pub fn get(&self, key: &str) -> Result<Option<&str>> {
        self.text(key, sys::ses_tracked_get)
    }
    /// The value of a JSON string, decoded.
    pub fn string(&self, key: &str) -> Result<Option<&str>> {
        self.text(key, sys::ses_tracked_get_string)
    }
    fn text(
        &self,
        key: &str,
        get: unsafe extern "C" fn(
            *const sys::ses_tracked,
            *const c_char,
            *mut *const c_char,
            *mut usize,
            *mut sys::ses_error,
        ) -> c_int,
    ) -> Result<Option<&str>> {
        let key = c_string("the state key", key)?;
        let (mut text, mut len) = (ptr::null(), 0);
        let code = call(|error| unsafe { get(self.raw(), key.as_ptr(), &mut text, &mut len, error) })?;
        if code == sys::SES_ABSENT {
            return Ok(None);
        }
        unsafe { borrowed(text, len) }.map(Some)
    }
    pub fn int(&self, key: &str) -> Result<Option<i64>> {
        let key = c_string("the state key", key)?;
        let mut value = 0;
        let code = call(|error| unsafe { sys::ses_tracked_get_int64(self.raw(), key.as_ptr(), &mut value, error) })?;
        Ok((code != sys::SES_ABSENT).then_some(value))
    }
    pub fn float(&self, key: &str) -> Result<Option<f64>> {
        let key = c_string("the state key", key)?;
        let mut value = 0.0;
        let code = call(|error| unsafe { sys::ses_tracked_get_double(self.raw(), key.as_ptr(), &mut value, error) })?;
        Ok((code != sys::SES_ABSENT).then_some(value))
    }
    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        let key = c_string("the state key", key)?;
        let mut value = 0;
        let code = call(|error| unsafe { sys::ses_tracked_get_bool(self.raw(), key.as_ptr(), &mut value, error) })?;
        Ok((code != sys::SES_ABSENT).then_some(value != 0))
    }
    pub fn has(&self, key: &str) -> Result<bool> {
        let key = c_string("the state key", key)?;
        Ok(unsafe { sys::ses_tracked_has(self.raw(), key.as_ptr()) != 0 })
    }
    /// Whether the view holds writes that are not appended.
    pub fn changed(&self) -> bool {
        unsafe { sys::ses_tracked_changed(self.raw()) != 0 }
    }
    /// Everything that the view shows.
    pub fn json(&self) -> Result<Json> {
        take_required(|json, len, error| unsafe { sys::ses_tracked_json(self.raw(), json, len, error) })
    }
    /// The view's own writes.
    pub fn delta(&self) -> Result<Json> {
        take_required(|json, len, error| unsafe { sys::ses_tracked_delta(self.raw(), json, len, error) })
    }

    /// Appends an event together with the view's writes.
    pub fn append(&mut self, event: &str, options: &AppendOptions<'_>) -> Result<Appended> {
        let options = options.raw();
        let mut appended: sys::ses_appended = zeroed();
        call(|error| unsafe {
            let text = event.as_ptr().cast();
            sys::ses_tracked_append(self.raw(), text, event.len(), &options, &mut appended, error)
        })?;
        Ok(Appended::from_raw(&appended))
    }
    /// Appends an event, the view's writes, and the agent's final text under `state_key`.
    pub fn append_output(
        &mut self,
        event: &str,
        agent: &str,
        state_key: Option<&str>,
        options: &AppendOptions<'_>,
    ) -> Result<Appended> {
        let (agent, state_key) = (c_string("the agent", agent)?, c_string_or_null("the state key", state_key)?);
        let options = options.raw();
        let mut appended: sys::ses_appended = zeroed();
        call(|error| unsafe {
            let (text, agent) = (event.as_ptr().cast(), agent.as_ptr());
            sys::ses_output_append(
                self.raw(),
                text,
                event.len(),
                agent,
                pointer(&state_key),
                &options,
                &mut appended,
                error,
            )
        })?;
        Ok(Appended::from_raw(&appended))
    }

    /// Renders an instruction template with what the view shows.
    pub fn render(&self, template: &str, options: &mut RenderOptions<'_>) -> Result<Json> {
        options.with_raw(|options| {
            take_required(|text, len, error| unsafe {
                sys::ses_tracked_render(self.raw(), template.as_ptr().cast(), template.len(), options, text, len, error)
            })
        })
    }
}

impl Drop for Tracked<'_> {
    fn drop(&mut self) {
        unsafe { sys::ses_tracked_close(self.raw()) };
    }
}

// ----------------------------------------------------------------------------------------------------- templates

type Artifacts<'a> = dyn FnMut(&str) -> Result<String> + 'a;

/// How to render a template.
#[derive(Default)]
pub struct RenderOptions<'a> {
    adk_braces: bool,
    artifacts: Option<(*mut sys::ses_store, Box<Artifacts<'a>>)>,
    store: PhantomData<&'a Store>,
}

impl<'a> RenderOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// A run of braces on either side counts as one, as in the ADK's code.
    pub fn adk_braces(mut self) -> Self {
        self.adk_braces = true;
        self
    }
    /// Reads an artifact that a template names. [`Code::NotFound`]: there is none of that name.
    pub fn artifacts(mut self, store: &'a Store, read: impl FnMut(&str) -> Result<String> + 'a) -> Self {
        self.artifacts = Some((store.raw(), Box::new(read)));
        self
    }

    fn with_raw<T>(&mut self, function: impl FnOnce(*const sys::ses_render_options) -> Result<T>) -> Result<T> {
        let mut raw: sys::ses_render_options = zeroed();
        raw.size = size_of::<sys::ses_render_options>();
        raw.flags = if self.adk_braces { sys::SES_RENDER_ADK_BRACES } else { 0 };
        let mut context = self.artifacts.as_mut().map(|(store, read)| Reader { store: *store, read, panic: None });
        if let Some(context) = &mut context {
            raw.artifacts = Some(artifact_of);
            raw.artifacts_context = ptr::from_mut(context).cast();
        }
        let result = function(&raw);
        if let Some(panic) = context.and_then(|context| context.panic) {
            std::panic::resume_unwind(panic);
        }
        result
    }
}

struct Reader<'a, 'b> {
    store: *mut sys::ses_store,
    read: &'a mut Box<Artifacts<'b>>,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

unsafe extern "C" fn artifact_of(
    context: *mut c_void,
    name: *const c_char,
    text: *mut *mut c_char,
    len: *mut usize,
    error: *mut sys::ses_error,
) -> c_int {
    let reader = unsafe { &mut *context.cast::<Reader<'_, '_>>() };
    let name = unsafe { crate::text::name(name) };
    let artifact = match catch_unwind(AssertUnwindSafe(|| (reader.read)(name))) {
        Ok(Ok(artifact)) => artifact,
        Ok(Err(failure)) => return failure.to_raw(error),
        Err(panic) => {
            reader.panic = Some(panic);
            return Error::new(Code::Interrupted, "a callback panicked").to_raw(error);
        }
    };
    let made = unsafe { sys::ses_text_make(reader.store, artifact.len()) };
    if made.is_null() {
        return nothing().to_raw(error);
    }
    unsafe {
        ptr::copy_nonoverlapping(artifact.as_ptr().cast(), made, artifact.len());
        *text = made;
        *len = artifact.len();
    }
    0
}

impl SessionView {
    /// Renders an instruction template with the state of the handle.
    pub fn render(&self, template: &str, options: &mut RenderOptions<'_>) -> Result<Json> {
        options.with_raw(|options| {
            take_required(|text, len, error| unsafe {
                sys::ses_render(
                    SessionView::raw(self),
                    template.as_ptr().cast(),
                    template.len(),
                    options,
                    text,
                    len,
                    error,
                )
            })
        })
    }
}
