//! The agent layer: building and reading events, what a model is sent, pending calls, state as callbacks and
//! tools see it, instruction templates. `seslite_agent.h` says what each call does.

mod answer;
mod builder;
mod content;
mod context;
mod template;
mod tracked;

pub use answer::AnswerOptions;
pub use builder::Builder;
pub use content::{Content, Function, Part};
pub use context::{Context, ContextOptions, LeftOut, Pending};
pub use template::RenderOptions;
pub use tracked::Tracked;

use seslite_sys as sys;

use crate::error::{Code, Error};
use crate::text::bytes;

fn nothing() -> Error {
    Error::new(Code::NoMemory, "out of memory")
}

unsafe fn text_of<'a>(text: sys::ses_text) -> Option<&'a str> {
    if text.text.is_null() {
        return None;
    }
    std::str::from_utf8(unsafe { bytes(text.text, text.len) }).ok()
}
