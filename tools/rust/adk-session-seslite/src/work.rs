//! The store's calls, beside the threads of the runtime.

use adk_core::{AdkError, ErrorComponent, Result};

use crate::error::code_of;

/// The outcome of a write, on its way to the future of the call. If that future was dropped, nobody takes the
/// outcome, and it is logged.
struct Outcome<T> {
    call: &'static str,
    session: String,
    result: Option<Result<T>>,
}

impl<T> Outcome<T> {
    fn take(mut self) -> Result<T> {
        self.result.take().expect("it is taken once")
    }
}

impl<T> Drop for Outcome<T> {
    fn drop(&mut self) {
        let (call, session) = (self.call, self.session.as_str());
        match self.result.take() {
            Some(Ok(_)) => tracing::info!(call, session, "succeeded after its future was dropped"),
            Some(Err(error)) => tracing::warn!(call, session, %error, "failed after its future was dropped"),
            None => {}
        }
    }
}

/// The store's calls wait for the disk: they run beside the threads of the runtime, where there is one. Work
/// goes on even if the caller stops waiting.
pub(crate) async fn blocking<T: Send + 'static>(
    component: ErrorComponent,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if tokio::runtime::Handle::try_current().is_err() {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => {
                let (category, code) = code_of(component, seslite::Code::Interrupted);
                Err(AdkError::new(component, category, code, "the runtime was shut down"))
            }
        },
    }
}

/// The same for a call that writes.
pub(crate) async fn write<T: Send + 'static>(
    component: ErrorComponent,
    call: &'static str,
    session: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let session = session.to_owned();
    blocking(component, move || Ok(Outcome { call, session, result: Some(work()) })).await?.take()
}
