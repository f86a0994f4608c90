use std::fmt;
use std::io::Read;
use std::ptr::NonNull;

use seslite_sys as sys;

use crate::artifact::ArtifactSaveOptions;
use crate::error::{done, opened, Result};
use crate::key::Key;
use crate::limits::Limits;
use crate::store::Store;
use crate::text::c_string;

/// Artifacts that are saved together with an event. An append that is given them
/// ([`AppendOptions::artifacts`](crate::AppendOptions::artifacts)) saves them in its transaction and merges
/// their versions into the event's `actions.artifactDelta`. So an event never names an artifact that is not
/// there.
///
/// ```
/// # fn main() -> seslite::Result<()> {
/// use seslite::{AppendOptions, ArtifactSaveOptions, Artifacts, Store};
///
/// let store = Store::open(":memory:")?;
/// let mut session = store.create(seslite::Key::new("my_app", "alice", "s1"), None)?;
/// let mut artifacts = Artifacts::new(&store, session.key())?;
/// artifacts.add("chart.svg", b"<svg/>", &ArtifactSaveOptions::new().mime_type("image/svg+xml"))?;
/// session.append_with(r#"{"author":"agent"}"#, &AppendOptions::new().artifacts(&artifacts))?;
/// assert_eq!(artifacts.version(0), Some(0));
/// assert!(session.event(0).unwrap().json()?.contains(r#""artifactDelta":{"chart.svg":0}"#));
/// # Ok(())
/// # }
/// ```
///
/// After [`Code::Stale`](crate::Code::Stale), or any other failure, the same list can be given to the next
/// try. Given to another event, it saves the next versions. Options that have the list borrow it, so it can
/// neither be dropped nor grow before the append:
///
/// ```compile_fail,E0505
/// # fn main() -> seslite::Result<()> {
/// # use seslite::{AppendOptions, Artifacts, Key, Store};
/// # let store = Store::open(":memory:")?;
/// # let key = Key::new("my_app", "alice", "s1");
/// let artifacts = Artifacts::new(&store, key)?;
/// let options = AppendOptions::new().artifacts(&artifacts);
/// drop(artifacts);
/// store.append(key, r#"{"author":"agent"}"#, &options)?;
/// # Ok(())
/// # }
/// ```
///
/// It moves between threads, but two threads cannot append it at the same time:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>() {}
/// shared::<seslite::Artifacts>();
/// ```
pub struct Artifacts {
    raw: NonNull<sys::ses_artifacts>,
    // The library keeps the options of each artifact, and the cancel handle in them.
    limits: Limits,
}

unsafe impl Send for Artifacts {}

impl Artifacts {
    /// An empty list for appends to a session. An append to another session, or on another store, is
    /// [`Code::Misuse`](crate::Code::Misuse), and so is a batch. What is added has the limits of this handle
    /// of the store.
    pub fn new(store: &Store, key: Key<'_>) -> Result<Artifacts> {
        let key = key.to_c()?;
        let raw = opened(|artifacts, error| unsafe {
            sys::ses_artifacts_open(store.raw(), &key.raw(), artifacts, error)
        })?;
        Ok(Artifacts { raw, limits: store.limits.clone() })
    }

    /// Adds an artifact. Up to 4 MiB are copied; more bytes are written to the store at once, where nobody
    /// sees them before the append. If it is never made, dropping the list removes them. If several have the
    /// same name, each is a version.
    pub fn add(&mut self, name: &str, bytes: &[u8], options: &ArtifactSaveOptions<'_>) -> Result<()> {
        let name = c_string("the artifact's name", name)?;
        let options = options.to_c(&self.limits)?;
        done(|error| unsafe {
            let (bytes, len) = (bytes.as_ptr().cast(), bytes.len());
            sys::ses_artifacts_add(self.raw.as_ptr(), name.as_ptr(), bytes, len, options.as_ptr(), error)
        })
    }
    /// The same for what a reader gives until its end: see [`Store::save_artifact_from`].
    pub fn add_from<R: Read>(
        &mut self,
        name: &str,
        from: R,
        options: &ArtifactSaveOptions<'_>,
    ) -> Result<()> {
        let name = c_string("the artifact's name", name)?;
        let options = options.to_c(&self.limits)?;
        options.reading(from, |bytes, len, options| {
            done(|error| unsafe {
                sys::ses_artifacts_add(self.raw.as_ptr(), name.as_ptr(), bytes, len, options, error)
            })
        })
    }

    /// Makes an artifact of each inline data of the event with more than so many bytes; its part refers to
    /// the artifact then. [`ContextOptions::inline_bytes`](crate::ContextOptions::inline_bytes) puts the
    /// bytes back for a model.
    pub fn offload(&mut self, bytes: i64) -> Result<()> {
        done(|error| unsafe { sys::ses_artifacts_offload(self.raw.as_ptr(), bytes, error) })
    }

    /// The version that an artifact, counted from 0 as they were added, got with the last append that
    /// succeeded. It has no meaning before. `None`: past the end.
    pub fn version(&self, index: usize) -> Option<i64> {
        let version = unsafe { sys::ses_artifacts_version(self.raw.as_ptr(), index) };
        (version >= 0).then_some(version)
    }

    pub(crate) fn raw(&self) -> *mut sys::ses_artifacts {
        self.raw.as_ptr()
    }
}

impl fmt::Debug for Artifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Artifacts").finish_non_exhaustive()
    }
}

impl Drop for Artifacts {
    fn drop(&mut self) {
        unsafe { sys::ses_artifacts_close(self.raw.as_ptr()) };
    }
}
