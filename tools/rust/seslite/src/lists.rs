//! Lists of sessions and of names.

use std::ffi::{c_int, CString};
use std::ptr;

use seslite_sys as sys;

use crate::error::{call, Result};
use crate::key::{CKey, Key};
use crate::limits::Limits;
use crate::page::{Names, Page};
use crate::raw::{limited, optional_ref, sized};
use crate::store::Store;
use crate::text::{c_string, c_string_or_null, pointer};

/// The kind of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Conversation,
    /// It belongs to another session, such as that of a sub-agent.
    Child,
    Memory,
}

impl Kind {
    fn raw(self) -> sys::ses_kind {
        match self {
            Kind::Conversation => sys::SES_KIND_CONVERSATION,
            Kind::Child => sys::SES_KIND_CHILD,
            Kind::Memory => sys::SES_KIND_MEMORY,
        }
    }
    pub(crate) fn from_raw(kind: c_int) -> Self {
        match kind as sys::ses_kind {
            sys::SES_KIND_CHILD => Kind::Child,
            sys::SES_KIND_MEMORY => Kind::Memory,
            _ => Kind::Conversation,
        }
    }
}

/// Selects the sessions that match every member that is set.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    label: Option<&'a str>,
    label_value: Option<&'a str>,
    id_prefix: Option<&'a str>,
    updated_since_us: Option<i64>,
    updated_before_us: Option<i64>,
    changed_since_us: Option<i64>,
    changed_before_us: Option<i64>,
    without_label: Option<&'a str>,
    archived: Option<bool>,
    kinds: sys::ses_kind,
    remembered: bool,
    child_of: Option<Key<'a>>,
}

impl<'a> Filter<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// The session has this label.
    pub fn label(mut self, name: &'a str) -> Self {
        self.label = Some(name);
        self
    }
    /// The session has this label with this value.
    pub fn label_value(mut self, name: &'a str, value: &'a str) -> Self {
        self.label = Some(name);
        self.label_value = Some(value);
        self
    }
    pub fn id_prefix(mut self, prefix: &'a str) -> Self {
        self.id_prefix = Some(prefix);
        self
    }
    pub fn updated_since_us(mut self, time_us: i64) -> Self {
        self.updated_since_us = Some(time_us);
        self
    }
    pub fn updated_before_us(mut self, time_us: i64) -> Self {
        self.updated_before_us = Some(time_us);
        self
    }
    /// It was last written at this time or later, by the store's clock.
    pub fn changed_since_us(mut self, time_us: i64) -> Self {
        self.changed_since_us = Some(time_us);
        self
    }
    pub fn changed_before_us(mut self, time_us: i64) -> Self {
        self.changed_before_us = Some(time_us);
        self
    }
    /// The session has no label with this name.
    pub fn without_label(mut self, name: &'a str) -> Self {
        self.without_label = Some(name);
        self
    }
    /// The session is in the archive, or it is not.
    pub fn archived(mut self, archived: bool) -> Self {
        self.archived = Some(archived);
        self
    }

    /// Some of the session is remembered, or it is memory.
    pub fn remembered(mut self) -> Self {
        self.remembered = true;
        self
    }

    /// The session is of one of these kinds.
    pub fn kinds(mut self, kinds: &[Kind]) -> Self {
        self.kinds = kinds.iter().fold(0, |all, kind| all | kind.raw());
        self
    }
    /// The session is a child of this one.
    pub fn child_of(mut self, key: Key<'a>) -> Self {
        self.child_of = Some(key);
        self
    }

    pub(crate) fn to_c(self) -> Result<CFilter> {
        Ok(CFilter {
            label: c_string_or_null("the label", self.label)?,
            label_value: c_string_or_null("the label's value", self.label_value)?,
            id_prefix: c_string_or_null("the prefix", self.id_prefix)?,
            updated_since_us: self.updated_since_us,
            updated_before_us: self.updated_before_us,
            changed_since_us: self.changed_since_us,
            changed_before_us: self.changed_before_us,
            without_label: c_string_or_null("the label", self.without_label)?,
            archived: match self.archived {
                None => sys::SES_ARCHIVED_ANY,
                Some(false) => sys::SES_ARCHIVED_NO,
                Some(true) => sys::SES_ARCHIVED_ONLY,
            },
            kinds: self.kinds,
            remembered: self.remembered,
            child_of: self.child_of.map(Key::to_c).transpose()?.map(|of| (of.raw(), of)),
        })
    }
}

/// The same as the library takes it.
pub(crate) struct CFilter {
    label: Option<CString>,
    label_value: Option<CString>,
    id_prefix: Option<CString>,
    updated_since_us: Option<i64>,
    updated_before_us: Option<i64>,
    changed_since_us: Option<i64>,
    changed_before_us: Option<i64>,
    without_label: Option<CString>,
    archived: sys::ses_archived,
    kinds: sys::ses_kind,
    remembered: bool,
    child_of: Option<(sys::ses_key, CKey)>,
}

impl CFilter {
    pub(crate) fn raw(&self) -> sys::ses_filter {
        let mut raw: sys::ses_filter = sized();
        raw.label = pointer(&self.label);
        raw.label_value = pointer(&self.label_value);
        raw.id_prefix = pointer(&self.id_prefix);
        raw.updated_since_us = optional_ref(&self.updated_since_us);
        raw.updated_before_us = optional_ref(&self.updated_before_us);
        raw.changed_since_us = optional_ref(&self.changed_since_us);
        raw.changed_before_us = optional_ref(&self.changed_before_us);
        raw.without_label = pointer(&self.without_label);
        raw.archived = self.archived as c_int;
        raw.kinds = self.kinds;
        raw.remembered = self.remembered.into();
        raw.child_of = self.child_of.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        raw
    }
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Newest update first.
    #[default]
    Newest,
    /// Oldest update first.
    Oldest,
    /// In the order of creation.
    Created,
    /// Last written first, by the store's clock, whatever times the events have. It has no index: each page
    /// looks at all sessions of the app or user.
    Changed,
}

/// How to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListOptions<'a> {
    order: Order,
    limit: usize,
    token: Option<&'a str>,
    no_state: bool,
    filter: Filter<'a>,
    preview_bytes: Option<usize>,
}

impl<'a> ListOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }
    /// Sessions per page, at most 10,000; 100 if it is not set.
    pub fn limit(mut self, sessions: usize) -> Self {
        self.limit = sessions;
        self
    }
    /// The token of the page before.
    pub fn token(mut self, token: &'a str) -> Self {
        self.token = Some(token);
        self
    }
    pub fn without_state(mut self) -> Self {
        self.no_state = true;
        self
    }
    pub fn filter(mut self, filter: Filter<'a>) -> Self {
        self.filter = filter;
        self
    }
    /// With the previews of the sessions, whose texts have at most so many bytes: at most 4,096, and 200 for 0.
    pub fn preview(mut self, bytes: usize) -> Self {
        self.preview_bytes = Some(bytes);
        self
    }

    pub(crate) fn with_raw<T>(
        &self,
        limits: &Limits,
        function: impl FnOnce(*const sys::ses_list_options) -> Result<T>,
    ) -> Result<T> {
        let token = c_string_or_null("the token", self.token)?;
        let filter = self.filter.to_c()?;
        let filter = filter.raw();
        let mut raw: sys::ses_list_options = limited(limits);
        raw.order = match self.order {
            Order::Newest => sys::SES_ORDER_NEWEST,
            Order::Oldest => sys::SES_ORDER_OLDEST,
            Order::Created => sys::SES_ORDER_CREATED,
            Order::Changed => sys::SES_ORDER_CHANGED,
        } as c_int;
        raw.limit = self.limit;
        raw.token = pointer(&token);
        raw.flags = if self.no_state { sys::SES_LIST_NO_STATE } else { 0 }
            | if self.preview_bytes.is_some() { sys::SES_LIST_PREVIEW } else { 0 };
        raw.preview_bytes = self.preview_bytes.unwrap_or(0);
        raw.filter = &filter;
        function(&raw)
    }
}

impl Store {
    /// Lists one page of the sessions of a user, or of all users of the app.
    pub fn list(&self, app: &str, user: Option<&str>, options: &ListOptions<'_>) -> Result<Page> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        options.with_raw(&self.limits, |options| {
            Page::open(|page, error| unsafe {
                sys::ses_list(self.raw(), app.as_ptr(), pointer(&user), options, page, error)
            })
        })
    }
    /// Counts the sessions that a list would have on all pages.
    pub fn count(&self, app: &str, user: Option<&str>, filter: &Filter<'_>) -> Result<i64> {
        let (app, user) = (c_string("the app", app)?, c_string_or_null("the user", user)?);
        let (filter, options) = (filter.to_c()?, self.limits.call_options());
        let mut count = 0;
        call(|error| unsafe {
            sys::ses_list_count(
                self.raw(),
                app.as_ptr(),
                pointer(&user),
                &filter.raw(),
                &options,
                &mut count,
                error,
            )
        })?;
        Ok(count)
    }
    /// One page of the names of apps: those after `after` that begin with `prefix`. `limit` 0: 100.
    pub fn apps(&self, after: Option<&str>, prefix: Option<&str>, limit: usize) -> Result<Names> {
        self.names(after, prefix, limit, |options, names, error| unsafe {
            sys::ses_list_apps(self.raw(), options, names, error)
        })
    }
    /// One page of the names of an app's users.
    pub fn users(&self, app: &str, after: Option<&str>, prefix: Option<&str>, limit: usize) -> Result<Names> {
        let app = c_string("the app", app)?;
        self.names(after, prefix, limit, |options, names, error| unsafe {
            sys::ses_list_users(self.raw(), app.as_ptr(), options, names, error)
        })
    }
    fn names(
        &self,
        after: Option<&str>,
        prefix: Option<&str>,
        limit: usize,
        list: impl FnOnce(*const sys::ses_names_options, *mut *mut sys::ses_names, *mut sys::ses_error) -> i32,
    ) -> Result<Names> {
        let (after, prefix) = (c_string_or_null("the name", after)?, c_string_or_null("the prefix", prefix)?);
        let mut options: sys::ses_names_options = limited(&self.limits);
        options.limit = limit;
        options.after = pointer(&after);
        options.prefix = pointer(&prefix);
        Names::open(|names, error| list(&options, names, error))
    }
}
