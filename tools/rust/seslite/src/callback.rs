//! Closures that the library calls.

use std::any::Any;
use std::ffi::{c_char, c_int, c_void};
use std::io::Read;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;

use seslite_sys as sys;

use crate::error::{Code, Error, Result};

/// A closure that the library calls, and the panic that it ended with. No panic gets into C: the call is
/// ended, and the panic goes on when it has returned.
pub(crate) struct Callback<F> {
    function: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F> Callback<F> {
    pub(crate) fn new(function: F) -> Callback<F> {
        Callback { function, panic: None }
    }

    pub(crate) fn context(&mut self) -> *mut c_void {
        ptr::from_mut(self).cast()
    }

    /// Runs the closure of a context; `None`: it panicked, now or before.
    pub(crate) unsafe fn run<T>(context: *mut c_void, run: impl FnOnce(&mut F) -> T) -> Option<T> {
        let callback = unsafe { &mut *context.cast::<Callback<F>>() };
        if callback.panic.is_some() {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| run(&mut callback.function))) {
            Ok(result) => Some(result),
            Err(panic) => {
                callback.panic = Some(panic);
                None
            }
        }
    }

    pub(crate) fn end<T>(self, result: Result<T>) -> Result<T> {
        match self.panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }
}

pub(crate) fn panicked() -> Error {
    Error::new(Code::Interrupted, "a callback panicked")
}

/// A reader, and what is told of its bytes, if anything.
pub(crate) struct Source<R, F> {
    pub(crate) from: R,
    pub(crate) report: F,
}

/// Reads for the library.
pub(crate) unsafe extern "C" fn read_of<R: Read, F>(
    context: *mut c_void,
    buffer: *mut c_char,
    capacity: usize,
    len: *mut usize,
    error: *mut sys::ses_error,
) -> c_int {
    let read = |source: &mut Source<R, F>| unsafe { read_into(&mut source.from, buffer.cast(), capacity) };
    match unsafe { Callback::run(context, read) }.unwrap_or_else(|| Err(panicked())) {
        Ok(count) => {
            unsafe { *len = count };
            0
        }
        Err(failure) => failure.to_raw(error),
    }
}

/// What a reader gives next, into the library's buffer; 0 at the end.
unsafe fn read_into(from: &mut impl Read, buffer: *mut u8, capacity: usize) -> Result<usize> {
    // A buffer must be initialised before it is read into.
    let buffer = unsafe {
        ptr::write_bytes(buffer, 0, capacity);
        std::slice::from_raw_parts_mut(buffer, capacity)
    };
    loop {
        match from.read(buffer) {
            Err(failure) if failure.kind() == std::io::ErrorKind::Interrupted => {}
            other => return Ok(other?.min(capacity)),
        }
    }
}
