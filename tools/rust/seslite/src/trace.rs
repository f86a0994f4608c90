use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

use seslite_sys as sys;

use crate::error::{static_text, Code};

/// A call that has ended, for [`OpenOptions::trace`](crate::OpenOptions::trace).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// The name that it has in C, such as "ses_append".
    pub call: &'static str,
    /// The number that it returns in C; a negative one is an error.
    pub code: i32,
    /// How long it waited for locks, connections, a lease, and other calls that write.
    pub wait: Duration,
    /// The rest of its time.
    pub work: Duration,
    /// Of the texts that it gave to statements: events, values, names.
    pub bytes_in: i64,
    /// Of those in the rows that it read.
    pub bytes_out: i64,
}

impl Trace {
    /// The error that the call returned; `None`: it succeeded.
    pub fn error(&self) -> Option<Code> {
        (self.code < 0).then(|| Code::from_number(self.code))
    }

    fn from_raw(raw: &sys::ses_trace) -> Trace {
        Trace {
            call: static_text(raw.call),
            code: raw.code,
            wait: micros(raw.wait_us),
            work: micros(raw.work_us),
            bytes_in: raw.bytes_in,
            bytes_out: raw.bytes_out,
        }
    }
}

fn micros(us: i64) -> Duration {
    Duration::from_micros(us.try_into().unwrap_or(0))
}

pub(crate) type Tracer = Box<dyn Fn(&Trace) + Send + Sync>;

pub(crate) unsafe extern "C" fn trace_of(context: *mut c_void, trace: *const sys::ses_trace) {
    let (tracer, trace) = unsafe { (&*context.cast::<Tracer>(), Trace::from_raw(&*trace)) };
    // The call has its result already, which a panic must not change.
    let _ = catch_unwind(AssertUnwindSafe(|| tracer(&trace)));
}
