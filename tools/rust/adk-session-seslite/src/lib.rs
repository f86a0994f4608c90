#![doc = include_str!("../README.md")]
// AdkError is that large; adk-session does the same.
#![allow(clippy::result_large_err)]
#![deny(missing_docs, unsafe_code)]

mod artifact;
mod decode;
mod encode;
mod error;
mod memory;
mod parts;
mod service;
mod session;
mod time;
mod work;

pub use artifact::SesliteArtifactService;
pub use memory::SesliteMemoryService;
pub use service::SesliteSessionService;
pub use seslite;
