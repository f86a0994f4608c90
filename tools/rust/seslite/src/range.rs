use std::ffi::CString;
use std::ptr;

use seslite_sys as sys;

use crate::error::Result;
use crate::raw::sized;
use crate::text::c_string;

/// Selects events. Live, time and sequence apply first, then the newest N of what is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    which: u32,
    newest: i64,
    since_us: i64,
    first_seq: i64,
    last_seq: i64,
}

impl Range {
    /// Every event.
    pub fn all() -> Range {
        Range::default()
    }
    /// No events.
    pub fn none() -> Range {
        Range { which: sys::SES_RANGE_NONE, ..Range::default() }
    }
    /// The newest `count` events.
    pub fn newest(mut self, count: usize) -> Range {
        self.which |= sys::SES_RANGE_NEWEST;
        self.newest = i64::try_from(count).unwrap_or(i64::MAX);
        self
    }
    /// Events whose time, in microseconds since 1970, is this or later.
    pub fn since_us(mut self, time_us: i64) -> Range {
        self.which |= sys::SES_RANGE_SINCE;
        self.since_us = time_us;
        self
    }
    /// Events with these numbers, both included.
    pub fn seq(mut self, first: i64, last: i64) -> Range {
        self.which |= sys::SES_RANGE_SEQ;
        self.first_seq = first;
        self.last_seq = last;
        self
    }
    /// Live events: those that rewinds have left.
    pub fn live(mut self) -> Range {
        self.which |= sys::SES_RANGE_LIVE;
        self
    }

    pub(crate) fn raw(&self) -> sys::ses_range {
        let mut raw: sys::ses_range = sized();
        raw.which = self.which;
        raw.newest = self.newest;
        raw.since_us = self.since_us;
        raw.first_seq = self.first_seq;
        raw.last_seq = self.last_seq;
        raw
    }
}

/// A point of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point<'a> {
    /// After the last event; for a handle after the last that it knows.
    Now,
    /// After the event with this number; 0: as the session was created.
    Seq(i64),
    /// After the event with this id.
    Event(&'a str),
    /// Before the first event of this invocation.
    BeforeInvocation(&'a str),
    /// Before the last turn.
    LastTurn,
}

pub(crate) struct CPoint {
    kind: i32,
    seq: i64,
    id: Option<CString>,
}

impl Point<'_> {
    pub(crate) fn to_c(self) -> Result<CPoint> {
        let (kind, seq, id) = match self {
            Point::Now => (sys::SES_POINT_NOW, 0, None),
            Point::Seq(seq) => (sys::SES_POINT_SEQ, seq, None),
            Point::Event(id) => (sys::SES_POINT_EVENT, 0, Some(c_string("the event id", id)?)),
            Point::BeforeInvocation(id) => {
                (sys::SES_POINT_INVOCATION, 0, Some(c_string("the invocation id", id)?))
            }
            Point::LastTurn => (sys::SES_POINT_LAST_TURN, 0, None),
        };
        Ok(CPoint { kind: kind as i32, seq, id })
    }
}

impl CPoint {
    pub(crate) fn raw(&self) -> sys::ses_point {
        let mut raw: sys::ses_point = sized();
        raw.kind = self.kind;
        raw.seq = self.seq;
        raw.id = self.id.as_ref().map_or(ptr::null(), |id| id.as_ptr());
        raw
    }
}
