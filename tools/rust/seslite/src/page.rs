use std::ffi::c_int;
use std::ptr::NonNull;

use seslite_sys as sys;

use crate::error::{opened, Result};
use crate::session::SessionView;
use crate::text::{name, optional_name};

/// One page of a list: sessions with their merged state and without events.
pub struct Page {
    raw: NonNull<sys::ses_page>,
}

unsafe impl Send for Page {}

impl Page {
    pub(crate) fn open(
        open: impl FnOnce(*mut *mut sys::ses_page, *mut sys::ses_error) -> c_int,
    ) -> Result<Page> {
        Ok(Page { raw: opened(open)? })
    }

    pub fn len(&self) -> usize {
        unsafe { sys::ses_page_count(self.raw.as_ptr()) }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn session(&self, index: usize) -> Option<&SessionView> {
        unsafe { SessionView::new(sys::ses_page_session(self.raw.as_ptr(), index)) }
    }
    pub fn sessions(&self) -> impl Iterator<Item = &SessionView> {
        (0..self.len()).filter_map(|index| self.session(index))
    }
    /// When a session of the page was last written to, by the store's clock.
    /// [`Order::Changed`](crate::Order::Changed) sorts by it.
    pub fn changed_us(&self, index: usize) -> Option<i64> {
        (index < self.len()).then(|| unsafe { sys::ses_page_changed_us(self.raw.as_ptr(), index) })
    }
    /// Leads to the next page; `None`: this is the last one.
    pub fn token(&self) -> Option<&str> {
        unsafe { optional_name(sys::ses_page_token(self.raw.as_ptr())) }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        unsafe { sys::ses_page_close(self.raw.as_ptr()) };
    }
}

/// One page of names, in the order of their bytes.
pub struct Names {
    raw: NonNull<sys::ses_names>,
}

unsafe impl Send for Names {}

impl Names {
    pub(crate) fn open(
        open: impl FnOnce(*mut *mut sys::ses_names, *mut sys::ses_error) -> c_int,
    ) -> Result<Names> {
        Ok(Names { raw: opened(open)? })
    }

    pub fn len(&self) -> usize {
        unsafe { sys::ses_names_count(self.raw.as_ptr()) }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| unsafe { name(sys::ses_names_at(self.raw.as_ptr(), index)) })
    }
    /// `after` for the next page; `None`: this is the last one.
    pub fn next(&self) -> Option<&str> {
        unsafe { optional_name(sys::ses_names_after(self.raw.as_ptr())) }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        unsafe { sys::ses_names_close(self.raw.as_ptr()) };
    }
}
