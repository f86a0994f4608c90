use adk_core::{AdkError, ErrorCategory, ErrorComponent};
use seslite::{Code, Error};

/// The ADK's error for one of the store. The store's error, with its code, is the source.
pub(crate) fn adk_error(error: Error) -> AdkError {
    let (category, code) = match error.code() {
        Code::NotFound => (ErrorCategory::NotFound, "session.not_found"),
        Code::Exists => (ErrorCategory::InvalidInput, "session.exists"),
        Code::Invalid | Code::Json | Code::Type | Code::Range | Code::Limit => {
            (ErrorCategory::InvalidInput, "session.invalid_input")
        }
        Code::Busy => (ErrorCategory::Unavailable, "session.busy"),
        Code::Stale => (ErrorCategory::Unavailable, "session.stale"),
        Code::Leased => (ErrorCategory::Unavailable, "session.leased"),
        Code::Interrupted => (ErrorCategory::Cancelled, "session.interrupted"),
        _ => (ErrorCategory::Internal, "session.store"),
    };
    let message = format!("{} ({})", error.message(), error.code().name());
    AdkError::new(ErrorComponent::Session, category, code, message).with_source(error)
}

pub(crate) fn not_found(app: &str, user: &str, session: &str) -> AdkError {
    AdkError::not_found(
        ErrorComponent::Session,
        "session.not_found",
        format!("session '{session}' was not found for app '{app}' and user '{user}'"),
    )
}

pub(crate) fn invalid(code: &'static str, message: impl Into<String>) -> AdkError {
    AdkError::new(ErrorComponent::Session, ErrorCategory::InvalidInput, code, message)
}

/// The stored data cannot be represented in adk-session.
pub(crate) fn unreadable(message: impl Into<String>) -> AdkError {
    AdkError::new(ErrorComponent::Session, ErrorCategory::Internal, "session.unreadable", message)
}
