//! Adding to what is remembered.

use adk_core::{AdkError, ErrorCategory, ErrorComponent, Result};
use adk_memory::MemoryEntry;
use seslite::{AppendOptions, Code, Conflict, CreateOptions, Key, LoadOptions, Loaded, LoadedEvent, Range};

use super::kept::{entry_of, event_of, is_same, kept_in};
use super::{Place, SesliteMemoryService};
use crate::error::memory_error;

impl SesliteMemoryService {
    /// The number of the event with which the last of these entries was said in the session, if they are what
    /// was said there from its beginning on.
    pub(super) fn said_in(&self, key: Key<'_>, entries: &[MemoryEntry]) -> seslite::Result<Option<i64>> {
        let mut cursor = match self.store.cursor(key, Range::all().live()) {
            Ok(cursor) => cursor,
            Err(error) if error.code() == Code::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut left = entries.iter();
        let mut wanted = left.next();
        while let Some(event) = cursor.advance()? {
            let Some(said) =
                event.json().ok().and_then(|json| entry_of(event.author(), event.time_us(), json))
            else {
                continue;
            };
            if !wanted.is_some_and(|wanted| is_same(wanted, &said)) {
                return Ok(None);
            }
            wanted = left.next();
            if wanted.is_none() {
                return Ok(Some(event.seq()));
            }
        }
        Ok(None)
    }

    pub(super) fn check_place(&self, key: Key<'_>, place: &Place<'_>) -> Result<()> {
        let (name, value) = place.labels[0];
        let found = match self.store.get_range(key, Range::none()) {
            Ok(session) => session.label(name).map_err(memory_error)?.map(str::to_owned),
            Err(error) if error.code() == Code::NotFound => return Ok(()),
            Err(error) => return Err(memory_error(error)),
        };
        if found.as_deref() == Some(value) {
            return Ok(());
        }
        let message = format!("session '{}' exists, but without the label {name}={value}", place.id);
        Err(AdkError::new(ErrorComponent::Memory, ErrorCategory::InvalidInput, "memory.exists", message))
    }

    /// Copies take the place of those that there are.
    pub(super) fn replace(&self, whose: Key<'_>, place: &Place<'_>, entries: Vec<MemoryEntry>) -> Result<()> {
        let key = Key::new(whose.app, whose.user, &place.id);
        self.check_place(key, place)?;
        let events = entries.into_iter().map(|entry| {
            let json = event_of(self.store.make_id().map_err(memory_error)?, entry)?;
            Ok(LoadedEvent { json, ..LoadedEvent::default() })
        });
        let mut events = events.collect::<Result<Vec<_>>>()?.into_iter();
        let loaded = Loaded { labels: place.labels.clone(), ..Loaded::default() };
        let options = LoadOptions { conflict: Conflict::Replace, ..LoadOptions::default() };
        self.store.load(key, &loaded, || Ok(events.next()), options).map(drop).map_err(memory_error)
    }

    pub(super) fn add_session_now(
        &self,
        key: Key<'_>,
        session: &str,
        entries: Vec<MemoryEntry>,
    ) -> Result<()> {
        let kept = kept_in(Some(session));
        match self.said_in(key, &entries).map_err(memory_error)? {
            Some(seq) => {
                self.remember(key, seq).map_err(memory_error)?;
                self.forget_session(Key::new(key.app, key.user, &kept)).map_err(memory_error)
            }
            None => self.replace(key, &Place::new(Some(session)), entries),
        }
    }

    pub(super) fn add_entry_now(&self, whose: Key<'_>, place: &Place<'_>, entry: MemoryEntry) -> Result<()> {
        let key = Key::new(whose.app, whose.user, &place.id);
        let event = event_of(self.store.make_id().map_err(memory_error)?, entry)?;
        self.append(key, place, &event)
    }

    /// Creates the session of the place if there is none. An event that is there already is not stored again.
    pub(super) fn append(&self, key: Key<'_>, place: &Place<'_>, event: &str) -> Result<()> {
        let options =
            place.labels.iter().fold(CreateOptions::new().range(Range::none()), |options, (name, value)| {
                options.label(name, value)
            });
        loop {
            self.check_place(key, place)?;
            self.store.get_or_create(key, None, &options).map_err(memory_error)?;
            match self.store.append(key, event, &AppendOptions::new()) {
                Ok(_) => return Ok(()),
                Err(error) if error.code() == Code::Exists => return Ok(()), // that of another program
                Err(error) if error.code() == Code::NotFound => {}           // another forgot it just now
                Err(error) => return Err(memory_error(error)),
            }
        }
    }
}
