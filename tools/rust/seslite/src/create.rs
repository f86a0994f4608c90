use std::ptr;

use seslite_sys as sys;

use crate::error::Result;
use crate::key::Key;
use crate::labels::CLabels;
use crate::limits::Limits;
use crate::range::Range;
use crate::raw::{limited, optional_ref};
use crate::text::{c_string_or_null, pointer};

/// How to create a session.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions<'a> {
    range: Range,
    created_us: Option<i64>,
    expires_us: Option<i64>,
    title: Option<&'a str>,
    labels: Vec<(&'a str, Option<&'a str>)>,
    child_of: Option<Key<'a>>,
}

impl<'a> CreateOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// [`Store::get_or_create`](crate::Store::get_or_create): the events to read of an existing session.
    pub fn range(mut self, range: Range) -> Self {
        self.range = range;
        self
    }
    /// The time of creation; otherwise the store's clock gives it.
    pub fn created_us(mut self, time_us: i64) -> Self {
        self.created_us = Some(time_us);
        self
    }
    /// The time from which the session may be removed.
    pub fn expires_us(mut self, time_us: i64) -> Self {
        self.expires_us = Some(time_us);
        self
    }
    pub fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }
    pub fn label(mut self, name: &'a str, value: &'a str) -> Self {
        self.labels.push((name, Some(value)));
        self
    }
    /// The session that the new one is a child of, such as that of a sub-agent.
    pub fn child_of(mut self, key: Key<'a>) -> Self {
        self.child_of = Some(key);
        self
    }

    pub(crate) fn with_raw<T>(
        &self,
        limits: &Limits,
        function: impl FnOnce(*const sys::ses_create_options) -> Result<T>,
    ) -> Result<T> {
        let range = self.range.raw();
        let title = c_string_or_null("the title", self.title)?;
        let labels = CLabels::new(&self.labels)?;
        let mut raw: sys::ses_create_options = limited(limits);
        raw.range = &range;
        raw.created_us = optional_ref(&self.created_us);
        raw.expires_us = optional_ref(&self.expires_us);
        raw.title = pointer(&title);
        raw.labels = labels.as_ptr();
        raw.label_count = labels.len();
        let child_of = self.child_of.map(Key::to_c).transpose()?.map(|of| (of.raw(), of));
        raw.child_of = child_of.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        function(&raw)
    }
}
