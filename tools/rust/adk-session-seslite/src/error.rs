use adk_core::{AdkError, ErrorCategory, ErrorComponent};
use seslite::{Code, Error};

/// A code of each component.
macro_rules! names {
    ($name:literal) => {
        [concat!("session.", $name), concat!("artifact.", $name), concat!("memory.", $name)]
    };
}

/// The ADK's category and code for a code of the store.
pub(crate) fn code_of(component: ErrorComponent, code: Code) -> (ErrorCategory, &'static str) {
    let (category, [session, artifact, memory]) = match code {
        Code::NotFound => (ErrorCategory::NotFound, names!("not_found")),
        Code::Exists => (ErrorCategory::InvalidInput, names!("exists")),
        Code::Invalid | Code::Json | Code::Type | Code::Range | Code::Limit => {
            (ErrorCategory::InvalidInput, names!("invalid_input"))
        }
        Code::Busy => (ErrorCategory::Unavailable, names!("busy")),
        Code::Stale => (ErrorCategory::Unavailable, names!("stale")),
        Code::Leased => (ErrorCategory::Unavailable, names!("leased")),
        Code::Interrupted => (ErrorCategory::Cancelled, names!("interrupted")),
        _ => (ErrorCategory::Internal, names!("store")),
    };
    let name = match component {
        ErrorComponent::Artifact => artifact,
        ErrorComponent::Memory => memory,
        _ => session,
    };
    (category, name)
}

fn error_of(component: ErrorComponent, error: Error) -> AdkError {
    let (category, code) = code_of(component, error.code());
    let message = format!("{} ({})", error.message(), error.code().name());
    AdkError::new(component, category, code, message).with_source(error)
}

/// The ADK's error for one of the store. The store's error, with its code, is the source.
pub(crate) fn adk_error(error: Error) -> AdkError {
    error_of(ErrorComponent::Session, error)
}

pub(crate) fn artifact_error(error: Error) -> AdkError {
    error_of(ErrorComponent::Artifact, error)
}

pub(crate) fn memory_error(error: Error) -> AdkError {
    error_of(ErrorComponent::Memory, error)
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
