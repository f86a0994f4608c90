//! Finding a text wherever a store holds it.

use std::collections::VecDeque;
use std::ffi::{c_char, CString};
use std::iter::FusedIterator;
use std::ops::Range;
use std::ptr::{self, NonNull};

use seslite_sys as sys;

use crate::callback::Callback;
use crate::erase::{find_next, Find};
use crate::error::{opened, Result};
use crate::raw::limited;
use crate::store::Store;
use crate::text::{c_string_or_null, name, optional_name, pointer};

/// Where to look, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct FindOptions<'a> {
    app: Option<&'a str>,
    user: Option<&'a str>,
    session: Option<&'a str>,
    ignore_case: bool,
}

impl<'a> FindOptions<'a> {
    /// In the whole store.
    pub fn new() -> Self {
        Self::default()
    }
    /// Only in this app.
    pub fn app(mut self, app: &'a str) -> Self {
        self.app = Some(app);
        self
    }
    /// Only of this user of the app.
    pub fn user(mut self, user: &'a str) -> Self {
        self.user = Some(user);
        self
    }
    /// Only in this session of the user.
    pub fn session(mut self, id: &'a str) -> Self {
        self.session = Some(id);
        self
    }
    /// Ignores the case of ASCII letters in a text. A closure decides for itself.
    pub fn ignore_case(mut self) -> Self {
        self.ignore_case = true;
        self
    }
}

/// Where something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Found {
    /// The id of the session, or of the user, or of the app: the last that [`Finding`] has.
    Id,
    /// The user or the session from which the session was forked.
    Parent,
    Title,
    /// The name or the value of a label.
    Label,
    /// The name of a state key.
    Key,
    /// The value of a state key.
    Value,
    /// The state that the session was created with.
    Initial,
    /// The state before the first event that was not pruned.
    Base,
    /// An event: anything in it, with its ids, inline data also decoded.
    Event,
    /// An artifact's name, type, display name or metadata.
    Artifact,
    /// The bytes of an artifact.
    Bytes,
    /// The draft of the session.
    Draft,
    /// An input in its inbox.
    Input,
    /// A number that this crate does not know.
    Other(i32),
}

impl Found {
    fn from_number(number: i32) -> Found {
        match number.unsigned_abs() {
            sys::SES_FOUND_ID => Found::Id,
            sys::SES_FOUND_PARENT => Found::Parent,
            sys::SES_FOUND_TITLE => Found::Title,
            sys::SES_FOUND_LABEL => Found::Label,
            sys::SES_FOUND_KEY => Found::Key,
            sys::SES_FOUND_VALUE => Found::Value,
            sys::SES_FOUND_INITIAL => Found::Initial,
            sys::SES_FOUND_BASE => Found::Base,
            sys::SES_FOUND_EVENT => Found::Event,
            sys::SES_FOUND_ARTIFACT => Found::Artifact,
            sys::SES_FOUND_BYTES => Found::Bytes,
            sys::SES_FOUND_DRAFT => Found::Draft,
            sys::SES_FOUND_INPUT => Found::Input,
            _ => Found::Other(number),
        }
    }
}

/// A place in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    pub kind: Found,
    pub app: String,
    /// `None`: it belongs to the app.
    pub user: Option<String>,
    /// `None`: it belongs to the app or the user.
    pub session: Option<String>,
    /// Of the key, with its prefix, the label or the artifact.
    pub name: Option<String>,
    /// Of the event.
    pub seq: Option<i64>,
    /// Of the artifact.
    pub version: Option<i64>,
    /// What is around the first piece that was found there; `None`: it is not UTF-8.
    pub text: Option<String>,
    /// The byte of it at which the piece begins.
    pub text_found: usize,
}

impl Finding {
    unsafe fn new(raw: &sys::ses_finding) -> Finding {
        unsafe {
            let owned = |text: *const c_char| optional_name(text).map(str::to_owned);
            let text = crate::text::bytes(raw.text, raw.text_len);
            Finding {
                kind: Found::from_number(raw.kind),
                app: name(raw.app).to_owned(),
                user: owned(raw.user),
                session: owned(raw.session),
                name: owned(raw.name),
                seq: (raw.seq > 0).then_some(raw.seq),
                version: (raw.version >= 0).then_some(raw.version),
                text: (!raw.text.is_null()).then(|| String::from_utf8_lossy(text).into_owned()),
                text_found: raw.text_found,
            }
        }
    }
}

/// A page of the library.
struct FindingPage {
    raw: NonNull<sys::ses_findings>,
}

impl FindingPage {
    fn findings(&self) -> VecDeque<Finding> {
        let count = unsafe { sys::ses_findings_count(self.raw.as_ptr()) };
        (0..count)
            .map(|index| unsafe { Finding::new(&*sys::ses_findings_at(self.raw.as_ptr(), index)) })
            .collect()
    }
    fn token(&self) -> Option<CString> {
        unsafe { optional_name(sys::ses_findings_token(self.raw.as_ptr())) }
            .and_then(|token| CString::new(token).ok())
    }
}

impl Drop for FindingPage {
    fn drop(&mut self) {
        unsafe { sys::ses_findings_close(self.raw.as_ptr()) };
    }
}

/// What is looked for.
enum Wanted<'f> {
    Text(String),
    Pieces(Box<dyn FnMut(&[u8], usize) -> Option<Range<usize>> + 'f>),
}

/// The places that have what is looked for. They are read page by page, and each page is a call. After a
/// failure the search is over.
pub struct Findings<'f> {
    store: Store,
    app: Option<CString>,
    user: Option<CString>,
    session: Option<CString>,
    flags: u32,
    wanted: Wanted<'f>,
    page: VecDeque<Finding>,
    /// Leads to the next page; `None`: there is none.
    token: Option<CString>,
}

impl<'f> Findings<'f> {
    fn open(store: &Store, wanted: Wanted<'f>, options: &FindOptions<'_>) -> Result<Findings<'f>> {
        let mut findings = Findings {
            store: store.clone(),
            app: c_string_or_null("the app", options.app)?,
            user: c_string_or_null("the user", options.user)?,
            session: c_string_or_null("the session id", options.session)?,
            flags: if options.ignore_case { sys::SES_FIND_IGNORE_CASE } else { 0 },
            wanted,
            page: VecDeque::new(),
            token: None,
        };
        findings.read_page()?;
        Ok(findings)
    }

    fn read_page(&mut self) -> Result<()> {
        let token = self.token.take();
        let key = sys::ses_key {
            app: pointer(&self.app),
            user: pointer(&self.user),
            session: pointer(&self.session),
        };
        let is_whole = self.app.is_none() && self.user.is_none() && self.session.is_none();
        let scope = if is_whole { ptr::null() } else { ptr::from_ref(&key) };
        let mut raw: sys::ses_find_options = limited(&self.store.limits);
        raw.flags = self.flags;
        raw.token = pointer(&token);
        let store = self.store.raw();
        let raw = match &mut self.wanted {
            Wanted::Text(text) => opened(|page, error| unsafe {
                sys::ses_store_find(store, scope, text.as_ptr().cast(), text.len(), &raw, page, error)
            })?,
            Wanted::Pieces(find) => {
                let mut callback: Callback<Find<'_>> = Callback::new(&mut **find);
                raw.find = Some(find_next);
                raw.find_context = callback.context();
                let made = opened(|page, error| unsafe {
                    sys::ses_store_find(store, scope, ptr::null(), 0, &raw, page, error)
                });
                callback.end(made)?
            }
        };
        let page = FindingPage { raw };
        self.page = page.findings();
        self.token = page.token();
        Ok(())
    }
}

impl Iterator for Findings<'_> {
    type Item = Result<Finding>;
    fn next(&mut self) -> Option<Result<Finding>> {
        loop {
            if let Some(finding) = self.page.pop_front() {
                return Some(Ok(finding));
            }
            self.token.as_ref()?;
            if let Err(error) = self.read_page() {
                return Some(Err(error));
            }
        }
    }
}

impl FusedIterator for Findings<'_> {}

impl Store {
    /// Finds a text wherever the store, or what the options name, has it: in ids, titles, labels, state and
    /// the names of its keys, events and artifacts. A request of somebody who asks for their data begins with
    /// it. Each place is found once.
    ///
    /// [`Code::Misuse`](crate::Code::Misuse): the options name a user without an app, or a session without a
    /// user.
    pub fn find(&self, text: &str, options: &FindOptions<'_>) -> Result<Findings<'static>> {
        Findings::open(self, Wanted::Text(text.to_owned()), options)
    }

    /// The same for what `find` finds: given a text and a byte of it, it returns the next piece from there
    /// on, in bytes. It runs without a lock.
    pub fn find_pieces<'f>(
        &self,
        find: impl FnMut(&[u8], usize) -> Option<Range<usize>> + 'f,
        options: &FindOptions<'_>,
    ) -> Result<Findings<'f>> {
        Findings::open(self, Wanted::Pieces(Box::new(find)), options)
    }
}
