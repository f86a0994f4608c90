use std::ffi::c_int;
use std::io::{self, Read, Seek, SeekFrom};
use std::ptr::NonNull;

use seslite_sys as sys;

use crate::artifact::ArtifactInfo;
use crate::error::{done, opened, Error, Result};
use crate::limits::Limits;
use crate::raw::{limited, optional_ref};

/// Which version to open. [`ArtifactOpenOptions::new`] is the newest.
#[derive(Debug, Clone, Copy, Default)]
pub struct ArtifactOpenOptions {
    version: Option<i64>,
    stored: bool,
}

impl ArtifactOpenOptions {
    pub fn new() -> Self {
        Self::default()
    }
    pub fn version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }
    /// Opens references and tombstones themselves. Otherwise a reference opens what it refers to, and a
    /// tombstone, by which a rewind removes an artifact, counts as absent.
    pub fn stored(mut self) -> Self {
        self.stored = true;
        self
    }

    pub(crate) fn raw(&self, limits: &Limits) -> sys::ses_artifact_open_options {
        let mut raw: sys::ses_artifact_open_options = limited(limits);
        raw.flags = if self.stored { sys::SES_ARTIFACT_OPEN_STORED } else { 0 };
        raw.version = optional_ref(&self.version);
        raw
    }
}

/// An open artifact. It reads and seeks as a file does, from the store and not from memory. A failure is an
/// [`io::Error`] around an [`Error`], which [`From`] takes out again. Whoever reads all bytes in order learns
/// with the last of them if they do not have the artifact's hash: [`Code::Corrupt`](crate::Code::Corrupt).
pub struct Artifact {
    raw: NonNull<sys::ses_artifact>,
    position: u64,
    // Each read looks at the cancel handle in them.
    _limits: Limits,
}

// One thread reads at a time, since reading takes `&mut`. What is known of the version does not change.
unsafe impl Send for Artifact {}

impl Artifact {
    pub(crate) fn open(
        limits: &Limits,
        open: impl FnOnce(*mut *mut sys::ses_artifact, *mut sys::ses_error) -> c_int,
    ) -> Result<Artifact> {
        Ok(Artifact { raw: opened(open)?, position: 0, _limits: limits.clone() })
    }

    pub fn info(&self) -> ArtifactInfo<'_> {
        unsafe { ArtifactInfo::new(sys::ses_artifact_info_of(self.raw.as_ptr())) }.expect("it is open")
    }

    /// Reads from an offset on, wherever the position is. The number of bytes is less than asked for only at
    /// the end.
    pub fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let Ok(offset) = i64::try_from(offset) else { return Ok(0) };
        let mut len = 0;
        done(|error| unsafe {
            let (to, capacity) = (buffer.as_mut_ptr().cast(), buffer.len());
            sys::ses_artifact_read(self.raw.as_ptr(), offset, to, capacity, &mut len, error)
        })?;
        Ok(len)
    }

    /// All bytes, from the first on.
    pub fn read_all(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.rewind()?;
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Read for Artifact {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.read_at(self.position, buffer).map_err(Error::into_io)?;
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for Artifact {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.info().size().checked_add_signed(offset),
        };
        self.position = position.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "seek to a position before the first byte, or beyond all numbers",
            )
        })?;
        Ok(self.position)
    }
}

impl std::fmt::Debug for Artifact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Artifact").field("info", &self.info()).field("position", &self.position).finish()
    }
}

impl Drop for Artifact {
    fn drop(&mut self) {
        unsafe { sys::ses_artifact_close(self.raw.as_ptr()) };
    }
}
