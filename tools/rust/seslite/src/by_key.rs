//! The calls of a session, without a handle.

use std::ptr;

use seslite_sys as sys;

use crate::append::{Appended, RewindOptions};
use crate::delete::Deleted;
use crate::error::{done, Result};
use crate::history::{as_of, CutOptions, ForkOptions, Popped, PruneOptions};
use crate::key::Key;
use crate::labels::CLabels;
use crate::range::Point;
use crate::raw::optional_ref;
use crate::session::Session;
use crate::store::Store;
use crate::text::{c_string_or_null, pointer, take_required, Json};

impl Store {
    pub fn set_title(&self, key: Key<'_>, title: Option<&str>) -> Result<()> {
        let (key, title) = (key.to_c()?, c_string_or_null("the title", title)?);
        let options = self.limits.call_options();
        done(|error| unsafe {
            sys::ses_title_set_by_key(self.raw(), &key.raw(), pointer(&title), &options, error)
        })
    }
    pub fn set_labels(&self, key: Key<'_>, labels: &[(&str, Option<&str>)]) -> Result<()> {
        let (key, labels) = (key.to_c()?, CLabels::new(labels)?);
        let options = self.limits.call_options();
        done(|error| unsafe {
            let (first, count) = (labels.as_ptr(), labels.len());
            sys::ses_labels_set_by_key(self.raw(), &key.raw(), first, count, &options, error)
        })
    }
    pub fn set_expiry(&self, key: Key<'_>, expires_us: Option<i64>) -> Result<()> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        let time = optional_ref(&expires_us);
        done(|error| unsafe { sys::ses_expiry_set_by_key(self.raw(), &key.raw(), time, &options, error) })
    }
    /// See [`Session::set_archived`].
    pub fn set_archived(&self, key: Key<'_>, archived: bool) -> Result<()> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        done(|error| unsafe {
            sys::ses_archive_set_by_key(self.raw(), &key.raw(), archived.into(), &options, error)
        })
    }
    /// See [`Session::state_as_of`].
    pub fn state_as_of(&self, key: Key<'_>, point: Point<'_>, shared: bool) -> Result<Json> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let (point, options) = (point.raw(), as_of(&self.limits, shared));
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_as_of_by_key(self.raw(), &key.raw(), &point, &options, json, len, error)
        })
    }
    /// See [`Session::initial_state`].
    pub fn initial_state(&self, key: Key<'_>) -> Result<Json> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_initial_by_key(self.raw(), &key.raw(), &options, json, len, error)
        })
    }
    /// See [`Session::rewind`].
    pub fn rewind(&self, key: Key<'_>, point: Point<'_>, options: &RewindOptions<'_>) -> Result<Appended> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let (point, options) = (point.raw(), options.raw(&self.limits));
        Appended::of(|appended, error| unsafe {
            sys::ses_rewind_by_key(self.raw(), &key.raw(), &point, &options, appended, error)
        })
    }
    /// See [`Session::redo`].
    pub fn redo(&self, key: Key<'_>, options: &RewindOptions<'_>) -> Result<Appended> {
        let (key, options) = (key.to_c()?, options.raw(&self.limits));
        Appended::of(|appended, error| unsafe {
            sys::ses_redo_by_key(self.raw(), &key.raw(), &options, appended, error)
        })
    }
    /// See [`Session::cut`].
    pub fn cut(&self, key: Key<'_>, point: Point<'_>, options: &CutOptions) -> Result<Deleted> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let (point, mut raw) = (point.raw(), options.raw(&self.limits));
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_cut_by_key(self.raw(), &key.raw(), &point, &raw, deleted, error)
        })
    }
    /// See [`Session::pop`].
    pub fn pop(&self, key: Key<'_>, point: Point<'_>, options: &CutOptions) -> Result<Popped> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let (point, mut raw) = (point.raw(), options.raw(&self.limits));
        Popped::of(options.receipt, |popped, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_pop_by_key(self.raw(), &key.raw(), &point, &raw, popped, error)
        })
    }
    /// See [`Session::fork`].
    pub fn fork(
        &self,
        key: Key<'_>,
        point: Point<'_>,
        to: Option<Key<'_>>,
        options: &ForkOptions,
    ) -> Result<Session> {
        let (key, point) = (key.to_c()?, point.to_c()?);
        let to = to.map(Key::to_c).transpose()?.map(|to| (to.raw(), to));
        let to_raw = to.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        let point = point.raw();
        options.with_raw(&self.limits, |options| {
            Session::open(&self.limits, |fork, error| unsafe {
                sys::ses_fork_by_key(self.raw(), &key.raw(), &point, to_raw, options, fork, error)
            })
        })
    }
    /// See [`Session::prune`].
    pub fn prune(&self, key: Key<'_>, options: &PruneOptions) -> Result<Deleted> {
        let (key, mut raw) = (key.to_c()?, options.raw(&self.limits));
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_prune_by_key(self.raw(), &key.raw(), &raw, deleted, error)
        })
    }
}
