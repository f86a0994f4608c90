use std::ffi::c_int;
use std::ptr::NonNull;

use seslite_sys as sys;

use crate::error::{opened, Result};
use crate::session::SessionView;
use crate::text::{bytes, name, optional_name};

/// One page of a list: sessions with their merged state and without events.
pub struct Page {
    raw: NonNull<sys::ses_page>,
}

unsafe impl Send for Page {}

/// The library cuts valid UTF-8 between characters.
unsafe fn optional_text<'a>(text: sys::ses_text) -> Option<&'a str> {
    (!text.text.is_null())
        .then(|| std::str::from_utf8(unsafe { bytes(text.text, text.len) }).unwrap_or("\u{fffd}"))
}

/// What a conversation is about, as it is stored at the moment of the list. Its texts are those of live events,
/// without thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview<'a> {
    /// The newest text.
    pub last: Option<&'a str>,
    pub last_author: Option<&'a str>,
    /// The number of the event with that text.
    pub last_seq: Option<i64>,
    /// The function calls after that text that wait for a response.
    pub pending_calls: usize,
    /// Of a session without a title: the first text of the user.
    pub first: Option<&'a str>,
}

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
    /// What was said last in a session of the page. `None`: the list was made without
    /// [`ListOptions::preview`](crate::ListOptions::preview), or there is no such session.
    pub fn preview(&self, index: usize) -> Option<Preview<'_>> {
        let raw = unsafe { sys::ses_page_preview(self.raw.as_ptr(), index).as_ref() }?;
        Some(Preview {
            last: unsafe { optional_text(raw.last) },
            last_author: unsafe { optional_name(raw.last_author) },
            last_seq: (raw.last_seq > 0).then_some(raw.last_seq),
            pending_calls: raw.pending_calls,
            first: unsafe { optional_text(raw.first) },
        })
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
