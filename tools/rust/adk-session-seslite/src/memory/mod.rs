//! A memory service on the store.

mod add;
mod forget;
pub(crate) mod kept;
mod search;

use std::sync::{Arc, Mutex, MutexGuard};

use adk_core::{ErrorComponent, Result};
use adk_memory::{validate_project_id, MemoryEntry, MemoryService, SearchRequest, SearchResponse};
use async_trait::async_trait;
use seslite::{Code, DeleteOptions, Filter, Key, ListOptions, Order, Range, Store};

use crate::error::memory_error;
use crate::work::{blocking, write};
use kept::{is_kept, is_said, kept_in, kept_in_project, number_of, ALL, LABEL, PROJECT, SOURCE};

/// Sessions of a page.
const PAGE: usize = 1000;

/// A [`MemoryService`] on a seslite store. Clones share the store, and
/// [`SesliteSessionService::memory`](crate::SesliteSessionService::memory) makes one on the store of the
/// sessions.
///
/// It remembers together with `SesliteMemoryService` of the package for Python: each finds what the other was
/// given. If the entries of [`add_session`](MemoryService::add_session) are what was said in a session of the
/// store, from its beginning on, nothing is copied: the session is marked, and deleting it forgets it.
#[derive(Clone)]
pub struct SesliteMemoryService {
    store: Store,
    /// Held while the number in a label is raised.
    marking: Arc<Mutex<()>>,
}

/// Some of the sessions of a user that are for memory.
struct Place<'a> {
    id: String,
    labels: Vec<(&'a str, &'a str)>,
}

impl<'a> Place<'a> {
    fn new(session: Option<&'a str>) -> Self {
        Self { id: kept_in(session), labels: vec![(LABEL, ALL)] }
    }

    fn of_project(project: &'a str, session: Option<&'a str>) -> Self {
        let mut labels = vec![(PROJECT, project)];
        labels.extend(session.map(|session| (SOURCE, session)));
        Self { id: kept_in_project(project, session), labels }
    }
}

fn ignore_absent<T>(result: seslite::Result<T>) -> seslite::Result<()> {
    match result {
        Err(error) if error.code() != Code::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl SesliteMemoryService {
    /// A service on a store that is open. Its calls have the limits of that handle ([`Store::with_limits`]).
    pub fn new(store: Store) -> Self {
        Self { store, marking: Arc::default() }
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

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.marking.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What the label says, or "" if there is none. `None`: there is no such session.
    fn label(&self, key: Key<'_>) -> seslite::Result<Option<String>> {
        match self.store.get_range(key, Range::none()) {
            Ok(session) => Ok(Some(session.label(LABEL)?.unwrap_or_default().to_owned())),
            Err(error) if error.code() == Code::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The number is never lowered, but if two processes set it at the same time.
    fn remember(&self, key: Key<'_>, seq: i64) -> seslite::Result<()> {
        let _marking = self.lock();
        match self.label(key)? {
            Some(label) if number_of(&label) < seq => {
                ignore_absent(self.store.set_labels(key, &[(LABEL, Some(&seq.to_string()))]))
            }
            _ => Ok(()),
        }
    }

    /// Removes the label of a conversation, and deletes what is for memory alone.
    fn forget_session(&self, key: Key<'_>) -> seslite::Result<()> {
        let _marking = self.lock();
        match self.label(key)? {
            Some(label) if is_kept(key, &label) => self.store.delete(key, &DeleteOptions::new()).map(drop),
            Some(label) if !label.is_empty() => ignore_absent(self.store.set_labels(key, &[(LABEL, None)])),
            _ => Ok(()),
        }
    }

    /// The ids of the sessions with a label.
    fn labelled(&self, whose: Key<'_>, filter: Filter<'_>) -> seslite::Result<Vec<String>> {
        let mut ids = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let mut options =
                ListOptions::new().order(Order::Created).without_state().limit(PAGE).filter(filter);
            if let Some(token) = &token {
                options = options.token(token);
            }
            let page = self.store.list(whose.app, Some(whose.user), &options)?;
            ids.extend(page.sessions().map(|view| view.id().to_owned()));
            token = page.token().map(str::to_owned);
            if token.is_none() {
                return Ok(ids);
            }
        }
    }
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
            service.add_session_now(whose.session(&id), &id, entries)
        })
        .await
    }

    async fn search(&self, request: SearchRequest) -> Result<SearchResponse> {
        self.run(move |service| service.search_now(&request)).await
    }

    async fn delete_user(&self, app: &str, user: &str) -> Result<()> {
        let whose = Whose::new(app, user);
        self.write("delete_user", "", move |service| service.forget_user(whose.key()).map_err(memory_error))
            .await
    }

    async fn delete_session(&self, app: &str, user: &str, session: &str) -> Result<()> {
        let (whose, id) = (Whose::new(app, user), session.to_owned());
        self.write("delete_session", session, move |service| {
            service.forget_of_session(whose.session(&id), &id).map_err(memory_error)
        })
        .await
    }

    async fn add_entry(&self, app: &str, user: &str, entry: MemoryEntry) -> Result<()> {
        let whose = Whose::new(app, user);
        self.write("add_entry", "", move |service| {
            service.add_entry_now(whose.key(), &Place::new(None), entry)
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
            service.replace(whose.key(), &Place::of_project(&project, Some(&id)), entries)
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
            service.add_entry_now(whose.key(), &Place::of_project(&project, None), entry)
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
