//! The relatives of a session.

use std::ptr::NonNull;

use seslite_sys as sys;

use crate::error::{opened, Result};
use crate::key::Key;
use crate::raw::limited;
use crate::store::Store;
use crate::text::name;

/// How a session is related to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// The session was forked from it.
    Parent,
    /// It was forked from the session.
    Fork,
    /// Both were forked from the same session, after the same event.
    Sibling,
    /// The session is a child of it.
    ChildOf,
    /// It is a child of the session.
    Child,
    Other,
}

/// A session that is related to another one of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relative {
    pub relation: Relation,
    pub user: String,
    pub session: String,
    /// The last event that both have; 0 for children.
    pub seq: i64,
    pub created_us: i64,
}

struct Family(NonNull<sys::ses_family>);

impl Drop for Family {
    fn drop(&mut self) {
        unsafe { sys::ses_family_close(self.0.as_ptr()) };
    }
}

impl Relative {
    fn new(found: &sys::ses_relative) -> Self {
        Relative {
            relation: match found.relation as sys::ses_relation {
                sys::SES_RELATION_PARENT => Relation::Parent,
                sys::SES_RELATION_FORK => Relation::Fork,
                sys::SES_RELATION_SIBLING => Relation::Sibling,
                sys::SES_RELATION_CHILD_OF => Relation::ChildOf,
                sys::SES_RELATION_CHILD => Relation::Child,
                _ => Relation::Other,
            },
            user: unsafe { name(found.user) }.to_owned(),
            session: unsafe { name(found.session) }.to_owned(),
            seq: found.seq,
            created_us: found.created_us,
        }
    }
}

impl Store {
    /// The sessions that are related to one: parent, forks, siblings, and children.
    pub fn family(&self, key: Key<'_>) -> Result<Vec<Relative>> {
        let key = key.to_c()?;
        let options: sys::ses_call_options = limited(&self.limits);
        let family = Family(opened(|family, error| unsafe {
            sys::ses_family_open(self.raw(), &key.raw(), &options, family, error)
        })?);
        let count = unsafe { sys::ses_family_count(family.0.as_ptr()) };
        Ok((0..count)
            .map(|index| Relative::new(unsafe { &*sys::ses_family_at(family.0.as_ptr(), index) }))
            .collect())
    }
}
