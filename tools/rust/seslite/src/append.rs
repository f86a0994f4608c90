use std::ffi::{c_int, CString};
use std::ptr;

use seslite_sys as sys;

use crate::artifact::Artifacts;
use crate::error::{call, Code, Result};
use crate::labels::CLabels;
use crate::limits::Limits;
use crate::raw::{limited, zeroed};
use crate::text::{c_string_or_null, name, optional_bytes, pointer};

/// The outcome of appending an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Stored,
    /// The event is `partial`: nothing was stored or applied.
    Partial,
    /// The same event was stored before; nothing was written again.
    Duplicate,
    /// Of a rewind: there was nothing to take back.
    Unchanged,
}

/// The result for one event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appended {
    pub status: Status,
    /// The event's number, also of a duplicate; 0 when none is stored.
    pub seq: i64,
    /// The session's version after the call.
    pub version: i64,
    /// The event's time, given or made, in microseconds since 1970.
    pub time_us: i64,
    /// The session's update time after the call.
    pub updated_us: i64,
    /// The id that the library made.
    pub made_id: Option<String>,
}

impl Appended {
    /// A call that appends one event.
    pub(crate) fn of(
        append: impl FnOnce(*mut sys::ses_appended, *mut sys::ses_error) -> c_int,
    ) -> Result<Appended> {
        let made = Appended::all_of(1, append)?;
        Ok(made.into_iter().next().expect("one event has one result"))
    }

    /// A call that appends so many. An error has the ids that were made for them.
    pub(crate) fn all_of(
        count: usize,
        append: impl FnOnce(*mut sys::ses_appended, *mut sys::ses_error) -> c_int,
    ) -> Result<Vec<Appended>> {
        let mut raw: Vec<sys::ses_appended> = (0..count).map(|_| zeroed()).collect();
        let result = call(|error| append(raw.as_mut_ptr(), error));
        let made: Vec<Appended> = raw.iter().map(Appended::from_raw).collect();
        match result {
            Err(mut error) if error.code() == Code::Unknown => {
                error.made_ids = made.into_iter().map(|each| each.made_id.unwrap_or_default()).collect();
                Err(error)
            }
            other => other.map(|_| made),
        }
    }

    pub(crate) fn from_raw(raw: &sys::ses_appended) -> Appended {
        let made = unsafe { name(raw.made_id.as_ptr()) };
        Appended {
            status: match raw.status {
                sys::SES_PARTIAL => Status::Partial,
                sys::SES_DUPLICATE => Status::Duplicate,
                sys::SES_UNCHANGED => Status::Unchanged,
                _ => Status::Stored,
            },
            seq: raw.seq,
            version: raw.version,
            time_us: raw.time_us,
            updated_us: raw.updated_us,
            made_id: (!made.is_empty()).then(|| made.to_owned()),
        }
    }
}

/// How to append. [`AppendOptions::new`] is as no options.
#[derive(Debug, Clone, Copy, Default)]
pub struct AppendOptions<'a> {
    flags: u32,
    version: i64,
    expected: Option<&'a str>,
    delta: Option<&'a str>,
    lease: i64,
    answers: Option<&'a str>,
    title: Option<&'a str>,
    labels: &'a [(&'a str, Option<&'a str>)],
    artifacts: Option<&'a Artifacts>,
}

/// The same as the library takes it, and its texts.
pub(crate) struct CAppendOptions {
    raw: sys::ses_append_options,
    _title: Option<CString>,
    _answers: Option<CString>,
    _labels: CLabels,
}

impl CAppendOptions {
    pub(crate) fn as_ptr(&self) -> *const sys::ses_append_options {
        &self.raw
    }
}

impl<'a> AppendOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// An outdated handle catches up in the same transaction instead of [`Code::Stale`](crate::Code::Stale).
    pub fn anyway(mut self) -> Self {
        self.flags |= sys::SES_ANYWAY;
        self
    }
    /// Only by key: stale unless the session is at this version.
    pub fn at_version(mut self, version: i64) -> Self {
        self.flags |= sys::SES_AT_VERSION;
        self.version = version;
        self
    }
    /// The values of shared keys that the caller has seen, as a JSON object.
    pub fn expected(mut self, json: &'a str) -> Self {
        self.expected = Some(json);
        self
    }
    /// State changes in addition to the event's, as a JSON object. They take precedence.
    pub fn delta(mut self, json: &'a str) -> Self {
        self.delta = Some(json);
        self
    }
    /// The token of a lease.
    pub fn lease(mut self, token: i64) -> Self {
        self.lease = token;
        self
    }
    /// Removes the session's draft in the same transaction, if an event is stored.
    pub fn takes_draft(mut self) -> Self {
        self.flags |= sys::SES_APPEND_TAKES_DRAFT;
        self
    }
    /// Removes the input with this request from the session's inbox in the same transaction, if an event is
    /// stored.
    pub fn answers(mut self, request: &'a str) -> Self {
        self.answers = Some(request);
        self
    }

    /// A title that the session gets in the same transaction, if an event is stored.
    pub fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }
    /// Labels that are set in the same transaction, if an event is stored; those whose value is `None` are
    /// removed.
    pub fn labels(mut self, labels: &'a [(&'a str, Option<&'a str>)]) -> Self {
        self.labels = labels;
        self
    }
    /// Artifacts that are saved in the same transaction, and named in the event's `actions.artifactDelta`. A
    /// batch refuses them with [`Code::Misuse`](crate::Code::Misuse).
    pub fn artifacts(mut self, artifacts: &'a Artifacts) -> Self {
        self.artifacts = Some(artifacts);
        self
    }

    pub(crate) fn to_c(self, limits: &Limits) -> Result<CAppendOptions> {
        let (title, labels) = (c_string_or_null("the title", self.title)?, CLabels::new(self.labels)?);
        let answers = c_string_or_null("the request", self.answers)?;
        let mut raw: sys::ses_append_options = limited(limits);
        raw.flags = self.flags;
        raw.version = self.version;
        (raw.expected, raw.expected_len) = optional_bytes(self.expected);
        (raw.delta, raw.delta_len) = optional_bytes(self.delta);
        raw.lease = self.lease;
        // Moving a CString does not move its bytes.
        raw.title = pointer(&title);
        raw.answers = pointer(&answers);
        raw.labels = labels.as_ptr();
        raw.label_count = labels.len();
        raw.artifacts = self.artifacts.map_or(ptr::null_mut(), Artifacts::raw);
        Ok(CAppendOptions { raw, _title: title, _answers: answers, _labels: labels })
    }
}

/// How to rewind.
#[derive(Debug, Clone, Copy, Default)]
pub struct RewindOptions<'a> {
    flags: u32,
    version: i64,
    artifact_delta: Option<&'a str>,
}

impl<'a> RewindOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// As for [`AppendOptions::anyway`].
    pub fn anyway(mut self) -> Self {
        self.flags |= sys::SES_ANYWAY;
        self
    }
    /// As for [`AppendOptions::at_version`].
    pub fn at_version(mut self, version: i64) -> Self {
        self.flags |= sys::SES_AT_VERSION;
        self.version = version;
        self
    }
    /// The versions that artifacts have after the rewind, as a JSON object.
    pub fn artifact_delta(mut self, json: &'a str) -> Self {
        self.artifact_delta = Some(json);
        self
    }

    pub(crate) fn raw(&self, limits: &Limits) -> sys::ses_rewind_options {
        let mut raw: sys::ses_rewind_options = limited(limits);
        raw.flags = self.flags;
        raw.version = self.version;
        (raw.artifact_delta, raw.artifact_delta_len) = optional_bytes(self.artifact_delta);
        raw
    }
}

pub(crate) fn texts(events: &[&str]) -> Vec<sys::ses_text> {
    events.iter().map(|event| sys::ses_text { text: event.as_ptr().cast(), len: event.len() }).collect()
}
