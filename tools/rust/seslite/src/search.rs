//! Searching events by words.

use std::ffi::{c_char, c_uint, CString};
use std::iter::FusedIterator;
use std::ptr::{self, NonNull};
use std::vec;

use seslite_sys as sys;

use crate::callback::Callback;
use crate::error::{done, opened, Result};
use crate::lists::{CFilter, Filter};
use crate::raw::{limited, optional_ref};
use crate::store::Store;
use crate::text::{borrowed, c_string, c_string_or_null, name, optional_name, pointer};
use crate::upkeep::progress_of;

const PAGE_MAX: usize = 1000;

/// What to search for.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchOptions<'a> {
    session: Option<&'a str>,
    filter: Option<Filter<'a>>,
    flags: c_uint,
    since_us: Option<i64>,
    before_us: Option<i64>,
    snippet_bytes: usize,
    limit: Option<usize>,
}

impl<'a> SearchOptions<'a> {
    /// Events with all of the words, in any order.
    pub fn new() -> Self {
        Self::default()
    }
    /// Only this session of the user.
    pub fn session(mut self, id: &'a str) -> Self {
        self.session = Some(id);
        self
    }
    /// Only in the sessions that a list with this filter has. A search of a single session refuses it with
    /// [`Code::Misuse`](crate::Code::Misuse).
    pub fn filter(mut self, filter: Filter<'a>) -> Self {
        self.filter = Some(filter);
        self
    }
    /// Events with at least one of the words.
    pub fn any(mut self) -> Self {
        self.flags |= sys::SES_SEARCH_ANY;
        self
    }
    /// The words must follow each other as they do in the text that is given.
    pub fn phrase(mut self) -> Self {
        self.flags |= sys::SES_SEARCH_PHRASE;
        self
    }
    /// Only events that no rewind has taken back.
    pub fn live(mut self) -> Self {
        self.flags |= sys::SES_SEARCH_LIVE;
        self
    }
    /// Gives each event with its hit: [`Hit::json`].
    pub fn json(mut self) -> Self {
        self.flags |= sys::SES_SEARCH_JSON;
        self
    }
    /// The event's timestamp is this or later.
    pub fn since_us(mut self, time_us: i64) -> Self {
        self.since_us = Some(time_us);
        self
    }
    /// The event's timestamp is earlier than this.
    pub fn before_us(mut self, time_us: i64) -> Self {
        self.before_us = Some(time_us);
        self
    }
    /// About how many bytes [`Hit::snippet`] has, at most 64 KiB. Without them there is none.
    pub fn snippet_bytes(mut self, bytes: usize) -> Self {
        self.snippet_bytes = bytes;
        self
    }
    /// Not more than this many hits.
    pub fn limit(mut self, hits: usize) -> Self {
        self.limit = Some(hits);
        self
    }
}

/// An event that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    pub user: String,
    pub session: String,
    /// The event's id.
    pub id: String,
    pub author: String,
    pub seq: i64,
    pub time_us: i64,
    /// A piece of the text in which a word was found first, if [`SearchOptions::snippet_bytes`] asks for one.
    pub snippet: Option<String>,
    /// The byte of the snippet at which that word begins.
    pub snippet_found: usize,
    /// The event, if [`SearchOptions::json`] asks for it, and of what is remembered.
    pub json: Option<String>,
    /// The part of the words asked for that it has, of what is remembered; otherwise 0.
    pub score: f64,
}

impl Hit {
    pub(crate) unsafe fn new(raw: &sys::ses_hit) -> Result<Hit> {
        unsafe {
            let owned = |text: *const c_char| name(text).to_owned();
            let has_snippet = !raw.snippet.is_null();
            let snippet = has_snippet.then(|| borrowed(raw.snippet, raw.snippet_len)).transpose()?;
            Ok(Hit {
                user: owned(raw.user),
                session: owned(raw.session),
                id: owned(raw.id),
                author: owned(raw.author),
                seq: raw.seq,
                time_us: raw.time_us,
                snippet: snippet.map(str::to_owned),
                snippet_found: raw.snippet_found,
                json: (!raw.json.is_null())
                    .then(|| borrowed(raw.json, raw.json_len).map(str::to_owned))
                    .transpose()?,
                score: raw.score,
            })
        }
    }
}

/// A page of the library.
pub(crate) struct HitPage {
    pub(crate) raw: NonNull<sys::ses_hits>,
}

impl HitPage {
    pub(crate) fn hits(&self) -> Result<Vec<Hit>> {
        let count = unsafe { sys::ses_hits_count(self.raw.as_ptr()) };
        (0..count).map(|index| unsafe { Hit::new(&*sys::ses_hits_at(self.raw.as_ptr(), index)) }).collect()
    }
    fn indexed(&self) -> bool {
        unsafe { sys::ses_hits_indexed(self.raw.as_ptr()) != 0 }
    }
    fn token(&self) -> Option<CString> {
        unsafe { optional_name(sys::ses_hits_token(self.raw.as_ptr())) }
            .and_then(|token| CString::new(token).ok())
    }
}

impl Drop for HitPage {
    fn drop(&mut self) {
        unsafe { sys::ses_hits_close(self.raw.as_ptr()) };
    }
}

/// The events that a search finds: those of the session that changed last first, and in each the newest
/// first. They are read page by page, and each page is a call. After a failure the search is over.
pub struct Hits {
    store: Store,
    app: CString,
    user: Option<CString>,
    session: Option<CString>,
    filter: Option<CFilter>,
    words: String,
    options: SearchOptions<'static>,
    page: vec::IntoIter<Hit>,
    indexed: bool,
    /// Leads to the next page; `None`: there is none.
    token: Option<CString>,
}

impl Hits {
    /// Whether the index was asked for the page that was read last. Otherwise the events were read.
    pub fn indexed(&self) -> bool {
        self.indexed
    }

    fn read_page(&mut self) -> Result<()> {
        let token = self.token.take();
        let scope = sys::ses_key {
            app: self.app.as_ptr(),
            user: pointer(&self.user),
            session: pointer(&self.session),
        };
        let filter = self.filter.as_ref().map(CFilter::raw);
        let mut raw: sys::ses_search_options = limited(&self.store.limits);
        raw.flags = self.options.flags;
        raw.since_us = optional_ref(&self.options.since_us);
        raw.before_us = optional_ref(&self.options.before_us);
        raw.snippet_bytes = self.options.snippet_bytes;
        raw.limit = self.options.limit.map_or(0, |limit| limit.min(PAGE_MAX));
        raw.token = pointer(&token);
        raw.filter = filter.as_ref().map_or(ptr::null(), ptr::from_ref);
        let (words, len) = (self.words.as_ptr().cast(), self.words.len());
        let page = HitPage {
            raw: opened(|page, error| unsafe {
                sys::ses_store_search(self.store.raw(), &scope, words, len, &raw, page, error)
            })?,
        };
        let hits = page.hits()?;
        self.indexed = page.indexed();
        self.options.limit = self.options.limit.map(|limit| limit - hits.len());
        self.token = if self.options.limit == Some(0) { None } else { page.token() };
        self.page = hits.into_iter();
        Ok(())
    }
}

impl Iterator for Hits {
    type Item = Result<Hit>;
    fn next(&mut self) -> Option<Result<Hit>> {
        loop {
            if let Some(hit) = self.page.next() {
                return Some(Ok(hit));
            }
            self.token.as_ref()?;
            if let Err(error) = self.read_page() {
                return Some(Err(error));
            }
        }
    }
}

impl FusedIterator for Hits {}

/// What [`Store::index`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// Makes the index if there is none, and adds the events that it lacks.
    Update,
    /// Drops the index first, and makes it again.
    Rebuild,
    /// Only drops it.
    Drop,
}

impl Store {
    /// Finds the events with all of some words, in the sessions of a user or of all users of the app. The
    /// words are separated by white space, and compared without regard to case and accents; there is no
    /// syntax.
    pub fn search(
        &self,
        app: &str,
        user: Option<&str>,
        words: &str,
        options: &SearchOptions<'_>,
    ) -> Result<Hits> {
        let mut hits = Hits {
            store: self.clone(),
            app: c_string("the app", app)?,
            user: c_string_or_null("the user", user)?,
            session: c_string_or_null("the session id", options.session)?,
            filter: options.filter.map(Filter::to_c).transpose()?,
            words: words.to_owned(),
            options: SearchOptions { session: None, filter: None, ..*options },
            page: Vec::new().into_iter(),
            indexed: false,
            token: None,
        };
        if options.limit != Some(0) {
            hits.read_page()?;
        }
        Ok(hits)
    }

    /// Makes the index of the store, brings it up to date or drops it, and returns how many events were
    /// added. Searches ask the index, and first add what it lacks of their scope; appends do not write to it.
    /// After a failure what was added stays.
    ///
    /// [`Code::Unsupported`](crate::Code::Unsupported): the SQLite in use has no FTS5.
    pub fn index(&self, what: Index) -> Result<i64> {
        self.index_with(what, |_, _| true)
    }

    /// The same; `progress` is told how many events of about how many are done, and ends the call with
    /// [`Code::Interrupted`](crate::Code::Interrupted) by returning false.
    pub fn index_with<F: FnMut(i64, i64) -> bool>(&self, what: Index, progress: F) -> Result<i64> {
        let mut progress = Callback::new(progress);
        let mut raw: sys::ses_index_options = limited(&self.limits);
        raw.flags = match what {
            Index::Update => 0,
            Index::Rebuild => sys::SES_INDEX_REBUILD,
            Index::Drop => sys::SES_INDEX_DROP,
        };
        raw.progress = Some(progress_of::<F>);
        raw.progress_context = progress.context();
        let mut events = 0;
        let done = done(|error| unsafe { sys::ses_store_index(self.raw(), &raw, &mut events, error) });
        progress.end(done)?;
        Ok(events)
    }
}
