//! Closures that the library calls.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;

use crate::error::{Code, Error, Result};

/// A closure that the library calls, and the panic that it ended with. No panic gets into C: the call is ended, and the
/// panic goes on when it has returned.
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
