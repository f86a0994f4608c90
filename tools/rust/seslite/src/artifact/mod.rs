//! Artifacts: the files, images and reports of a session or of a user.

mod attached;
mod info;
mod read;
mod save;

pub use attached::Artifacts;
pub use info::{ArtifactInfo, ArtifactKind, ArtifactList};
pub use read::{Artifact, ArtifactOpenOptions};
pub use save::ArtifactSaveOptions;

use std::io::Read;

use seslite_sys as sys;

use crate::delete::{DeleteOptions, Deleted};
use crate::error::Result;
use crate::key::Key;
use crate::limits::Limits;
use crate::raw::limited;
use crate::session::Session;
use crate::store::Store;
use crate::text::{c_string, c_string_or_null, take_text, Json};

fn inline_options(limits: &Limits, bytes: i64) -> sys::ses_artifact_inline_options {
    let mut raw: sys::ses_artifact_inline_options = limited(limits);
    raw.bytes = bytes;
    raw
}

/// Artifacts by key. A key without a session names the user's artifacts, and `user:` is put in front of their
/// names if it is not there.
impl Store {
    /// Saves the next version of an artifact and returns its number. The first one is 0.
    pub fn save_artifact(
        &self,
        key: Key<'_>,
        name: &str,
        bytes: &[u8],
        options: &ArtifactSaveOptions<'_>,
    ) -> Result<i64> {
        let (key, name) = (key.to_c()?, c_string("the artifact's name", name)?);
        let options = options.to_c(&self.limits)?;
        save::version_of(|version, error| unsafe {
            let (bytes, len) = (bytes.as_ptr().cast(), bytes.len());
            let (name, options) = (name.as_ptr(), options.as_ptr());
            sys::ses_artifact_save_by_key(self.raw(), &key.raw(), name, bytes, len, options, version, error)
        })
    }
    /// The same for what a reader gives until its end. It is read without a lock, and never held in memory as
    /// a whole. Its error is that of the call, and nothing is saved then. A panic in it goes on when the
    /// library has returned.
    pub fn save_artifact_from<R: Read>(
        &self,
        key: Key<'_>,
        name: &str,
        from: R,
        options: &ArtifactSaveOptions<'_>,
    ) -> Result<i64> {
        let (key, name) = (key.to_c()?, c_string("the artifact's name", name)?);
        let options = options.to_c(&self.limits)?;
        options.reading(from, |bytes, len, options| {
            save::version_of(|version, error| unsafe {
                let name = name.as_ptr();
                sys::ses_artifact_save_by_key(
                    self.raw(),
                    &key.raw(),
                    name,
                    bytes,
                    len,
                    options,
                    version,
                    error,
                )
            })
        })
    }
    /// Opens an artifact for reading.
    pub fn artifact(&self, key: Key<'_>, name: &str, options: &ArtifactOpenOptions) -> Result<Artifact> {
        let (key, name) = (key.to_c()?, c_string("the artifact's name", name)?);
        let options = options.raw(&self.limits);
        Artifact::open(&self.limits, |artifact, error| unsafe {
            sys::ses_artifact_open_by_key(self.raw(), &key.raw(), name.as_ptr(), &options, artifact, error)
        })
    }
    /// One page of the artifacts of a session and of its user, each with its newest version, in the order of
    /// their names: those after `after`. `limit` 0: 100.
    pub fn artifact_names(&self, key: Key<'_>, after: Option<&str>, limit: usize) -> Result<ArtifactList> {
        let (key, after) = (key.to_c()?, c_string_or_null("the name", after)?);
        let options = info::list_options(&self.limits, &after, 0, limit);
        ArtifactList::open(|list, error| unsafe {
            sys::ses_artifact_names_by_key(self.raw(), &key.raw(), &options, list, error)
        })
    }
    /// One page of the versions of an artifact from `first` on, the oldest first. `limit` 0: 100.
    pub fn artifact_versions(
        &self,
        key: Key<'_>,
        name: &str,
        first: i64,
        limit: usize,
    ) -> Result<ArtifactList> {
        let (key, name) = (key.to_c()?, c_string("the artifact's name", name)?);
        let options = info::list_options(&self.limits, &None, first, limit);
        ArtifactList::open(|list, error| unsafe {
            sys::ses_artifact_versions_by_key(self.raw(), &key.raw(), name.as_ptr(), &options, list, error)
        })
    }
    /// The JSON of an event of a session with the bytes of artifacts in place of references to them, for
    /// programs that do not read artifacts: this undoes [`Artifacts::offload`]. `bytes` is how many to put in
    /// at most; 0: any number. `None`: all references stay, or there are none.
    pub fn inline_artifacts(&self, key: Key<'_>, event: &str, bytes: i64) -> Result<Option<Json>> {
        let (key, options) = (key.to_c()?, inline_options(&self.limits, bytes));
        take_text(|json, json_len, error| unsafe {
            let (text, len) = (event.as_ptr().cast(), event.len());
            sys::ses_artifact_inline_by_key(
                self.raw(),
                &key.raw(),
                text,
                len,
                &options,
                json,
                json_len,
                error,
            )
        })
    }
    /// Deletes all versions of an artifact. If there are none, the count is 0 and there is no error.
    pub fn delete_artifact(&self, key: Key<'_>, name: &str, options: &DeleteOptions) -> Result<Deleted> {
        let (key, name) = (key.to_c()?, c_string("the artifact's name", name)?);
        let mut raw = options.raw(&self.limits);
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_artifact_delete_by_key(self.raw(), &key.raw(), name.as_ptr(), &raw, deleted, error)
        })
    }
}

/// The artifacts of this session, and of its user, whose names begin with `user:`.
impl Session {
    /// See [`Store::save_artifact`].
    pub fn save_artifact(
        &mut self,
        name: &str,
        bytes: &[u8],
        options: &ArtifactSaveOptions<'_>,
    ) -> Result<i64> {
        let name = c_string("the artifact's name", name)?;
        let options = options.to_c(&self.limits)?;
        save::version_of(|version, error| unsafe {
            let (bytes, len) = (bytes.as_ptr().cast(), bytes.len());
            sys::ses_artifact_save(self.raw(), name.as_ptr(), bytes, len, options.as_ptr(), version, error)
        })
    }
    /// See [`Store::save_artifact_from`].
    pub fn save_artifact_from<R: Read>(
        &mut self,
        name: &str,
        from: R,
        options: &ArtifactSaveOptions<'_>,
    ) -> Result<i64> {
        let name = c_string("the artifact's name", name)?;
        let options = options.to_c(&self.limits)?;
        options.reading(from, |bytes, len, options| {
            save::version_of(|version, error| unsafe {
                sys::ses_artifact_save(self.raw(), name.as_ptr(), bytes, len, options, version, error)
            })
        })
    }
    /// See [`Store::artifact`].
    pub fn artifact(&mut self, name: &str, options: &ArtifactOpenOptions) -> Result<Artifact> {
        let name = c_string("the artifact's name", name)?;
        let (limits, options) = (self.limits.clone(), options.raw(&self.limits));
        Artifact::open(&limits, |artifact, error| unsafe {
            sys::ses_artifact_open(self.raw(), name.as_ptr(), &options, artifact, error)
        })
    }
    /// See [`Store::artifact_names`].
    pub fn artifact_names(&mut self, after: Option<&str>, limit: usize) -> Result<ArtifactList> {
        let after = c_string_or_null("the name", after)?;
        let options = info::list_options(&self.limits, &after, 0, limit);
        ArtifactList::open(|list, error| unsafe {
            sys::ses_artifact_names(self.raw(), &options, list, error)
        })
    }
    /// See [`Store::artifact_versions`].
    pub fn artifact_versions(&mut self, name: &str, first: i64, limit: usize) -> Result<ArtifactList> {
        let name = c_string("the artifact's name", name)?;
        let options = info::list_options(&self.limits, &None, first, limit);
        ArtifactList::open(|list, error| unsafe {
            sys::ses_artifact_versions(self.raw(), name.as_ptr(), &options, list, error)
        })
    }
    /// See [`Store::inline_artifacts`].
    pub fn inline_artifacts(&mut self, event: &str, bytes: i64) -> Result<Option<Json>> {
        let options = inline_options(&self.limits, bytes);
        take_text(|json, json_len, error| unsafe {
            let (text, len) = (event.as_ptr().cast(), event.len());
            sys::ses_artifact_inline(self.raw(), text, len, &options, json, json_len, error)
        })
    }
    /// See [`Store::delete_artifact`].
    pub fn delete_artifact(&mut self, name: &str, options: &DeleteOptions) -> Result<Deleted> {
        let name = c_string("the artifact's name", name)?;
        let mut raw = options.raw(&self.limits);
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_artifact_delete(self.raw(), name.as_ptr(), &raw, deleted, error)
        })
    }
}
