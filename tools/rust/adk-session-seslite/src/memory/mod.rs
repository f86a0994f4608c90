//! A memory service on the store.

mod entries;

use std::collections::{BTreeSet, HashMap};

use adk_core::{ErrorComponent, Result};
use adk_memory::{validate_project_id, MemoryEntry, MemoryService, SearchRequest, SearchResponse};
use async_trait::async_trait;
use seslite::{
    Code, DeleteOptions, Filter, Hit, Key, ListOptions, Range, RecallOptions, RememberOptions, Store,
};

use crate::error::memory_error;
use crate::work::{blocking, write};
use entries::{entry_of, event_of, is_said, is_same};

/// The label of copies that belong to a project, and how the ids of their sessions begin.
const PROJECT: &str = "memory-project";
/// Hits of a call, at most.
const HITS_MAX: usize = 10_000;

/// A [`MemoryService`] on a seslite store. Clones share the store, and
/// [`SesliteSessionService::memory`](crate::SesliteSessionService::memory) makes one on the store of the
/// sessions.
///
/// It remembers together with the memory services of the other packages: each finds what the others were given.
/// If the entries of [`add_session`](MemoryService::add_session) are what was said in a session of the store,
/// from its beginning on, nothing is copied, and deleting the session forgets it.
#[derive(Clone)]
pub struct SesliteMemoryService {
    store: Store,
}

impl SesliteMemoryService {
    /// A service on a store that is open. Its calls have the limits of that handle ([`Store::with_limits`]).
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// The store, for what the trait does not have.
    pub fn store(&self) -> &Store {
        &self.store
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let service = self.clone();
        blocking(ErrorComponent::Memory, move || work(&service)).await
    }

    async fn write<T: Send + 'static>(
        &self,
        call: &'static str,
        session: &str,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let service = self.clone();
        write(ErrorComponent::Memory, call, session, move || work(&service)).await
    }

    // -------------------------------------------------------------------------------------------- adding

    /// The number of the event with which the last of these entries was said in the session, if they are what
    /// was said there from its beginning on.
    fn said_in(&self, key: Key<'_>, entries: &[MemoryEntry]) -> seslite::Result<Option<i64>> {
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

    fn add(&self, key: Key<'_>, entries: Vec<MemoryEntry>, options: &RememberOptions<'_>) -> Result<()> {
        let events = entries
            .into_iter()
            .map(|entry| event_of(self.store.make_id().map_err(memory_error)?, entry))
            .collect::<Result<Vec<_>>>()?;
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        self.store.remember_events(key, &events, options).map(drop).map_err(memory_error)
    }

    /// Copies take the place of those that there are.
    fn add_session_now(&self, key: Key<'_>, entries: Vec<MemoryEntry>) -> Result<()> {
        match self.said_in(key, &entries).map_err(memory_error)? {
            Some(seq) => {
                self.store.remember_session(key, seq).map_err(memory_error)?;
                self.add(key, Vec::new(), &RememberOptions::new().replace())
            }
            None => self.add(key, entries, &RememberOptions::new().replace()),
        }
    }

    // ----------------------------------------------------------------------------------------- searching

    /// As many entries as are asked for, without those that are equal but for their ids.
    fn search_now(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let wanted = request.limit.unwrap_or(10);
        let mut limit = wanted.clamp(1, HITS_MAX);
        loop {
            let mut options = RecallOptions::new().limit(limit);
            if let Some(project) = &request.project_id {
                options = options.project(project);
            }
            let (app, user) = (&request.app_name, &request.user_id);
            let hits = self.store.recall(app, user, &request.query, &options).map_err(memory_error)?;
            let is_all = hits.len() < limit || limit == HITS_MAX;
            let mut memories: Vec<MemoryEntry> = Vec::new();
            for hit in hits {
                let fits = request.min_score.is_none_or(|least| hit.score as f32 >= least);
                let entry = entry_of_hit(&hit).filter(|_| fits && memories.len() < wanted);
                memories.extend(entry.filter(|entry| !memories.iter().any(|known| is_same(known, entry))));
            }
            if is_all || memories.len() >= wanted {
                return Ok(SearchResponse { memories });
            }
            limit = (limit * 4).min(HITS_MAX);
        }
    }

    /// The projects of a user.
    fn projects(&self, whose: Key<'_>) -> seslite::Result<BTreeSet<String>> {
        let mut projects = BTreeSet::new();
        let mut token: Option<String> = None;
        loop {
            let mut options = ListOptions::new().without_state().filter(Filter::new().label(PROJECT));
            if let Some(token) = &token {
                options = options.token(token);
            }
            let page = self.store.list(whose.app, Some(whose.user), &options)?;
            for view in page.sessions() {
                projects.extend(view.label(PROJECT)?.map(str::to_owned));
            }
            token = page.token().map(str::to_owned);
            if token.is_none() {
                return Ok(projects);
            }
        }
    }

    /// The latest that belongs to the project alone.
    fn remembered_in(&self, whose: Key<'_>, project: &str) -> seslite::Result<Vec<Hit>> {
        let options = RecallOptions::new().project(project).limit(HITS_MAX);
        let mut hits = self.store.remembered(whose.app, whose.user, &options)?;
        hits.retain(is_of_project);
        Ok(hits)
    }

    fn recent(&self, whose: Key<'_>, limit: usize) -> seslite::Result<Vec<MemoryEntry>> {
        let options = RecallOptions::new().limit(limit.clamp(1, HITS_MAX));
        let mut hits = self.store.remembered(whose.app, whose.user, &options)?;
        for project in self.projects(whose)? {
            hits.extend(self.remembered_in(whose, &project)?);
        }
        let mut entries: Vec<MemoryEntry> = hits.iter().filter_map(entry_of_hit).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.timestamp));
        entries.truncate(limit);
        Ok(entries)
    }

    // ---------------------------------------------------------------------------------------- forgetting

    fn forget(&self, key: Key<'_>) -> Result<()> {
        self.store.forget(key, None, &DeleteOptions::new()).map(drop).map_err(memory_error)
    }

    fn forget_entries(&self, whose: Key<'_>, query: &str, project: Option<&str>) -> Result<u64> {
        let mut options = RecallOptions::new().limit(HITS_MAX);
        if let Some(project) = project {
            options = options.project(project);
        }
        let hits = self.store.recall(whose.app, whose.user, query, &options).map_err(memory_error)?;
        let mut seqs: HashMap<String, Vec<i64>> = HashMap::new();
        for hit in hits.into_iter().filter(|hit| project.is_none() || is_of_project(hit)) {
            seqs.entry(hit.session).or_default().push(hit.seq);
        }
        for (session, seqs) in &seqs {
            match self.store.forget_events(Key::new(whose.app, whose.user, session), seqs) {
                Err(error) if error.code() != Code::NotFound => return Err(memory_error(error)),
                _ => {} // forgotten, by this or meanwhile
            }
        }
        Ok(seqs.values().map(|seqs| seqs.len() as u64).sum())
    }

    fn forget_project(&self, whose: Key<'_>, project: &str) -> seslite::Result<u64> {
        let count = self.remembered_in(whose, project)?.len() as u64;
        self.store.forget(whose, Some(project), &DeleteOptions::new())?;
        Ok(count)
    }
}

fn is_of_project(hit: &Hit) -> bool {
    hit.session.starts_with(PROJECT)
}

/// `None`: adk-core cannot hold it.
fn entry_of_hit(hit: &Hit) -> Option<MemoryEntry> {
    entry_of(&hit.author, hit.time_us, hit.json.as_deref()?)
}

fn said(entries: Vec<MemoryEntry>) -> Vec<MemoryEntry> {
    entries.into_iter().filter(|entry| is_said(&entry.content)).collect()
}

/// Whose memory a call is about, so that it can go to another thread.
struct Whose {
    app: String,
    user: String,
}

impl Whose {
    fn new(app: &str, user: &str) -> Self {
        Self { app: app.to_owned(), user: user.to_owned() }
    }
    fn key(&self) -> Key<'_> {
        Key::user(&self.app, &self.user)
    }
    fn session<'a>(&'a self, session: &'a str) -> Key<'a> {
        Key::new(&self.app, &self.user, session)
    }
}

#[async_trait]
impl MemoryService for SesliteMemoryService {
    async fn add_session(
        &self,
        app: &str,
        user: &str,
        session: &str,
        entries: Vec<MemoryEntry>,
    ) -> Result<()> {
        let (whose, id, entries) = (Whose::new(app, user), session.to_owned(), said(entries));
        if entries.is_empty() {
            return Ok(());
        }
        self.write("add_session", session, move |service| {
            service.add_session_now(whose.session(&id), entries)
        })
        .await
    }

    async fn search(&self, request: SearchRequest) -> Result<SearchResponse> {
        self.run(move |service| service.search_now(&request)).await
    }

    async fn delete_user(&self, app: &str, user: &str) -> Result<()> {
        let whose = Whose::new(app, user);
        self.write("delete_user", "", move |service| service.forget(whose.key())).await
    }

    async fn delete_session(&self, app: &str, user: &str, session: &str) -> Result<()> {
        let (whose, id) = (Whose::new(app, user), session.to_owned());
        self.write("delete_session", session, move |service| service.forget(whose.session(&id))).await
    }

    async fn add_entry(&self, app: &str, user: &str, entry: MemoryEntry) -> Result<()> {
        let whose = Whose::new(app, user);
        self.write("add_entry", "", move |service| {
            service.add(whose.key(), vec![entry], &RememberOptions::new())
        })
        .await
    }

    async fn delete_entries(&self, app: &str, user: &str, query: &str) -> Result<u64> {
        let (whose, query) = (Whose::new(app, user), query.to_owned());
        self.write("delete_entries", "", move |service| service.forget_entries(whose.key(), &query, None))
            .await
    }

    async fn list_recent(&self, app: &str, user: &str, limit: usize) -> Result<Vec<MemoryEntry>> {
        let whose = Whose::new(app, user);
        self.run(move |service| service.recent(whose.key(), limit).map_err(memory_error)).await
    }

    async fn health_check(&self) -> Result<()> {
        self.run(|service| service.store.apps(None, None, 1).map(drop).map_err(memory_error)).await
    }

    fn supports_project_scoping(&self) -> bool {
        true
    }

    async fn add_session_to_project(
        &self,
        app: &str,
        user: &str,
        session: &str,
        project: &str,
        entries: Vec<MemoryEntry>,
    ) -> Result<()> {
        validate_project_id(project)?;
        let (whose, id, project, entries) =
            (Whose::new(app, user), session.to_owned(), project.to_owned(), said(entries));
        if entries.is_empty() {
            return Ok(());
        }
        self.write("add_session_to_project", session, move |service| {
            let options = RememberOptions::new().replace().project(&project);
            service.add(whose.session(&id), entries, &options)
        })
        .await
    }

    async fn add_entry_to_project(
        &self,
        app: &str,
        user: &str,
        project: &str,
        entry: MemoryEntry,
    ) -> Result<()> {
        validate_project_id(project)?;
        let (whose, project) = (Whose::new(app, user), project.to_owned());
        self.write("add_entry_to_project", "", move |service| {
            service.add(whose.key(), vec![entry], &RememberOptions::new().project(&project))
        })
        .await
    }

    async fn delete_entries_in_project(
        &self,
        app: &str,
        user: &str,
        project: &str,
        query: &str,
    ) -> Result<u64> {
        let (whose, project, query) = (Whose::new(app, user), project.to_owned(), query.to_owned());
        self.write("delete_entries_in_project", "", move |service| {
            service.forget_entries(whose.key(), &query, Some(&project))
        })
        .await
    }

    async fn delete_project(&self, app: &str, user: &str, project: &str) -> Result<u64> {
        let (whose, project) = (Whose::new(app, user), project.to_owned());
        self.write("delete_project", "", move |service| {
            service.forget_project(whose.key(), &project).map_err(memory_error)
        })
        .await
    }
}
