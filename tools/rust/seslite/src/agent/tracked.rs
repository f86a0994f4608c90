use std::ffi::{c_char, c_int};
use std::ptr::{self, NonNull};

use seslite_sys as sys;

use crate::agent::template::RenderOptions;
use crate::append::{AppendOptions, Appended};
use crate::error::{call, done, opened, Result};
use crate::raw::sized;
use crate::session::{Session, SessionView};
use crate::text::{borrowed, c_string, c_string_or_null, pointer, take_required, Json};

/// State as a callback or a tool sees it: own writes first, then the handle's. Writes stay in the view until
/// they are appended with an event.
pub struct Tracked<'s> {
    raw: NonNull<sys::ses_tracked>,
    session: &'s mut Session,
}

// It has the handle, and moves with it.
unsafe impl Send for Tracked<'_> {}

impl<'s> Tracked<'s> {
    fn open(session: &'s mut Session, flags: u32) -> Result<Tracked<'s>> {
        let mut options: sys::ses_track_options = sized();
        options.flags = flags;
        let raw = opened(|tracked, error| unsafe {
            sys::ses_tracked_open(session.raw(), &options, tracked, error)
        })?;
        Ok(Tracked { raw, session })
    }

    fn raw(&self) -> *mut sys::ses_tracked {
        self.raw.as_ptr()
    }

    /// The handle's snapshot.
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
        done(|error| unsafe { sys::ses_tracked_set(self.raw(), key.as_ptr(), text, json.len(), error) })
    }
    pub fn set_string(&mut self, key: &str, text: &str) -> Result<()> {
        let key = c_string("the state key", key)?;
        let bytes = text.as_ptr().cast();
        done(|error| unsafe {
            sys::ses_tracked_set_string(self.raw(), key.as_ptr(), bytes, text.len(), error)
        })
    }
    pub fn set_int(&mut self, key: &str, value: i64) -> Result<()> {
        let key = c_string("the state key", key)?;
        done(|error| unsafe { sys::ses_tracked_set_int64(self.raw(), key.as_ptr(), value, error) })
    }
    /// [`Code::Invalid`](crate::Code::Invalid): the value is infinite or NaN.
    pub fn set_float(&mut self, key: &str, value: f64) -> Result<()> {
        let key = c_string("the state key", key)?;
        done(|error| unsafe { sys::ses_tracked_set_double(self.raw(), key.as_ptr(), value, error) })
    }
    pub fn set_bool(&mut self, key: &str, value: bool) -> Result<()> {
        let key = c_string("the state key", key)?;
        done(|error| unsafe {
            sys::ses_tracked_set_bool(self.raw(), key.as_ptr(), c_int::from(value), error)
        })
    }
    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> Result<()> {
        let key = c_string("the state key", key)?;
        done(|error| unsafe { sys::ses_tracked_remove(self.raw(), key.as_ptr(), error) })
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
        let code =
            call(|error| unsafe { sys::ses_tracked_get_int64(self.raw(), key.as_ptr(), &mut value, error) })?;
        Ok((code != sys::SES_ABSENT).then_some(value))
    }
    pub fn float(&self, key: &str) -> Result<Option<f64>> {
        let key = c_string("the state key", key)?;
        let mut value = 0.0;
        let code = call(|error| unsafe {
            sys::ses_tracked_get_double(self.raw(), key.as_ptr(), &mut value, error)
        })?;
        Ok((code != sys::SES_ABSENT).then_some(value))
    }
    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        let key = c_string("the state key", key)?;
        let mut value = 0;
        let code =
            call(|error| unsafe { sys::ses_tracked_get_bool(self.raw(), key.as_ptr(), &mut value, error) })?;
        Ok((code != sys::SES_ABSENT).then_some(value != 0))
    }
    pub fn has(&self, key: &str) -> Result<bool> {
        let key = c_string("the state key", key)?;
        Ok(unsafe { sys::ses_tracked_has(self.raw(), key.as_ptr()) != 0 })
    }
    /// Whether the view holds writes that have not been appended.
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
        let options = options.to_c(&self.session.limits)?;
        Appended::of(|appended, error| unsafe {
            let (text, len) = (event.as_ptr().cast(), event.len());
            sys::ses_tracked_append(self.raw(), text, len, options.as_ptr(), appended, error)
        })
    }
    /// Appends an event, the view's writes, and the agent's final text under `state_key`.
    pub fn append_output(
        &mut self,
        event: &str,
        agent: &str,
        state_key: Option<&str>,
        options: &AppendOptions<'_>,
    ) -> Result<Appended> {
        let (agent, state_key) =
            (c_string("the agent", agent)?, c_string_or_null("the state key", state_key)?);
        let options = options.to_c(&self.session.limits)?;
        Appended::of(|appended, error| unsafe {
            let (text, len) = (event.as_ptr().cast(), event.len());
            let (agent, key, options) = (agent.as_ptr(), pointer(&state_key), options.as_ptr());
            sys::ses_output_append(self.raw(), text, len, agent, key, options, appended, error)
        })
    }

    /// Renders an instruction template with what the view shows.
    pub fn render(&self, template: &str, options: &mut RenderOptions<'_>) -> Result<Json> {
        options.with_raw(|options| {
            take_required(|text, len, error| unsafe {
                sys::ses_tracked_render(
                    self.raw(),
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

impl Drop for Tracked<'_> {
    fn drop(&mut self) {
        unsafe { sys::ses_tracked_close(self.raw()) };
    }
}

impl Session {
    /// A view that shows the state as a callback or a tool sees it. While it lives, it has the handle.
    pub fn track(&mut self) -> Result<Tracked<'_>> {
        Tracked::open(self, 0)
    }
    /// A view whose writes are [`Code::ReadOnly`](crate::Code::ReadOnly).
    pub fn track_read_only(&mut self) -> Result<Tracked<'_>> {
        Tracked::open(self, sys::SES_TRACK_READ_ONLY)
    }
    /// A view for one turn of an agent: `append_output` saves all that the agent says, also beside its calls,
    /// as google-adk 2.13 does.
    pub fn track_accumulating(&mut self) -> Result<Tracked<'_>> {
        Tracked::open(self, sys::SES_TRACK_ACCUMULATE)
    }
}
