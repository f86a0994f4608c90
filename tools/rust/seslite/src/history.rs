use std::ffi::c_int;
use std::ptr::NonNull;

use seslite_sys as sys;

use crate::erase::{Erased, Receipt};
use crate::error::{opened, Result};
use crate::event::Event;
use crate::limits::Limits;
use crate::range::Range;
use crate::raw::{limited, optional_ref};

pub(crate) fn as_of(limits: &Limits, shared: bool) -> sys::ses_as_of_options {
    let mut raw: sys::ses_as_of_options = limited(limits);
    raw.flags = if shared { sys::SES_AS_OF_SHARED } else { 0 };
    raw
}

/// How to cut.
#[derive(Debug, Clone, Copy, Default)]
pub struct CutOptions {
    flags: u32,
    version: i64,
    pub(crate) receipt: bool,
}

impl CutOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// An outdated handle catches up in the same transaction.
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
    /// Overwrites what is deleted.
    pub fn secure(mut self) -> Self {
        self.flags |= sys::SES_SECURE;
        self
    }
    /// Asks for a receipt, which takes time: forks are looked for.
    pub fn receipt(mut self) -> Self {
        self.receipt = true;
        self
    }

    pub(crate) fn raw(&self, limits: &Limits) -> sys::ses_cut_options {
        let mut raw: sys::ses_cut_options = limited(limits);
        raw.flags = self.flags;
        raw.version = self.version;
        raw
    }
}

/// Events that were deleted, oldest first.
pub struct Popped {
    raw: NonNull<sys::ses_popped>,
    more: bool,
    erased: Option<Erased>,
}

// Copies of the events, which nothing else refers to.
unsafe impl Send for Popped {}

impl Popped {
    pub(crate) fn of(
        receipt: bool,
        pop: impl FnOnce(*mut *mut sys::ses_popped, *mut sys::ses_erased, *mut sys::ses_error) -> c_int,
    ) -> Result<Popped> {
        let mut code = 0;
        let mut receipt = Receipt::new(receipt);
        let raw = opened(|popped, error| {
            code = pop(popped, receipt.raw(), error);
            code
        })?;
        let more = code == sys::SES_MORE;
        Ok(Popped { raw, more, erased: receipt.take(more) })
    }

    pub fn len(&self) -> usize {
        unsafe { sys::ses_popped_count(self.raw.as_ptr()) }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn event(&self, index: usize) -> Option<Event<'_>> {
        unsafe { Event::new(sys::ses_popped_event(self.raw.as_ptr(), index)) }
    }
    pub fn events(&self) -> impl DoubleEndedIterator<Item = Event<'_>> {
        (0..self.len()).filter_map(|index| self.event(index))
    }
    /// After [`CutOptions::secure`]: the write-ahead log could not be emptied; cut again.
    pub fn more(&self) -> bool {
        self.more
    }
    /// The receipt, if one was asked for.
    pub fn erased(&self) -> Option<Erased> {
        self.erased
    }
}

impl Drop for Popped {
    fn drop(&mut self) {
        unsafe { sys::ses_popped_close(self.raw.as_ptr()) };
    }
}

/// How to fork.
#[derive(Debug, Clone, Copy, Default)]
pub struct ForkOptions {
    other_user: bool,
    range: Range,
    created_us: Option<i64>,
    expires_us: Option<i64>,
}

impl ForkOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// The new session may belong to another user.
    pub fn other_user(mut self) -> Self {
        self.other_user = true;
        self
    }
    /// The events that the new handle holds.
    pub fn range(mut self, range: Range) -> Self {
        self.range = range;
        self
    }
    /// The time of creation; otherwise the store's clock gives it.
    pub fn created_us(mut self, time_us: i64) -> Self {
        self.created_us = Some(time_us);
        self
    }
    /// When it expires; `i64::MAX`: never. Otherwise it does when the original does.
    pub fn expires_us(mut self, time_us: i64) -> Self {
        self.expires_us = Some(time_us);
        self
    }

    pub(crate) fn with_raw<T>(
        &self,
        limits: &Limits,
        function: impl FnOnce(*const sys::ses_fork_options) -> T,
    ) -> T {
        let range = self.range.raw();
        let mut raw: sys::ses_fork_options = limited(limits);
        raw.flags = if self.other_user { sys::SES_FORK_OTHER_USER } else { 0 };
        raw.range = &range;
        raw.created_us = optional_ref(&self.created_us);
        raw.expires_us = optional_ref(&self.expires_us);
        function(&raw)
    }
}

/// Selects the events to prune: the longest beginning of the log that matches every member that is set.
#[derive(Debug, Clone, Copy, Default)]
pub struct PruneOptions {
    which: u32,
    flags: u32,
    keep: i64,
    before_us: i64,
    last_seq: i64,
    limit: i64,
    pub(crate) receipt: bool,
}

impl PruneOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// All but the newest events.
    pub fn keep(mut self, count: i64) -> Self {
        self.which |= sys::SES_PRUNE_KEEP;
        self.keep = count;
        self
    }
    /// Up to the first event whose time is this or later.
    pub fn before_us(mut self, time_us: i64) -> Self {
        self.which |= sys::SES_PRUNE_BEFORE;
        self.before_us = time_us;
        self
    }
    /// Events with numbers up to this.
    pub fn up_to(mut self, seq: i64) -> Self {
        self.which |= sys::SES_PRUNE_SEQ;
        self.last_seq = seq;
        self
    }
    /// Only events that a live compaction covers, or that rewinds have taken back.
    pub fn compacted(mut self) -> Self {
        self.which |= sys::SES_PRUNE_COMPACTED;
        self
    }
    /// Overwrites what is deleted.
    pub fn secure(mut self) -> Self {
        self.flags |= sys::SES_SECURE;
        self
    }
    /// Events per transaction.
    pub fn limit(mut self, events: i64) -> Self {
        self.limit = events;
        self
    }
    /// Asks for a receipt, which takes time: forks are looked for.
    pub fn receipt(mut self) -> Self {
        self.receipt = true;
        self
    }

    pub(crate) fn raw(&self, limits: &Limits) -> sys::ses_prune_options {
        let mut raw: sys::ses_prune_options = limited(limits);
        raw.which = self.which;
        raw.flags = self.flags;
        raw.keep = self.keep;
        raw.before_us = self.before_us;
        raw.last_seq = self.last_seq;
        raw.limit = self.limit;
        raw
    }
}
