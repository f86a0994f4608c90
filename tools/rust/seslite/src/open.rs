use std::ffi::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::time::Duration;

use seslite_sys as sys;

use crate::limits::limit_ms;
use crate::raw::sized;
use crate::trace::{trace_of, Trace, Tracer};

/// Determines when a write reaches the disk.
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
    /// A write-ahead log where it is safe; a rollback journal on network file systems, or if the file
    /// remembers that one was asked for.
    Auto,
    Wal,
    /// Remembered in the file and its copies, until [`Journal::Wal`] ends that.
    Rollback,
}

type Clock = Box<dyn Fn() -> i64 + Send + Sync>;
type MakeId = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// A key of a file, which is wiped when it is dropped.
struct Key(Box<[u8; sys::SES_KEY_BYTES as usize]>);

impl Drop for Key {
    fn drop(&mut self) {
        for byte in self.0.iter_mut() {
            // Which the compiler may not leave out.
            unsafe { ptr::write_volatile(byte, 0) };
        }
    }
}

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
    timeout_ms: i64,
    trace: Option<Tracer>,
    key: Option<Key>,
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
    /// Opens a file also if it has other names: hard links, or a mount point that is the file itself.
    /// Otherwise it is [`Code::CannotOpen`](crate::Code::CannotOpen), since programs that use different names
    /// lose each other's writes. Only for files that all programs open by the same name.
    pub fn linked(mut self) -> Self {
        self.flags |= sys::SES_OPEN_LINKED;
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
    /// Gives the time of sessions and events that have none, in microseconds since 1970. If it panics, the
    /// system's clock does.
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
    /// How long each call may take that has no time limit of its own; see [`Limits`](crate::Limits).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout_ms = limit_ms(timeout);
        self
    }
    /// Is called at the end of each call that uses the store, on the thread of that call, so several threads
    /// may be in it at the same time. It must not call the library. `ses_open_options` in `seslite.h` says
    /// which calls are not traced. A panic in it is caught: the call returns what it would have returned, and
    /// the next call is traced again.
    ///
    /// ```
    /// use seslite::{OpenOptions, Store};
    ///
    /// # fn main() -> seslite::Result<()> {
    /// let slow = OpenOptions::new().trace(|trace| {
    ///     if trace.wait + trace.work > std::time::Duration::from_millis(100) || trace.error().is_some() {
    ///         eprintln!("{}: {:?} waiting, {:?} working, {:?}", trace.call, trace.wait, trace.work, trace.error());
    ///     }
    /// });
    /// let store = Store::open_with(":memory:", slow)?;
    /// # drop(store);
    /// # Ok(())
    /// # }
    /// ```
    pub fn trace(mut self, trace: impl Fn(&Trace) + Send + Sync + 'static) -> Self {
        self.trace = Some(Box::new(trace));
        self
    }

    /// Encrypts the file, where SQLite3 Multiple Ciphers is linked in place of SQLite; elsewhere the store is
    /// [`Code::Unsupported`](crate::Code::Unsupported). The crate `seslite-sys` says how. The copy in here is
    /// wiped.
    pub fn key(mut self, key: &[u8; sys::SES_KEY_BYTES as usize]) -> Self {
        self.key = Some(Key(Box::new(*key)));
        self
    }

    pub(crate) fn into_raw(self) -> (sys::ses_open_options, Callbacks) {
        let mut raw: sys::ses_open_options = sized();
        raw.flags = self.flags;
        raw.synchronous = self.synchronous;
        raw.journal = self.journal;
        raw.busy_timeout_ms = self.busy_timeout_ms;
        raw.max_event_bytes = self.max_event_bytes;
        raw.max_readers = self.max_readers;
        raw.max_session_events = self.max_session_events;
        raw.timeout_ms = self.timeout_ms;
        if self.external_checkpoints {
            raw.checkpoint = sys::SES_CHECKPOINT_EXTERNAL as c_int;
        }
        if let Some(key) = &self.key {
            raw.key = key.0.as_ptr().cast();
            raw.key_len = key.0.len();
        }
        let callbacks = Callbacks {
            clock: self.clock.map(Box::new),
            make_id: self.make_id.map(Box::new),
            trace: self.trace.map(Box::new),
            _key: self.key,
        };
        if let Some(clock) = &callbacks.clock {
            raw.clock = Some(clock_of);
            raw.clock_context = ptr::from_ref::<Clock>(clock).cast_mut().cast();
        }
        if let Some(make_id) = &callbacks.make_id {
            raw.make_id = Some(make_id_of);
            raw.make_id_context = ptr::from_ref::<MakeId>(make_id).cast_mut().cast();
        }
        if let Some(trace) = &callbacks.trace {
            raw.trace = Some(trace_of);
            raw.trace_context = ptr::from_ref::<Tracer>(trace).cast_mut().cast();
        }
        (raw, callbacks)
    }
}

/// The callbacks of the store; they live as long as the store.
pub(crate) struct Callbacks {
    // Boxes of boxes: the library has thin pointers.
    clock: Option<Box<Clock>>,
    make_id: Option<Box<MakeId>>,
    trace: Option<Box<Tracer>>,
    _key: Option<Key>, // for as long as the store is being opened
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
