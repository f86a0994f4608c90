use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use adk_core::identity::AdkIdentity;
use adk_core::{AdkError, ErrorComponent, Event, Result};
use adk_session::{
    AppendEventRequest, CreateRequest, DeleteRequest, GetRequest, ListRequest, Session, SessionService,
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use seslite::{
    AppendOptions, Code, CutOptions, DeleteOptions, Filter, Key, Kind, ListOptions, OpenOptions, Order,
    Point, Range, Store,
};

use crate::decode::state_json;
use crate::encode::event_json;
use crate::error::{adk_error, invalid, not_found};
use crate::session::Snapshot;
use crate::work::{blocking, write};
use crate::{SesliteArtifactService, SesliteMemoryService};

/// Names of sessions that were seen here, so that [`SessionService::append_event`] need not look for them in
/// the whole store. Beyond this number they are forgotten.
const REMEMBERED: usize = 10_000;

type Owners = BTreeSet<(String, String)>;

/// All sessions but those that are for memory alone.
fn listed() -> Filter<'static> {
    Filter::new().kinds(&[Kind::Conversation, Kind::Child])
}

/// A [`SessionService`] on a seslite store. Clones share the store.
#[derive(Clone)]
pub struct SesliteSessionService {
    store: Store,
    seen: Arc<Mutex<HashMap<String, Owners>>>,
}

impl SesliteSessionService {
    /// Opens the store in a file, and creates it if there is none. ":memory:" is a store in memory.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open`].
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::new()).await
    }

    /// The same with options.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open_with`].
    pub async fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let path: PathBuf = path.as_ref().to_owned();
        blocking(ErrorComponent::Session, move || Store::open_with(path, options).map_err(adk_error))
            .await
            .map(Self::new)
    }

    /// A service on a store that is open. Its calls have the limits of that handle ([`Store::with_limits`]).
    pub fn new(store: Store) -> Self {
        Self { store, seen: Arc::default() }
    }

    /// The store, for what the trait does not have: forks, rewinds that keep the log, followers, leases,
    /// backups.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// An `ArtifactService` on the same store, with the same limits.
    pub fn artifacts(&self) -> SesliteArtifactService {
        SesliteArtifactService::new(self.store.clone())
    }

    /// A `MemoryService` on the same store, with the same limits.
    pub fn memory(&self) -> SesliteMemoryService {
        SesliteMemoryService::new(self.store.clone())
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let service = self.clone();
        blocking(ErrorComponent::Session, move || work(&service)).await
    }

    /// The same for a call that writes.
    async fn write<T: Send + 'static>(
        &self,
        call: &'static str,
        session: &str,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let service = self.clone();
        write(ErrorComponent::Session, call, session, move || work(&service)).await
    }

    fn remember(&self, session: &str, app: &str, user: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.entry(session.to_owned()).or_default().insert((app.to_owned(), user.to_owned()));
    }

    fn forget(&self, session: &str) {
        self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).remove(session);
    }

    /// The app and the user of a bare session id. seslite names sessions by all three: here it is looked for.
    fn owner_of(&self, session: &str) -> Result<(String, String)> {
        adk_core::identity::SessionId::try_from(session)?;
        let seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get(session).cloned();
        let owners = match seen {
            Some(owners) => owners,
            None => self.search(session)?,
        };
        let mut owners = owners.into_iter();
        match (owners.next(), owners.next()) {
            (Some(owner), None) => {
                self.remember(session, &owner.0, &owner.1);
                Ok(owner)
            }
            (None, _) => Err(AdkError::not_found(
                ErrorComponent::Session,
                "session.not_found",
                format!("session '{session}' was not found in any app"),
            )),
            _ => Err(invalid(
                "session.ambiguous",
                format!(
                    "several users have a session '{session}': name the app and the user (append_event_for_identity)"
                ),
            )),
        }
    }

    /// Every app and user that has a session of this id.
    fn search(&self, session: &str) -> Result<Owners> {
        let mut owners = Owners::new();
        let mut after_app: Option<String> = None;
        loop {
            let apps = self.store.apps(after_app.as_deref(), None, 1000).map_err(adk_error)?;
            for app in apps.iter() {
                self.search_app(app, session, &mut owners)?;
            }
            after_app = apps.next().map(str::to_owned);
            if after_app.is_none() {
                return Ok(owners);
            }
        }
    }

    fn search_app(&self, app: &str, session: &str, owners: &mut Owners) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let users = self.store.users(app, after.as_deref(), None, 1000).map_err(adk_error)?;
            for user in users.iter() {
                match self.store.get_range(Key::new(app, user, session), Range::none()) {
                    Ok(_) => {
                        owners.insert((app.to_owned(), user.to_owned()));
                    }
                    Err(error) if error.code() == Code::NotFound => {}
                    Err(error) => return Err(adk_error(error)),
                }
            }
            after = users.next().map(str::to_owned);
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Does something to a session that is named by its id alone. One that was remembered and has gone since
    /// is looked for again.
    fn by_session<T>(&self, session: &str, act: impl Fn(Key<'_>) -> seslite::Result<T>) -> Result<T> {
        let act = |(app, user): (String, String)| act(Key::new(&app, &user, session));
        match act(self.owner_of(session)?) {
            Err(error) if error.code() == Code::NotFound => {
                self.forget(session);
                act(self.owner_of(session)?).map_err(adk_error)
            }
            other => other.map_err(adk_error),
        }
    }

    fn read(&self, key: Key<'_>, range: Range, after: Option<DateTime<Utc>>) -> Result<Box<dyn Session>> {
        let (app, user, id) = (key.app, key.user, key.session.unwrap_or_default());
        let session = self.store.get_range(key, range).map_err(|error| match error.code() {
            Code::NotFound => not_found(app, user, id),
            _ => adk_error(error),
        })?;
        self.remember(id, app, user);
        Ok(Box::new(Snapshot::new(&session, after)?))
    }

    fn append(&self, identity: &AdkIdentity, event: &Event) -> Result<()> {
        let (app, user, id) =
            (identity.app_name.as_ref(), identity.user_id.as_ref(), identity.session_id.as_ref());
        let json = event_json(event)?;
        self.store.append(Key::new(app, user, id), &json, &AppendOptions::new()).map(drop).map_err(|error| {
            match error.code() {
                Code::NotFound => not_found(app, user, id),
                _ => adk_error(error),
            }
        })
    }

    fn list_page(&self, request: &ListRequest) -> Result<Vec<Box<dyn Session>>> {
        let mut skip = request.offset.unwrap_or(0);
        let mut left = request.limit.unwrap_or(usize::MAX);
        let mut sessions: Vec<Box<dyn Session>> = Vec::new();
        let mut token: Option<String> = None;
        while left > 0 {
            let mut options = ListOptions::new().filter(listed()).limit(skip.saturating_add(left).min(1000));
            if let Some(token) = &token {
                options = options.token(token);
            }
            let page =
                self.store.list(&request.app_name, Some(&request.user_id), &options).map_err(adk_error)?;
            for view in page.sessions() {
                if skip > 0 {
                    skip -= 1;
                } else if left > 0 {
                    left -= 1;
                    sessions.push(Box::new(Snapshot::new(view, None)?));
                }
            }
            token = page.token().map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(sessions)
    }

    /// In order of creation every session that there is when the walk begins is met once.
    fn delete_all(&self, app: &str, user: &str) -> Result<()> {
        let mut token: Option<String> = None;
        loop {
            let mut options =
                ListOptions::new().filter(listed()).order(Order::Created).without_state().limit(1000);
            if let Some(token) = &token {
                options = options.token(token);
            }
            let page = self.store.list(app, Some(user), &options).map_err(adk_error)?;
            for view in page.sessions() {
                self.store.delete(view.key(), &DeleteOptions::new()).map_err(adk_error)?;
                self.forget(view.id());
            }
            token = page.token().map(str::to_owned);
            if token.is_none() {
                return Ok(());
            }
        }
    }

    fn rewind_by_steps(&self, session: &str, steps: usize) -> Result<Box<dyn Session>> {
        let range = Range::all().newest(steps.saturating_add(1));
        let mut handle = self.by_session(session, |key| self.store.get_range(key, range))?;
        let held = handle.event_count();
        if held < steps {
            let message = format!("{steps} steps back, but session '{session}' has {held} events");
            return Err(invalid("session.invalid_input", message));
        }
        if steps > 0 {
            // The oldest event that was read stays. With none before the steps, it is what was pruned that
            // stays.
            let kept = handle.event(0).filter(|_| held > steps).map(|event| event.seq());
            let kept = kept.unwrap_or_else(|| handle.base_seq());
            // If another writer appended in the meantime, the handle is stale and nothing is cut.
            handle.cut(Point::Seq(kept), &CutOptions::new()).map_err(adk_error)?;
        }
        let (app, user) = (handle.app().to_owned(), handle.user().to_owned());
        self.read(Key::new(&app, &user, session), Range::all(), None)
    }
}

#[async_trait]
impl SessionService for SesliteSessionService {
    async fn create(&self, request: CreateRequest) -> Result<Box<dyn Session>> {
        request.try_app_name()?;
        request.try_user_id()?;
        request.try_session_id()?;
        // An id that the store made within the call would be lost with the outcome.
        let id = request.session_id.clone().map_or_else(|| self.store.make_id(), Ok).map_err(adk_error)?;
        self.write("create", &id.clone(), move |service| {
            let key = Key::new(&request.app_name, &request.user_id, &id);
            let state = state_json(&request.state)?;
            let session = service.store.create(key, Some(&state)).map_err(adk_error)?;
            service.remember(session.id(), session.app(), session.user());
            Ok(Box::new(Snapshot::new(&session, None)?) as Box<dyn Session>)
        })
        .await
    }

    async fn get(&self, request: GetRequest) -> Result<Box<dyn Session>> {
        request.try_identity()?;
        self.run(move |service| {
            let key = Key::new(&request.app_name, &request.user_id, &request.session_id);
            let mut range = Range::all();
            if let Some(after) = request.after {
                // To the microsecond here, to the nanosecond when the events are read.
                range = range.since_us(after.timestamp_micros());
            }
            if let Some(newest) = request.num_recent_events {
                range = range.newest(newest);
            }
            service.read(key, range, request.after)
        })
        .await
    }

    async fn list(&self, request: ListRequest) -> Result<Vec<Box<dyn Session>>> {
        request.try_app_name()?;
        request.try_user_id()?;
        self.run(move |service| service.list_page(&request)).await
    }

    async fn delete(&self, request: DeleteRequest) -> Result<()> {
        request.try_identity()?;
        let id = request.session_id.clone();
        self.write("delete", &id, move |service| {
            service.forget(&request.session_id);
            let key = Key::new(&request.app_name, &request.user_id, &request.session_id);
            service.store.delete(key, &DeleteOptions::new()).map(drop).map_err(adk_error)
        })
        .await
    }

    async fn append_event(&self, session_id: &str, event: Event) -> Result<()> {
        let session = session_id.to_owned();
        self.write("append_event", session_id, move |service| {
            let json = event_json(&event)?;
            service
                .by_session(&session, |key| service.store.append(key, &json, &AppendOptions::new()))
                .map(drop)
        })
        .await
    }

    async fn append_event_for_identity(&self, request: AppendEventRequest) -> Result<()> {
        let id = request.identity.session_id.to_string();
        self.write("append_event", &id, move |service| service.append(&request.identity, &request.event))
            .await
    }

    async fn delete_all_sessions(&self, app_name: &str, user_id: &str) -> Result<()> {
        let (app, user) = (app_name.to_owned(), user_id.to_owned());
        self.write("delete_all_sessions", "", move |service| service.delete_all(&app, &user)).await
    }

    async fn rewind(&self, session_id: &str, target_event_id: &str) -> Result<Box<dyn Session>> {
        let (session, target) = (session_id.to_owned(), target_event_id.to_owned());
        self.write("rewind", session_id, move |service| {
            let (app, user) = service.by_session(&session, |key| {
                let owner = (key.app.to_owned(), key.user.to_owned());
                service.store.cut(key, Point::Event(&target), &CutOptions::new()).map(|_| owner)
            })?;
            service.read(Key::new(&app, &user, &session), Range::all(), None)
        })
        .await
    }

    async fn rewind_steps(&self, session_id: &str, steps: usize) -> Result<Box<dyn Session>> {
        let session = session_id.to_owned();
        self.write("rewind_steps", session_id, move |service| service.rewind_by_steps(&session, steps)).await
    }

    async fn health_check(&self) -> Result<()> {
        self.run(|service| service.store.apps(None, None, 1).map(drop).map_err(adk_error)).await
    }
}
