use std::ffi::{c_int, CString};
use std::ptr::{self, NonNull};

use seslite_sys as sys;

use crate::error::{call, Result};
use crate::key::Key;
use crate::lease::Lease;
use crate::raw::{limited, zeroed};
use crate::store::Store;
use crate::text::{bytes, c_string, c_string_or_null, name, pointer};

/// The sessions whose inputs a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inboxes<'a> {
    /// All of the store.
    All,
    /// Those of an app.
    App(&'a str),
    /// A session, or those of a user.
    Of(Key<'a>),
}

/// The names of a key that may all be absent.
struct Names([Option<CString>; 3]);

impl Names {
    fn new(inboxes: Inboxes<'_>) -> Result<Names> {
        let (app, user, session) = match inboxes {
            Inboxes::All => (None, None, None),
            Inboxes::App(app) => (Some(app), None, None),
            Inboxes::Of(key) => (Some(key.app), Some(key.user), key.session),
        };
        Ok(Names([
            c_string_or_null("the app", app)?,
            c_string_or_null("the user", user)?,
            c_string_or_null("the session id", session)?,
        ]))
    }
    fn with<T>(&self, make: impl FnOnce(*const sys::ses_key) -> T) -> T {
        let [app, user, session] = &self.0;
        let key = sys::ses_key { app: pointer(app), user: pointer(user), session: pointer(session) };
        make(if app.is_none() { ptr::null() } else { &key })
    }
}

/// An input that waits in the inbox of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    pub app: String,
    pub user: String,
    pub session: String,
    pub request: String,
    /// JSON.
    pub body: String,
    /// When it was added, by the store's clock.
    pub added_us: i64,
    /// In the order of all inputs of the store.
    pub place: i64,
}

impl Input {
    /// The session in whose inbox it waits.
    pub fn key(&self) -> Key<'_> {
        Key::new(&self.app, &self.user, &self.session)
    }
    unsafe fn new(raw: &sys::ses_input) -> Input {
        unsafe {
            Input {
                app: name(raw.app).to_owned(),
                user: name(raw.user).to_owned(),
                session: name(raw.session).to_owned(),
                request: name(raw.request).to_owned(),
                body: String::from_utf8_lossy(bytes(raw.body, raw.body_len)).into_owned(),
                added_us: raw.added_us,
                place: raw.place,
            }
        }
    }
}

/// Takes copies of a page, which is closed. There may be none.
fn inputs(open: impl FnOnce(*mut *mut sys::ses_inputs, *mut sys::ses_error) -> c_int) -> Result<Vec<Input>> {
    let mut page = ptr::null_mut();
    call(|error| open(&mut page, error))?;
    let Some(page) = NonNull::new(page) else { return Ok(Vec::new()) };
    unsafe {
        let count = sys::ses_inputs_count(page.as_ptr());
        let made = (0..count).map(|at| Input::new(&*sys::ses_inputs_at(page.as_ptr(), at))).collect();
        sys::ses_inputs_close(page.as_ptr());
        Ok(made)
    }
}

/// How to add an input.
#[derive(Debug, Clone, Copy, Default)]
pub struct InputOptions {
    flags: u32,
    max_waiting: i64,
}

impl InputOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// Creates the session, without state, if there is none.
    pub fn creates(mut self) -> Self {
        self.flags |= sys::SES_INBOX_CREATES;
        self
    }
    /// How many inputs may wait in the session; otherwise 1000.
    pub fn max_waiting(mut self, inputs: u32) -> Self {
        self.max_waiting = i64::from(inputs);
        self
    }
}

impl Store {
    /// Adds an input, any JSON, to the inbox of a session, under the id of its request. False: it waits already,
    /// or the session has an event with that id.
    pub fn add_input(&self, key: Key<'_>, request: &str, body: &str, options: InputOptions) -> Result<bool> {
        let (key, request) = (key.to_c()?, c_string("the request", request)?);
        let mut raw: sys::ses_inbox_add_options = limited(&self.limits);
        raw.flags = options.flags;
        raw.max_waiting = options.max_waiting;
        let code = call(|error| unsafe {
            let (text, len) = (body.as_ptr().cast(), body.len());
            sys::ses_inbox_add(self.raw(), &key.raw(), request.as_ptr(), text, len, &raw, error)
        })?;
        Ok(code != sys::SES_DUPLICATE)
    }
    /// Takes the oldest input that waits, together with the lease of its session. An append that names its
    /// request removes it: [`AppendOptions::answers`](crate::AppendOptions::answers). `duration_us` is that of the
    /// lease, 0: 60 seconds; `wait_ms` how long to wait for an input, `None`: without limit.
    pub fn take_input(
        &self,
        inboxes: Inboxes<'_>,
        owner: &str,
        duration_us: i64,
        wait_ms: Option<u32>,
    ) -> Result<Option<(Input, Lease)>> {
        let (names, owner) = (Names::new(inboxes)?, c_string("the owner", owner)?);
        let mut raw: sys::ses_inbox_take_options = limited(&self.limits);
        raw.duration_us = duration_us;
        raw.wait_ms = wait_ms.map_or(-1, i64::from);
        let mut lease: sys::ses_lease = zeroed();
        let taken = inputs(|page, error| {
            names.with(|key| unsafe {
                sys::ses_inbox_take(self.raw(), key, owner.as_ptr(), &raw, page, &mut lease, error)
            })
        })?;
        let lease = Lease { token: lease.token, until_us: lease.until_us };
        Ok(taken.into_iter().next().map(|input| (input, lease)))
    }
    /// The inputs that wait, the oldest first: up to `limit` (0: 100), after the place of the last one of the page
    /// before.
    pub fn inputs(&self, inboxes: Inboxes<'_>, after: i64, limit: usize) -> Result<Vec<Input>> {
        let names = Names::new(inboxes)?;
        let mut raw: sys::ses_inbox_list_options = limited(&self.limits);
        raw.after = after;
        raw.limit = limit;
        inputs(|page, error| {
            names.with(|key| unsafe { sys::ses_inbox_list(self.raw(), key, &raw, page, error) })
        })
    }
    /// Removes an input that nobody is to answer. False: it was not there.
    pub fn remove_input(&self, key: Key<'_>, request: &str) -> Result<bool> {
        let (key, request) = (key.to_c()?, c_string("the request", request)?);
        let options = self.limits.call_options();
        let code = call(|error| unsafe {
            sys::ses_inbox_remove(self.raw(), &key.raw(), request.as_ptr(), &options, error)
        })?;
        Ok(code != sys::SES_UNCHANGED)
    }
}
