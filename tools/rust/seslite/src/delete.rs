//! Deleting, now and when the time has come.

use std::ffi::c_int;

use seslite_sys as sys;

use crate::erase::{Erased, Receipt};
use crate::error::{call, Result};
use crate::key::Key;
use crate::limits::Limits;
use crate::raw::{limited, optional_ref};
use crate::store::Store;
use crate::text::{c_string, c_string_or_null, pointer};

/// The result of a call that deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// How many of them.
    pub count: i64,
    /// There is more to do: call again. After a secure deletion it can mean that the write-ahead log could
    /// not be emptied.
    pub more: bool,
    /// The receipt, if one was asked for.
    pub erased: Option<Erased>,
}

impl Deleted {
    /// A call that deletes, and whether its receipt is asked for.
    pub(crate) fn of(
        receipt: bool,
        delete: impl FnOnce(*mut i64, *mut sys::ses_erased, *mut sys::ses_error) -> c_int,
    ) -> Result<Deleted> {
        let mut count = 0;
        let mut receipt = Receipt::new(receipt);
        let code = call(|error| delete(&mut count, receipt.raw(), error))?;
        let more = code == sys::SES_MORE;
        Ok(Deleted { count, more, erased: receipt.take(more) })
    }
}

/// The amounts deleted from a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeletedUser {
    pub sessions: i64,
    pub state_keys: i64,
    /// As for [`Deleted::more`].
    pub more: bool,
    /// The receipt, if one was asked for.
    pub erased: Option<Erased>,
}

/// How to delete.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeleteOptions {
    secure: bool,
    pub(crate) receipt: bool,
    limit: i64,
    children: bool,
}

impl DeleteOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// Overwrites what is deleted.
    pub fn secure(mut self) -> Self {
        self.secure = true;
        self
    }
    /// Asks for a receipt, which takes time: forks are looked for.
    pub fn receipt(mut self) -> Self {
        self.receipt = true;
        self
    }
    /// Only of [`Store::delete`]: also its children, and theirs.
    pub fn children(mut self) -> Self {
        self.children = true;
        self
    }
    /// Only of [`Store::delete_app`]: at most so many sessions per call.
    pub fn limit(mut self, sessions: i64) -> Self {
        self.limit = sessions;
        self
    }

    pub(crate) fn raw(&self, limits: &Limits) -> sys::ses_delete_options {
        let mut raw: sys::ses_delete_options = limited(limits);
        raw.flags = if self.secure { sys::SES_SECURE } else { 0 };
        if self.children {
            raw.flags |= sys::SES_DELETE_CHILDREN;
        }
        raw.limit = self.limit;
        raw
    }
}

/// Further sessions that [`Store::expire`](crate::Store::expire) removes besides expired ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExpireOptions {
    now_us: Option<i64>,
    idle_us: i64,
    sessions_per_user: i64,
    limit: i64,
    secure: bool,
    dry_run: bool,
    by_change: bool,
    pub(crate) receipt: bool,
    memory_us: i64,
}

impl ExpireOptions {
    pub fn new() -> Self {
        Self::default()
    }
    /// The caller's clock.
    pub fn now_us(mut self, time_us: i64) -> Self {
        self.now_us = Some(time_us);
        self
    }
    /// Also sessions whose last update is longer ago.
    pub fn idle_us(mut self, us: i64) -> Self {
        self.idle_us = us;
        self
    }
    /// Also memory whose last update is longer ago, which `idle_us` leaves alone.
    pub fn memory_us(mut self, us: i64) -> Self {
        self.memory_us = us;
        self
    }
    /// Also the least recently updated sessions of a user beyond so many.
    pub fn sessions_per_user(mut self, sessions: i64) -> Self {
        self.sessions_per_user = sessions;
        self
    }
    /// [`sessions_per_user`](Self::sessions_per_user) keeps those that were last written to, by the store's
    /// clock, whatever times their events have.
    pub fn by_change(mut self) -> Self {
        self.by_change = true;
        self
    }
    /// Sessions per call.
    pub fn limit(mut self, sessions: i64) -> Self {
        self.limit = sessions;
        self
    }
    /// Overwrites what is deleted.
    pub fn secure(mut self) -> Self {
        self.secure = true;
        self
    }
    /// Asks for a receipt. It does not look for forks.
    pub fn receipt(mut self) -> Self {
        self.receipt = true;
        self
    }
    /// Deletes nothing: the answer is how many sessions all calls would delete.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    pub(crate) fn with_raw<T>(
        &self,
        limits: &Limits,
        function: impl FnOnce(&mut sys::ses_expire_options) -> T,
    ) -> T {
        let mut raw: sys::ses_expire_options = limited(limits);
        raw.flags = if self.secure { sys::SES_SECURE } else { 0 };
        if self.dry_run {
            raw.flags |= sys::SES_EXPIRE_DRY_RUN;
        }
        if self.by_change {
            raw.flags |= sys::SES_EXPIRE_CHANGED;
        }
        raw.now_us = optional_ref(&self.now_us);
        raw.idle_us = self.idle_us;
        raw.memory_us = self.memory_us;
        raw.sessions_per_user = self.sessions_per_user;
        raw.limit = self.limit;
        function(&mut raw)
    }
}

impl Store {
    /// Deletes a session. If it does not exist, the count is 0 and there is no error.
    pub fn delete(&self, key: Key<'_>, options: &DeleteOptions) -> Result<Deleted> {
        let key = key.to_c()?;
        let mut raw = options.raw(&self.limits);
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_delete(self.raw(), &key.raw(), &raw, deleted, error)
        })
    }
    /// Deletes everything of a user in an app, `user:` state included, in one transaction.
    pub fn delete_user(&self, app: &str, user: &str, options: &DeleteOptions) -> Result<DeletedUser> {
        let (app, user) = (c_string("the app", app)?, c_string("the user", user)?);
        let mut raw = options.raw(&self.limits);
        let mut state_keys = 0;
        let deleted = Deleted::of(options.receipt, |sessions, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_delete_user(
                self.raw(),
                app.as_ptr(),
                user.as_ptr(),
                &raw,
                sessions,
                &mut state_keys,
                error,
            )
        })?;
        Ok(DeletedUser { sessions: deleted.count, state_keys, more: deleted.more, erased: deleted.erased })
    }
    /// Deletes everything of an app, at most [`DeleteOptions::limit`] sessions per call (100). Call it until
    /// nothing is left.
    pub fn delete_app(&self, app: &str, options: &DeleteOptions) -> Result<Deleted> {
        let app = c_string("the app", app)?;
        let mut raw = options.raw(&self.limits);
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_delete_app(self.raw(), app.as_ptr(), &raw, deleted, error)
        })
    }
    /// Deletes sessions whose expiry time has come, in one app or in all, and others as the options say.
    pub fn expire(&self, app: Option<&str>, options: &ExpireOptions) -> Result<Deleted> {
        let app = c_string_or_null("the app", app)?;
        options.with_raw(&self.limits, |raw| {
            Deleted::of(options.receipt, |deleted, erased, error| unsafe {
                raw.erased = erased;
                sys::ses_store_expire(self.raw(), pointer(&app), raw, deleted, error)
            })
        })
    }
}
