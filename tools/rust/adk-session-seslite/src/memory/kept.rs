//! What is remembered, between the entries of adk-memory and the store's events. `lib/memory/README.md` of
//! seslite says how it is kept.

use std::collections::{HashMap, HashSet};

use adk_core::{Content, Event, EventActions, LlmResponse, Part, Result};
use adk_memory::MemoryEntry;
use seslite::Key;
use sha2::{Digest, Sha256};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::UnicodeNormalization;

use crate::decode::content_and_time;
use crate::encode::event_json;

/// The label of a session that is remembered. Its value is the number of the last event that is, or [`ALL`].
pub(crate) const LABEL: &str = "memory";
pub(crate) const ALL: &str = "all";
/// The label of copies that belong to a project, with its id.
pub(crate) const PROJECT: &str = "memory-project";
/// The label of those of them that come from a session, with its id.
pub(crate) const SOURCE: &str = "memory-session";
const PREFIX: &str = "memory:";
const NOTES: &str = "notes";
const HASHED: &str = "sha256:";
const ID_MAX: usize = 512;
/// Words that a search takes, and characters of one, so that they are less than the 64 KiB that it takes.
const WORDS_MAX: usize = 100;
const WORD_MAX: usize = 128;

// --------------------------------------------------------------------------------------------- sessions

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id of the session that keeps copies of another one's events, or entries that come from none.
pub(crate) fn kept_in(session: Option<&str>) -> String {
    let Some(session) = session else {
        return format!("{PREFIX}{NOTES}");
    };
    if session == NOTES || session.starts_with(HASHED) || PREFIX.len() + session.len() > ID_MAX {
        return format!("{PREFIX}{HASHED}{}", sha256(session));
    }
    format!("{PREFIX}{session}")
}

/// The id of the session that keeps those of a project.
pub(crate) fn kept_in_project(project: &str, session: Option<&str>) -> String {
    let source = session.map_or_else(|| NOTES.to_owned(), |session| format!("{HASHED}{}", sha256(session)));
    format!("{PROJECT}:{}:{source}", sha256(project))
}

/// Whether a session is for memory alone, so that session services do not list it.
pub(crate) fn is_for_memory<'a>(mut labels: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    labels.any(|(name, value)| name == PROJECT || (name == LABEL && value == ALL))
}

/// Whether it keeps copies that belong to no project.
pub(crate) fn is_kept(key: Key<'_>, label: &str) -> bool {
    label == ALL && key.session.is_some_and(|session| session.starts_with(PREFIX))
}

/// The number of the last event that is remembered.
pub(crate) fn number_of(label: &str) -> i64 {
    if label == ALL {
        return i64::MAX;
    }
    let is_number = label.len() <= 18 && label.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        label.parse().unwrap_or(0)
    } else {
        0
    }
}

// ------------------------------------------------------------------------------------- events, entries

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

// ----------------------------------------------------------------------------------------------- words

/// The words to search for, of a query that a model has made, or that is a whole message.
pub(crate) fn words_of(query: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let words =
        query.split_whitespace().filter(|word| word.chars().count() <= WORD_MAX && seen.insert(*word));
    words.take(WORDS_MAX).collect()
}

/// Without case, accents and width.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd().filter(|c| !is_combining_mark(*c) || *c > '\u{36f}').flat_map(char::to_lowercase).collect()
}

fn pieces(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)).filter(|piece| !piece.is_empty())
}

/// How many of the words a text has that the search has found: how well it fits.
pub(crate) struct Fit {
    /// The pieces of each word.
    wanted: Vec<Vec<String>>,
}

impl Fit {
    pub(crate) fn new(words: &[&str]) -> Self {
        let wanted = words.iter().map(|word| pieces(&folded(word)).map(str::to_owned).collect::<Vec<_>>());
        Self { wanted: wanted.filter(|pieces| !pieces.is_empty()).collect() }
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        let text = folded(text);
        let found: HashSet<&str> = pieces(&text).collect();
        let has = |piece: &String| {
            found.contains(piece.as_str()) || (!piece.is_ascii() && text.contains(piece.as_str()))
        };
        self.wanted.iter().filter(|pieces| pieces.iter().all(has)).count()
    }

    /// The share of the words.
    pub(crate) fn score(&self, count: usize) -> f32 {
        count as f32 / self.wanted.len().max(1) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_other_languages() {
        assert_eq!(kept_in(None), "memory:notes");
        assert_eq!(kept_in(Some("s1")), "memory:s1");
        assert_eq!(kept_in(Some("notes")).len(), "memory:sha256:".len() + 64);
        assert_eq!(kept_in(Some(&"x".repeat(505))).len(), 512);
        assert!(kept_in(Some(&"x".repeat(506))).starts_with("memory:sha256:"));
        assert!(kept_in(Some("sha256:x")).starts_with("memory:sha256:"));
        assert!(kept_in_project(&"p".repeat(256), Some(&"s".repeat(512))).len() <= ID_MAX);
    }

    #[test]
    fn words_are_counted_without_case_and_accents() {
        let fit = Fit::new(&words_of("CAFÉ  au-lait 天气 café"));
        assert_eq!(fit.count("Un cafe"), 2);
        assert_eq!(fit.count("au lait"), 1);
        assert_eq!(fit.count("今天天气很好"), 1);
        assert_eq!(fit.count("decaf"), 0);
        assert_eq!(Fit::new(&words_of(" ... ")).score(0), 0.0);
    }
}
