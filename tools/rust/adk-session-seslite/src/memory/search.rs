//! Searching what is remembered.

use std::cmp::Reverse;
use std::collections::HashMap;

use adk_core::Result;
use adk_memory::{MemoryEntry, SearchRequest, SearchResponse};
use seslite::{Code, Filter, Hit, Key, ListOptions, Range, SearchOptions};

use super::kept::{entry_of, is_same, number_of, words_of, Fit, LABEL, PROJECT};
use super::{ignore_absent, SesliteMemoryService};
use crate::error::memory_error;

/// Hits of which the best are given.
const CANDIDATES: usize = 10_000;
/// Some of them may be of events that are not remembered.
const HITS_READ: usize = 10 * CANDIDATES;
/// Of each hit, in which the words are counted.
const SNIPPET_BYTES: usize = 4096;

impl SesliteMemoryService {
    /// The number up to which the events of a session are remembered.
    pub(super) fn number(&self, key: Key<'_>, project: Option<&str>) -> seslite::Result<i64> {
        Ok(if project.is_some() { i64::MAX } else { number_of(&self.label(key)?.unwrap_or_default()) })
    }

    /// The best hits of what a project remembers, or of what is global.
    pub(super) fn hits_in(
        &self,
        whose: Key<'_>,
        words: &str,
        project: Option<&str>,
    ) -> seslite::Result<Vec<Hit>> {
        let filter =
            project.map_or(Filter::new().label(LABEL), |project| Filter::new().label_value(PROJECT, project));
        let options =
            SearchOptions::new().any().live().filter(filter).snippet_bytes(SNIPPET_BYTES).limit(HITS_READ);
        let mut numbers: HashMap<String, i64> = HashMap::new();
        let mut hits = Vec::new();
        for hit in self.store.search(whose.app, Some(whose.user), words, &options)? {
            let hit = hit?;
            let number = match numbers.get(&hit.session) {
                Some(number) => *number,
                None => {
                    let number = self.number(Key::new(whose.app, whose.user, &hit.session), project)?;
                    numbers.insert(hit.session.clone(), number);
                    number
                }
            };
            if hit.seq <= number {
                hits.push(hit);
            }
            if hits.len() == CANDIDATES {
                break;
            }
        }
        Ok(hits)
    }

    /// None if the query has no word. Wrong ids are refused all the same.
    pub(super) fn hits(&self, whose: Key<'_>, query: &str, project: Option<&str>) -> Result<Vec<Hit>> {
        match self.hits_in(whose, &words_of(query).join(" "), project) {
            Err(error) if error.code() == Code::Invalid => {
                let options = ListOptions::new().without_state().limit(1);
                self.store
                    .list(whose.app, Some(whose.user), &options)
                    .map(|_| Vec::new())
                    .map_err(memory_error)
            }
            hits => hits.map_err(memory_error),
        }
    }

    /// `None`: it was deleted meanwhile, or is nothing that somebody said.
    pub(super) fn entry(&self, whose: Key<'_>, hit: &Hit) -> Result<Option<MemoryEntry>> {
        match self.store.event_by_id(Key::new(whose.app, whose.user, &hit.session), &hit.id) {
            Ok(Some((seq, json))) if seq == hit.seq => Ok(entry_of(&hit.author, hit.time_us, json.as_str())),
            Err(error) if error.code() != Code::NotFound => Err(memory_error(error)),
            _ => Ok(None),
        }
    }

    pub(super) fn search_now(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let whose = Key::user(&request.app_name, &request.user_id);
        let limit = request.limit.unwrap_or(10);
        let fit = Fit::new(&words_of(&request.query));
        let mut hits = self.hits(whose, &request.query, None)?;
        if let Some(project) = &request.project_id {
            hits.extend(self.hits(whose, &request.query, Some(project))?);
        }
        let mut found: Vec<(usize, Hit)> = hits
            .into_iter()
            .map(|hit| (fit.count(hit.snippet.as_deref().unwrap_or_default()), hit))
            .collect();
        found.retain(|(count, _)| request.min_score.is_none_or(|least| fit.score(*count) >= least));
        found.sort_by_key(|(count, hit)| (Reverse(*count), Reverse(hit.time_us), hit.seq));
        let mut memories: Vec<MemoryEntry> = Vec::new();
        for (_, hit) in &found {
            if memories.len() >= limit {
                break;
            }
            let entry = self.entry(whose, hit)?;
            memories.extend(entry.filter(|entry| !memories.iter().any(|known| is_same(known, entry))));
        }
        Ok(SearchResponse { memories })
    }

    /// Adds the newest entries of a session that is remembered up to that number.
    pub(super) fn newest_of(
        &self,
        key: Key<'_>,
        number: i64,
        limit: usize,
        found: &mut Vec<MemoryEntry>,
    ) -> seslite::Result<()> {
        let mut cursor = match self.store.cursor_backward(key, Range::all().live().seq(1, number)) {
            Ok(cursor) => cursor,
            other => return ignore_absent(other),
        };
        let mut count = 0;
        while let (true, Some(event)) = (count < limit, cursor.advance()?) {
            if let Some(entry) =
                event.json().ok().and_then(|json| entry_of(event.author(), event.time_us(), json))
            {
                found.push(entry);
                count += 1;
            }
        }
        Ok(())
    }

    pub(super) fn recent(&self, whose: Key<'_>, limit: usize) -> seslite::Result<Vec<MemoryEntry>> {
        let mut found = Vec::new();
        for (label, project) in [(LABEL, None), (PROJECT, Some(""))] {
            for id in self.labelled(whose, Filter::new().label(label))? {
                let key = Key::new(whose.app, whose.user, &id);
                let number = self.number(key, project)?;
                if number > 0 {
                    self.newest_of(key, number, limit, &mut found)?;
                }
                found.sort_by_key(|entry| Reverse(entry.timestamp));
                found.truncate(limit);
            }
        }
        Ok(found)
    }
}
