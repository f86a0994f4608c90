use std::ffi::{c_char, c_int, c_void, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;

use seslite_sys as sys;

use crate::error::Result;
use crate::range::Range;
use crate::text::{c_string, c_string_or_null, pointer, size_of, zeroed};

/// When a write reaches the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// Before the call returns; a write survives power loss.
    Full,
    /// Soon after; power loss can lose the last writes, a crash of the process cannot.
    Normal,
}

/// The journal of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// A write-ahead log where it is safe; a rollback journal on network file systems.
    Auto,
    Wal,
    Rollback,
}

type Clock = Box<dyn Fn() -> i64 + Send + Sync>;
type MakeId = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// How to open a store. [`OpenOptions::new`] is as no options.
#[derive(Default)]
pub struct OpenOptions {
    flags: u32,
    synchronous: c_int,
    journal: c_int,
    external_checkpoints: bool,
    busy_timeout_ms: i64,
    max_event_bytes: usize,
    max_readers: u32,
    max_session_events: i64,
    clock: Option<Clock>,
    make_id: Option<MakeId>,
}

impl OpenOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// Every write is [`Code::ReadOnly`](crate::Code::ReadOnly). The file must exist.
    pub fn read_only(mut self) -> Self {
        self.flags |= sys::SES_OPEN_READ_ONLY;
        self
    }
    /// [`Code::NotFound`](crate::Code::NotFound) if the file does not exist.
    pub fn must_exist(mut self) -> Self {
        self.flags |= sys::SES_OPEN_MUST_EXIST;
        self
    }
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = match synchronous {
            Synchronous::Full => sys::SES_SYNC_FULL,
            Synchronous::Normal => sys::SES_SYNC_NORMAL,
        } as c_int;
        self
    }
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = match journal {
            Journal::Auto => sys::SES_JOURNAL_AUTO,
            Journal::Wal => sys::SES_JOURNAL_WAL,
            Journal::Rollback => sys::SES_JOURNAL_ROLLBACK,
        } as c_int;
        self
    }
    /// Another program copies the write-ahead log into the database, such as Litestream.
    pub fn external_checkpoints(mut self) -> Self {
        self.external_checkpoints = true;
        self
    }
    /// How long a call waits for other writers: 10 seconds if it is not set, `0` not at all.
    pub fn busy_timeout_ms(mut self, timeout: u32) -> Self {
        self.busy_timeout_ms = if timeout == 0 { -1 } else { i64::from(timeout) };
        self
    }
    /// The longest event or initial state.
    pub fn max_event_bytes(mut self, bytes: usize) -> Self {
        self.max_event_bytes = bytes;
        self
    }
    /// Connections for reading.
    pub fn max_readers(mut self, readers: u32) -> Self {
        self.max_readers = readers;
        self
    }
    /// The number of events that a session may hold.
    pub fn max_session_events(mut self, events: i64) -> Self {
        self.max_session_events = events;
        self
    }
    /// Gives the time of sessions and events that have none, in microseconds since 1970. If it panics, the system's clock
    /// does.
    pub fn clock(mut self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }
    /// Makes the ids of sessions and events that have none. `None`, and a panic, fail the call with
    /// [`Code::Invalid`](crate::Code::Invalid).
    pub fn make_id(mut self, make_id: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.make_id = Some(Box::new(make_id));
        self
    }

    pub(crate) fn into_raw(self) -> (sys::ses_open_options, Callbacks) {
        let mut raw: sys::ses_open_options = zeroed();
        raw.size = size_of::<sys::ses_open_options>();
        raw.flags = self.flags;
        raw.synchronous = self.synchronous;
        raw.journal = self.journal;
        raw.busy_timeout_ms = self.busy_timeout_ms;
        raw.max_event_bytes = self.max_event_bytes;
        raw.max_readers = self.max_readers;
        raw.max_session_events = self.max_session_events;
        if self.external_checkpoints {
            raw.checkpoint = sys::SES_CHECKPOINT_EXTERNAL as c_int;
        }
        let callbacks = Callbacks { clock: self.clock.map(Box::new), make_id: self.make_id.map(Box::new) };
        if let Some(clock) = &callbacks.clock {
            raw.clock = Some(clock_of);
            raw.clock_context = ptr::from_ref::<Clock>(clock).cast_mut().cast();
        }
        if let Some(make_id) = &callbacks.make_id {
            raw.make_id = Some(make_id_of);
            raw.id_context = ptr::from_ref::<MakeId>(make_id).cast_mut().cast();
        }
        (raw, callbacks)
    }
}

/// What the store calls; it lives as long as the store.
pub(crate) struct Callbacks {
    // Boxes of boxes: the library has thin pointers.
    clock: Option<Box<Clock>>,
    make_id: Option<Box<MakeId>>,
}

unsafe extern "C" fn clock_of(context: *mut c_void) -> i64 {
    let clock = unsafe { &*context.cast::<Clock>() };
    catch_unwind(AssertUnwindSafe(clock)).unwrap_or_else(|_| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
    })
}

unsafe extern "C" fn make_id_of(context: *mut c_void, id: *mut c_char, capacity: usize) -> c_int {
    let make_id = unsafe { &*context.cast::<MakeId>() };
    match catch_unwind(AssertUnwindSafe(make_id)) {
        Ok(Some(made)) if made.len() < capacity && !made.contains('\0') => {
            unsafe {
                ptr::copy_nonoverlapping(made.as_ptr().cast(), id, made.len());
                *id.add(made.len()) = 0;
            }
            0
        }
        _ => 1,
    }
}

/// Labels as the library takes them.
pub(crate) struct CLabels {
    _texts: Vec<(CString, Option<CString>)>,
    raw: Vec<sys::ses_label>,
}

impl CLabels {
    pub(crate) fn new(labels: &[(&str, Option<&str>)]) -> Result<CLabels> {
        let texts = labels
            .iter()
            .map(|(name, value)| Ok((c_string("the label", name)?, c_string_or_null("the label's value", *value)?)))
            .collect::<Result<Vec<_>>>()?;
        // Moving a CString does not move its bytes.
        let raw =
            texts.iter().map(|(name, value)| sys::ses_label { name: name.as_ptr(), value: pointer(value) }).collect();
        Ok(CLabels { _texts: texts, raw })
    }
    pub(crate) fn as_ptr(&self) -> *const sys::ses_label {
        if self.raw.is_empty() {
            return ptr::null();
        }
        self.raw.as_ptr()
    }
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }
}

/// How to create a session.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions<'a> {
    range: Range,
    create_us: Option<i64>,
    expires_us: Option<i64>,
    title: Option<&'a str>,
    labels: Vec<(&'a str, Option<&'a str>)>,
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
    pub fn create_us(mut self, time_us: i64) -> Self {
        self.create_us = Some(time_us);
        self
    }
    /// When the session may be removed.
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

    pub(crate) fn with_raw<T>(&self, function: impl FnOnce(*const sys::ses_create_options) -> Result<T>) -> Result<T> {
        let range = self.range.raw();
        let title = c_string_or_null("the title", self.title)?;
        let labels = CLabels::new(&self.labels)?;
        let mut raw: sys::ses_create_options = zeroed();
        raw.size = size_of::<sys::ses_create_options>();
        raw.range = &range;
        raw.create_us = self.create_us.as_ref().map_or(ptr::null(), ptr::from_ref);
        raw.expires_us = self.expires_us.as_ref().map_or(ptr::null(), ptr::from_ref);
        raw.title = pointer(&title);
        raw.labels = labels.as_ptr();
        raw.label_count = labels.len();
        function(&raw)
    }
}

/// Selects sessions: those for which everything holds that is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    label: Option<&'a str>,
    label_value: Option<&'a str>,
    id_prefix: Option<&'a str>,
    updated_since_us: Option<i64>,
    updated_before_us: Option<i64>,
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

    pub(crate) fn with_raw<T>(&self, function: impl FnOnce(*const sys::ses_filter) -> Result<T>) -> Result<T> {
        let label = c_string_or_null("the label", self.label)?;
        let value = c_string_or_null("the label's value", self.label_value)?;
        let prefix = c_string_or_null("the prefix", self.id_prefix)?;
        let mut raw: sys::ses_filter = zeroed();
        raw.size = size_of::<sys::ses_filter>();
        raw.label = pointer(&label);
        raw.label_value = pointer(&value);
        raw.id_prefix = pointer(&prefix);
        raw.updated_since_us = self.updated_since_us.as_ref().map_or(ptr::null(), ptr::from_ref);
        raw.updated_before_us = self.updated_before_us.as_ref().map_or(ptr::null(), ptr::from_ref);
        function(&raw)
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
}

/// How to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListOptions<'a> {
    order: Order,
    limit: usize,
    token: Option<&'a str>,
    no_state: bool,
    filter: Filter<'a>,
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

    pub(crate) fn with_raw<T>(&self, function: impl FnOnce(*const sys::ses_list_options) -> Result<T>) -> Result<T> {
        let token = c_string_or_null("the token", self.token)?;
        self.filter.with_raw(|filter| {
            let mut raw: sys::ses_list_options = zeroed();
            raw.size = size_of::<sys::ses_list_options>();
            raw.order = match self.order {
                Order::Newest => sys::SES_ORDER_NEWEST,
                Order::Oldest => sys::SES_ORDER_OLDEST,
                Order::Created => sys::SES_ORDER_CREATED,
            } as c_int;
            raw.limit = self.limit;
            raw.token = pointer(&token);
            raw.flags = if self.no_state { sys::SES_LIST_NO_STATE } else { 0 };
            raw.filter = filter;
            function(&raw)
        })
    }
}

/// What [`Store::expire`](crate::Store::expire) removes besides sessions whose time has come.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExpireOptions {
    now_us: Option<i64>,
    idle_us: i64,
    sessions_per_user: i64,
    limit: i64,
    secure: bool,
}

impl ExpireOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// The caller's clock.
    pub fn now_us(mut self, time_us: i64) -> Self {
        self.now_us = Some(time_us);
        self
    }
    /// Also sessions whose last update is longer ago.
    pub fn idle_us(mut self, us: i64) -> Self {
        self.idle_us = us;
        self
    }
    /// Also the least recently updated sessions of a user beyond so many.
    pub fn sessions_per_user(mut self, sessions: i64) -> Self {
        self.sessions_per_user = sessions;
        self
    }
    /// Sessions per call.
    pub fn limit(mut self, sessions: i64) -> Self {
        self.limit = sessions;
        self
    }
    /// Overwrites what is deleted.
    pub fn secure(mut self) -> Self {
        self.secure = true;
        self
    }

    pub(crate) fn with_raw<T>(&self, function: impl FnOnce(*const sys::ses_expire_options) -> T) -> T {
        let mut raw: sys::ses_expire_options = zeroed();
        raw.size = size_of::<sys::ses_expire_options>();
        raw.flags = if self.secure { sys::SES_DELETE_SECURE } else { 0 };
        raw.now_us = self.now_us.as_ref().map_or(ptr::null(), ptr::from_ref);
        raw.idle_us = self.idle_us;
        raw.sessions_per_user = self.sessions_per_user;
        raw.limit = self.limit;
        function(&raw)
    }
}
