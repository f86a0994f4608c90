use std::marker::PhantomData;

use seslite_sys as sys;

use crate::error::{Code, Error, Result};
use crate::text::{bytes, name, optional_name};

/// A stored event, borrowed from what read it.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    raw: &'a sys::ses_event,
    // Its texts belong to an object that one thread uses at a time.
    thread: PhantomData<*const ()>,
}

impl<'a> Event<'a> {
    pub(crate) unsafe fn new(raw: *const sys::ses_event) -> Option<Event<'a>> {
        unsafe { raw.as_ref() }.map(|raw| Event { raw, thread: PhantomData })
    }

    /// 1, 2, 3 and so on, in the order of commit.
    pub fn seq(&self) -> i64 {
        self.raw.seq
    }
    /// Microseconds since 1970.
    pub fn time_us(&self) -> i64 {
        self.raw.time_us
    }
    pub fn id(&self) -> &'a str {
        unsafe { name(self.raw.id) }
    }
    /// "" when the event has none.
    pub fn invocation_id(&self) -> &'a str {
        unsafe { name(self.raw.invocation_id) }
    }
    /// "" when the event has none.
    pub fn author(&self) -> &'a str {
        unsafe { name(self.raw.author) }
    }
    pub fn branch(&self) -> Option<&'a str> {
        unsafe { optional_name(self.raw.branch) }
    }
    /// The bytes that were appended, without `temp:` keys. If another program wrote them, they may be
    /// anything.
    pub fn bytes(&self) -> &'a [u8] {
        unsafe { bytes(self.raw.json, self.raw.json_len) }
    }
    /// The same as a text.
    pub fn json(&self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes())
            .map_err(|error| Error::new(Code::Corrupt, format!("event {} is not UTF-8: {error}", self.seq())))
    }
    /// The event as serde_json sees it: numbers become `f64` or 64-bit integers. For the exact text, see
    /// [`json`](Event::json).
    #[cfg(feature = "serde_json")]
    pub fn value(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(self.bytes()).map_err(|error| {
            Error::new(Code::Corrupt, format!("event {} cannot be read: {error}", self.seq()))
        })
    }

    /// A copy that lives on its own.
    pub fn to_owned(&self) -> OwnedEvent {
        OwnedEvent {
            seq: self.seq(),
            time_us: self.time_us(),
            id: self.id().into(),
            invocation_id: self.invocation_id().into(),
            author: self.author().into(),
            branch: self.branch().map(str::to_owned),
            json: self.bytes().into(),
        }
    }
}

impl std::fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("seq", &self.seq())
            .field("json", &String::from_utf8_lossy(self.bytes()))
            .finish()
    }
}

/// An event that lives on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnedEvent {
    pub seq: i64,
    pub time_us: i64,
    pub id: String,
    pub invocation_id: String,
    pub author: String,
    pub branch: Option<String>,
    /// The stored bytes.
    pub json: Vec<u8>,
}

/// How many events a session has stored, and the version that it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventCount {
    pub stored: i64,
    /// For [`AppendOptions::at_version`](crate::AppendOptions::at_version).
    pub version: i64,
}
