//! What is remembered of a user.

use std::ffi::{c_int, CString};
use std::ptr;

use seslite_sys as sys;

use crate::append::texts;
use crate::delete::{DeleteOptions, Deleted};
use crate::error::{done, opened, Result};
use crate::key::Key;
use crate::raw::{limited, optional_ref};
use crate::search::{Hit, HitPage};
use crate::store::Store;
use crate::text::{c_string_or_null, pointer};

/// How to add to what is remembered.
#[derive(Debug, Clone, Copy, Default)]
pub struct RememberOptions<'a> {
    flags: sys::ses_memory_flags,
    project: Option<&'a str>,
}

impl<'a> RememberOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// What was copied of the session before is forgotten.
    pub fn replace(mut self) -> Self {
        self.flags |= sys::SES_MEMORY_REPLACE;
        self
    }
    /// Also copies events that the session has, from which those given differ.
    pub fn copy(mut self) -> Self {
        self.flags |= sys::SES_MEMORY_COPY;
        self
    }
    /// What is added belongs to this project, and is found only in a search of it.
    pub fn project(mut self, id: &'a str) -> Self {
        self.project = Some(id);
        self
    }
}

/// What to find of what is remembered.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecallOptions<'a> {
    project: Option<&'a str>,
    since_us: Option<i64>,
    before_us: Option<i64>,
    limit: usize,
    snippet_bytes: usize,
}

impl<'a> RecallOptions<'a> {
    /// At most 10 events that belong to no project.
    pub fn new() -> Self {
        Self::default()
    }
    /// Also what belongs to this project.
    pub fn project(mut self, id: &'a str) -> Self {
        self.project = Some(id);
        self
    }
    /// The event's timestamp is this or later.
    pub fn since_us(mut self, time_us: i64) -> Self {
        self.since_us = Some(time_us);
        self
    }
    /// The event's timestamp is earlier than this.
    pub fn before_us(mut self, time_us: i64) -> Self {
        self.before_us = Some(time_us);
        self
    }
    /// Not more than this many hits, which is at most 10,000.
    pub fn limit(mut self, hits: usize) -> Self {
        self.limit = hits;
        self
    }
    /// About how many bytes [`Hit::snippet`] has, at most 64 KiB. Without them there is none.
    pub fn snippet_bytes(mut self, bytes: usize) -> Self {
        self.snippet_bytes = bytes;
        self
    }
}

impl Store {
    /// Remembers the events of a session up to that number, or with 0 up to its newest. Nothing is copied,
    /// and the number is never lowered.
    pub fn remember_session(&self, key: Key<'_>, last_seq: i64) -> Result<()> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        done(|error| unsafe {
            sys::ses_memory_add_session(self.raw(), &key.raw(), last_seq, &options, error)
        })
    }

    /// Remembers events of a session, which need not be in the store, or without one as notes. Returns how
    /// many were not remembered before. Events in which nobody said anything are passed over.
    pub fn remember_events(
        &self,
        key: Key<'_>,
        events: &[&str],
        options: &RememberOptions<'_>,
    ) -> Result<usize> {
        let project = c_string_or_null("the project", options.project)?;
        let (key, raw, events) = (key.to_c()?, self.remember_options(options, &project), texts(events));
        let mut added = 0;
        done(|error| unsafe {
            sys::ses_memory_add_events(
                self.raw(),
                &key.raw(),
                events.as_ptr(),
                events.len(),
                &raw,
                &mut added,
                error,
            )
        })?;
        Ok(added)
    }

    /// Remembers a text as a note of the user.
    pub fn remember(&self, key: Key<'_>, text: &str, options: &RememberOptions<'_>) -> Result<()> {
        let project = c_string_or_null("the project", options.project)?;
        let (key, raw) = (key.to_c()?, self.remember_options(options, &project));
        done(|error| unsafe {
            sys::ses_memory_add(self.raw(), &key.raw(), text.as_ptr().cast(), text.len(), &raw, error)
        })
    }

    fn remember_options(
        &self,
        options: &RememberOptions<'_>,
        project: &Option<CString>,
    ) -> sys::ses_memory_add_options {
        let mut raw: sys::ses_memory_add_options = limited(&self.limits);
        raw.flags = options.flags;
        raw.project = pointer(project);
        raw
    }

    /// Finds what is remembered of a user and has at least one word of a query, which may be a whole message.
    /// Events with most of its words come first, among these the latest.
    pub fn recall(
        &self,
        app: &str,
        user: &str,
        query: &str,
        options: &RecallOptions<'_>,
    ) -> Result<Vec<Hit>> {
        self.recalled(app, user, options, |names, raw, page, error| unsafe {
            let (text, len) = (query.as_ptr().cast(), query.len());
            sys::ses_memory_search(self.raw(), names.app, names.user, text, len, raw, page, error)
        })
    }

    /// Lists the latest of what is remembered of a user.
    pub fn remembered(&self, app: &str, user: &str, options: &RecallOptions<'_>) -> Result<Vec<Hit>> {
        self.recalled(app, user, options, |names, raw, page, error| unsafe {
            sys::ses_memory_list(self.raw(), names.app, names.user, raw, page, error)
        })
    }

    fn recalled<F>(&self, app: &str, user: &str, options: &RecallOptions<'_>, find: F) -> Result<Vec<Hit>>
    where
        F: FnOnce(
            &sys::ses_key,
            &sys::ses_memory_options,
            *mut *mut sys::ses_hits,
            *mut sys::ses_error,
        ) -> c_int,
    {
        let (key, project) =
            (Key::user(app, user).to_c()?, c_string_or_null("the project", options.project)?);
        let mut raw: sys::ses_memory_options = limited(&self.limits);
        raw.project = pointer(&project);
        raw.since_us = optional_ref(&options.since_us);
        raw.before_us = optional_ref(&options.before_us);
        raw.limit = options.limit;
        raw.snippet_bytes = options.snippet_bytes;
        let page = HitPage { raw: opened(|page, error| find(&key.raw(), &raw, page, error))? };
        page.hits()
    }

    /// Forgets what is remembered of a session, of a user, or with a project only what belongs to it. The
    /// conversations themselves stay.
    pub fn forget(&self, key: Key<'_>, project: Option<&str>, options: &DeleteOptions) -> Result<Deleted> {
        let (key, project) = (key.to_c()?, c_string_or_null("the project", project)?);
        Deleted::of(options.receipt, |count, erased, error| {
            let mut raw = options.raw(&self.limits);
            let mut own: sys::ses_erased = crate::raw::sized();
            raw.erased = if erased.is_null() { ptr::from_mut(&mut own) } else { erased };
            let code =
                unsafe { sys::ses_memory_forget(self.raw(), &key.raw(), pointer(&project), &raw, error) };
            unsafe { *count = (*raw.erased).sessions };
            code
        })
    }

    /// Forgets single events of what is remembered, by their numbers in a session, as hits have them.
    pub fn forget_events(&self, key: Key<'_>, seqs: &[i64]) -> Result<()> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        done(|error| unsafe {
            sys::ses_memory_forget_events(self.raw(), &key.raw(), seqs.as_ptr(), seqs.len(), &options, error)
        })
    }
}
