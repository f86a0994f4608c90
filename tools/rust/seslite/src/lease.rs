use std::ffi::c_int;

use seslite_sys as sys;

use crate::error::{call, done, Result};
use crate::key::Key;
use crate::limits::Limits;
use crate::raw::{limited, zeroed};
use crate::store::Store;
use crate::text::c_string;

/// A lease that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// For [`AppendOptions::lease`](crate::AppendOptions::lease).
    pub token: i64,
    /// The lease holds until then, by the store's clock.
    pub until_us: i64,
}

impl Lease {
    fn of(take: impl FnOnce(*mut sys::ses_lease, *mut sys::ses_error) -> c_int) -> Result<Lease> {
        let mut lease = zeroed();
        call(|error| take(&mut lease, error))?;
        Ok(Lease { token: lease.token, until_us: lease.until_us })
    }
}

fn lease_options(limits: &Limits, duration_us: i64) -> sys::ses_lease_options {
    let mut options: sys::ses_lease_options = limited(limits);
    options.duration_us = duration_us;
    options
}

impl Store {
    /// Takes the lease of a session. `duration_us` 0: 60 seconds. `wait_ms` `None`: the busy timeout; 0: no
    /// wait.
    pub fn take_lease(
        &self,
        key: Key<'_>,
        owner: &str,
        duration_us: i64,
        wait_ms: Option<u32>,
    ) -> Result<Lease> {
        let (key, owner) = (key.to_c()?, c_string("the owner", owner)?);
        let mut options = lease_options(&self.limits, duration_us);
        options.wait_ms = wait_ms.map_or(0, |wait| if wait == 0 { -1 } else { i64::from(wait) });
        Lease::of(|lease, error| unsafe {
            sys::ses_lease_take(self.raw(), &key.raw(), owner.as_ptr(), &options, lease, error)
        })
    }
    pub fn renew_lease(&self, key: Key<'_>, token: i64, duration_us: i64) -> Result<Lease> {
        let (key, options) = (key.to_c()?, lease_options(&self.limits, duration_us));
        Lease::of(|lease, error| unsafe {
            sys::ses_lease_renew(self.raw(), &key.raw(), token, &options, lease, error)
        })
    }
    pub fn release_lease(&self, key: Key<'_>, token: i64) -> Result<()> {
        let (key, options) = (key.to_c()?, self.limits.call_options());
        done(|error| unsafe { sys::ses_lease_release(self.raw(), &key.raw(), token, &options, error) })
    }
}
