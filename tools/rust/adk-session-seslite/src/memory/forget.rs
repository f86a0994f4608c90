//! Forgetting.

use std::collections::HashMap;

use adk_core::Result;
use seslite::{DeleteOptions, Filter, Key, Range, RedactOptions};

use super::kept::{entry_of, event_of, kept_in, LABEL, PROJECT, SOURCE};
use super::{ignore_absent, Place, SesliteMemoryService};
use crate::error::memory_error;

impl SesliteMemoryService {
    pub(super) fn forget_user(&self, whose: Key<'_>) -> seslite::Result<()> {
        for id in self.labelled(whose, Filter::new().label(LABEL))? {
            self.forget_session(Key::new(whose.app, whose.user, &id))?;
        }
        for id in self.labelled(whose, Filter::new().label(PROJECT))? {
            self.store.delete(Key::new(whose.app, whose.user, &id), &DeleteOptions::new())?;
        }
        Ok(())
    }

    pub(super) fn forget_of_session(&self, key: Key<'_>, session: &str) -> seslite::Result<()> {
        self.forget_session(key)?;
        self.forget_session(Key::new(key.app, key.user, &kept_in(Some(session))))?;
        for id in self.labelled(key, Filter::new().label_value(SOURCE, session))? {
            self.store.delete(Key::new(key.app, key.user, &id), &DeleteOptions::new())?;
        }
        Ok(())
    }

    /// Those of a session with other events that nobody forgets.
    pub(super) fn rest(&self, key: Key<'_>, number: i64, seqs: &[i64]) -> Result<Vec<String>> {
        let mut cursor = self.store.cursor(key, Range::all().live().seq(1, number)).map_err(memory_error)?;
        let mut rest = Vec::new();
        while let Some(event) = cursor.advance().map_err(memory_error)? {
            let json = event.json().map_err(memory_error)?;
            let entry =
                entry_of(event.author(), event.time_us(), json).filter(|_| !seqs.contains(&event.seq()));
            rest.extend(entry.map(|entry| event_of(event.id().to_owned(), entry)).transpose()?);
        }
        Ok(rest)
    }

    /// Copies what else is remembered of a conversation, which is left as it is, and removes its label.
    pub(super) fn forget_said(&self, key: Key<'_>, number: i64, seqs: &[i64]) -> Result<()> {
        let place = Place::new(key.session);
        let kept = Key::new(key.app, key.user, &place.id);
        let rest = self.rest(key, number, seqs)?;
        for event in &rest {
            self.append(kept, &place, event)?;
        }
        self.forget_session(key).map_err(memory_error)
    }

    /// Copies are erased. The session keeps their numbers.
    pub(super) fn forget_copies(&self, key: Key<'_>, seqs: &[i64]) -> Result<()> {
        let options = RedactOptions::new().text("");
        ignore_absent(self.store.redact(key, Some(seqs), &options)).map_err(memory_error)
    }

    pub(super) fn forget_events(&self, key: Key<'_>, seqs: &[i64], project: Option<&str>) -> Result<()> {
        match self.number(key, project).map_err(memory_error)? {
            0 => Ok(()), // forgotten meanwhile
            i64::MAX => self.forget_copies(key, seqs),
            number => self.forget_said(key, number, seqs),
        }
    }

    pub(super) fn forget_entries(&self, whose: Key<'_>, query: &str, project: Option<&str>) -> Result<u64> {
        let mut seqs: HashMap<String, Vec<i64>> = HashMap::new();
        for hit in self.hits(whose, query, project)? {
            if self.entry(whose, &hit)?.is_some() {
                seqs.entry(hit.session).or_default().push(hit.seq);
            }
        }
        for (session, seqs) in &seqs {
            self.forget_events(Key::new(whose.app, whose.user, session), seqs, project)?;
        }
        Ok(seqs.values().map(|seqs| seqs.len() as u64).sum())
    }

    pub(super) fn forget_project(&self, whose: Key<'_>, project: &str) -> seslite::Result<u64> {
        let mut count = 0;
        for id in self.labelled(whose, Filter::new().label_value(PROJECT, project))? {
            let key = Key::new(whose.app, whose.user, &id);
            let mut entries = Vec::new();
            self.newest_of(key, i64::MAX, usize::MAX, &mut entries)?;
            self.store.delete(key, &DeleteOptions::new())?;
            count += entries.len() as u64;
        }
        Ok(count)
    }
}
