use std::collections::HashMap;

use adk_core::{Event, Result};
use adk_session::{Events, Session, State};
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::decode;
use crate::time::from_micros;

/// A session as it was read.
pub(crate) struct Snapshot {
    app: String,
    user: String,
    id: String,
    state: HashMap<String, Value>,
    events: Vec<Event>,
    updated: DateTime<Utc>,
}

impl Snapshot {
    /// Reads what a handle shows; `after`: only events of this time or later.
    pub(crate) fn new(view: &seslite::SessionView, after: Option<DateTime<Utc>>) -> Result<Snapshot> {
        let mut events = view.events().map(|event| decode::event(&event)).collect::<Result<Vec<_>>>()?;
        if let Some(after) = after {
            events.retain(|event| event.timestamp >= after);
        }
        Ok(Snapshot {
            app: view.app().to_owned(),
            user: view.user().to_owned(),
            id: view.id().to_owned(),
            state: decode::state(view)?,
            events,
            updated: from_micros(view.updated_us()),
        })
    }
}

impl Session for Snapshot {
    fn id(&self) -> &str {
        &self.id
    }
    fn app_name(&self) -> &str {
        &self.app
    }
    fn user_id(&self) -> &str {
        &self.user
    }
    fn state(&self) -> &dyn State {
        self
    }
    fn events(&self) -> &dyn Events {
        self
    }
    fn last_update_time(&self) -> DateTime<Utc> {
        self.updated
    }
}

impl State for Snapshot {
    fn get(&self, key: &str) -> Option<Value> {
        self.state.get(key).cloned()
    }
    /// Changes only the snapshot, as in adk-session's services. Stored state is changed by events.
    fn set(&mut self, key: String, value: Value) {
        if adk_core::validate_state_key(&key).is_ok() {
            self.state.insert(key, value);
        }
    }
    fn all(&self) -> HashMap<String, Value> {
        self.state.clone()
    }
}

impl Events for Snapshot {
    fn all(&self) -> Vec<Event> {
        self.events.clone()
    }
    fn len(&self) -> usize {
        self.events.len()
    }
    fn at(&self, index: usize) -> Option<&Event> {
        self.events.get(index)
    }
}
