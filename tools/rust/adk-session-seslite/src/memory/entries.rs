//! What is remembered, between the entries of adk-memory and the store's events.

use std::collections::HashMap;

use adk_core::{Content, Event, EventActions, LlmResponse, Part, Result};
use adk_memory::MemoryEntry;

use crate::decode::content_and_time;
use crate::encode::event_json;

/// Whether it has text that somebody said. Calls and their responses are not remembered: one of them is that
/// of a tool that loads memory, which would have all that it found before in each later result.
pub(crate) fn is_said(content: &Content) -> bool {
    content.parts.iter().any(|part| matches!(part, Part::Text { text } if !text.is_empty()))
}

/// The event as which an entry is kept.
pub(crate) fn event_of(id: String, entry: MemoryEntry) -> Result<String> {
    event_json(&Event {
        id,
        timestamp: entry.timestamp,
        invocation_id: String::new(),
        branch: String::new(),
        author: entry.author,
        llm_response: LlmResponse { content: Some(entry.content), ..LlmResponse::default() },
        actions: EventActions::default(),
        long_running_tool_ids: Vec::new(),
        llm_request: None,
        provider_metadata: HashMap::new(),
    })
}

/// What an event is remembered as. `None`: nobody said anything in it, or it is beyond what adk-core can
/// hold.
pub(crate) fn entry_of(author: &str, time_us: i64, json: &str) -> Option<MemoryEntry> {
    match content_and_time(json, time_us) {
        Ok(Some((content, timestamp))) if is_said(&content) => {
            Some(MemoryEntry { content, author: author.to_owned(), timestamp })
        }
        Ok(_) => None,
        Err(error) => {
            tracing::warn!(error, "an event cannot be remembered");
            None
        }
    }
}

/// Entries have no equality of their own.
pub(crate) fn is_same(a: &MemoryEntry, b: &MemoryEntry) -> bool {
    a.timestamp == b.timestamp
        && a.author == b.author
        && a.content.role == b.content.role
        && a.content.parts == b.content.parts
}
