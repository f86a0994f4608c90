//! The tokens that models have used.

use std::ffi::{c_char, c_int, c_uint, c_void, CString};
use std::iter::FusedIterator;
use std::ptr::{self, NonNull};
use std::vec;

use seslite_sys as sys;

use crate::callback::Callback;
use crate::error::{done, opened, Result};
use crate::lists::{CFilter, Filter};
use crate::raw::{limited, optional_ref};
use crate::store::Store;
use crate::text::{c_string_or_null, optional_name, pointer};

const PAGE: usize = 1000;

type Zone<'a> = &'a (dyn Fn(i64) -> i32 + Sync);

/// What usage is added up by, and of which calls.
#[derive(Clone, Copy, Default)]
pub struct UsageOptions<'a> {
    flags: c_uint,
    app: Option<&'a str>,
    user: Option<&'a str>,
    session: Option<&'a str>,
    since_us: Option<i64>,
    before_us: Option<i64>,
    zone: Option<Zone<'a>>,
    filter: Option<Filter<'a>>,
}

impl<'a> UsageOptions<'a> {
    /// All calls in the store, in one row.
    pub fn new() -> Self {
        Self::default()
    }
    pub fn by_app(mut self) -> Self {
        self.flags |= sys::SES_USAGE_BY_APP;
        self
    }
    pub fn by_user(mut self) -> Self {
        self.flags |= sys::SES_USAGE_BY_USER;
        self
    }
    /// By the id of the session, which two users may have.
    pub fn by_session(mut self) -> Self {
        self.flags |= sys::SES_USAGE_BY_SESSION;
        self
    }
    pub fn by_day(mut self) -> Self {
        self.flags |= sys::SES_USAGE_BY_DAY;
        self
    }
    pub fn by_model(mut self) -> Self {
        self.flags |= sys::SES_USAGE_BY_MODEL;
        self
    }
    /// Reads all events of the scope.
    pub fn by_invocation(mut self) -> Self {
        self.flags |= sys::SES_USAGE_BY_INVOCATION;
        self
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
    /// Says how many seconds the zone in which days begin is ahead of UTC at a time. Without it days are
    /// UTC's. It is called about once for each quarter of an hour with calls.
    pub fn zone(mut self, seconds_ahead: Zone<'a>) -> Self {
        self.zone = Some(seconds_ahead);
        self
    }
    /// Only of the sessions that match it. A prefix of ids needs a user.
    pub fn filter(mut self, filter: Filter<'a>) -> Self {
        self.filter = Some(filter);
        self
    }
}

/// Model calls that were added up. A count that no event has is 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UsageRow {
    /// `None`: rows are not by app; the same for the other texts.
    pub app: Option<String>,
    pub user: Option<String>,
    pub session: Option<String>,
    /// As in 2024-01-15.
    pub day: Option<String>,
    /// Empty: the event names none.
    pub model: Option<String>,
    pub invocation: Option<String>,
    /// Events with `usageMetadata`.
    pub calls: i64,
    /// The cached tokens included.
    pub prompt: i64,
    pub cached: i64,
    pub candidates: i64,
    pub thoughts: i64,
    pub tool_use: i64,
    pub total: i64,
    /// Counts that are not integers from 0 to 2^53 - 1, and were taken as absent.
    pub odd: i64,
    pub first_us: i64,
    pub last_us: i64,
}

impl UsageRow {
    unsafe fn new(raw: &sys::ses_usage_row) -> UsageRow {
        let owned = |text: *const c_char| unsafe { optional_name(text) }.map(str::to_owned);
        UsageRow {
            app: owned(raw.app),
            user: owned(raw.user),
            session: owned(raw.session),
            day: owned(raw.day),
            model: owned(raw.model),
            invocation: owned(raw.invocation),
            calls: raw.calls,
            prompt: raw.prompt,
            cached: raw.cached,
            candidates: raw.candidates,
            thoughts: raw.thoughts,
            tool_use: raw.tool_use,
            total: raw.total,
            odd: raw.odd,
            first_us: raw.first_us,
            last_us: raw.last_us,
        }
    }
}

unsafe extern "C" fn zone_of(context: *mut c_void, time_us: i64) -> c_int {
    unsafe { Callback::run(context, |zone: &mut Zone<'_>| zone(time_us)) }.unwrap_or(0)
}

/// A page of the library.
struct UsagePage {
    raw: NonNull<sys::ses_usage_rows>,
}

impl UsagePage {
    fn rows(&self) -> Vec<UsageRow> {
        let count = unsafe { sys::ses_usage_rows_count(self.raw.as_ptr()) };
        (0..count)
            .map(|index| unsafe { UsageRow::new(&*sys::ses_usage_rows_at(self.raw.as_ptr(), index)) })
            .collect()
    }
    fn sum(&self) -> UsageRow {
        unsafe { UsageRow::new(&*sys::ses_usage_rows_sum(self.raw.as_ptr())) }
    }
    fn token(&self) -> Option<CString> {
        unsafe { optional_name(sys::ses_usage_rows_token(self.raw.as_ptr())) }
            .and_then(|token| CString::new(token).ok())
    }
}

impl Drop for UsagePage {
    fn drop(&mut self) {
        unsafe { sys::ses_usage_rows_close(self.raw.as_ptr()) };
    }
}

/// Rows in the order of their texts. They are read page by page, and each page is a call. After a failure
/// there are no more.
pub struct UsageRows<'a> {
    store: Store,
    app: Option<CString>,
    user: Option<CString>,
    session: Option<CString>,
    filter: Option<CFilter>,
    options: UsageOptions<'a>,
    page: vec::IntoIter<UsageRow>,
    sum: UsageRow,
    /// Leads to the next page; `None`: there is none.
    token: Option<CString>,
}

impl UsageRows<'_> {
    /// The sum of all rows, as of the page that was read last.
    pub fn totals(&self) -> &UsageRow {
        &self.sum
    }

    fn read_page(&mut self) -> Result<()> {
        let token = self.token.take();
        let scope = sys::ses_key {
            app: pointer(&self.app),
            user: pointer(&self.user),
            session: pointer(&self.session),
        };
        let filter = self.filter.as_ref().map(CFilter::raw);
        let mut zone = self.options.zone.map(Callback::new);
        let mut raw: sys::ses_usage_options = limited(&self.store.limits);
        raw.flags = self.options.flags;
        raw.since_us = optional_ref(&self.options.since_us);
        raw.before_us = optional_ref(&self.options.before_us);
        raw.limit = PAGE;
        raw.token = pointer(&token);
        raw.filter = filter.as_ref().map_or(ptr::null(), ptr::from_ref);
        if let Some(zone) = &mut zone {
            raw.zone = Some(zone_of);
            raw.zone_context = zone.context();
        }
        let made = opened(|rows, error| unsafe {
            sys::ses_store_usage(self.store.raw(), &scope, &raw, rows, error)
        })
        .map(|raw| UsagePage { raw });
        let page = match zone {
            Some(zone) => zone.end(made)?,
            None => made?,
        };
        self.token = page.token();
        self.sum = page.sum();
        self.page = page.rows().into_iter();
        Ok(())
    }
}

impl Iterator for UsageRows<'_> {
    type Item = Result<UsageRow>;
    fn next(&mut self) -> Option<Result<UsageRow>> {
        loop {
            if let Some(row) = self.page.next() {
                return Some(Ok(row));
            }
            self.token.as_ref()?;
            if let Err(error) = self.read_page() {
                return Some(Err(error));
            }
        }
    }
}

impl FusedIterator for UsageRows<'_> {}

/// What is done with the tally of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tally {
    /// It is made, or brought up to date.
    #[default]
    Keep,
    /// It is made again.
    Rebuild,
    /// It is removed.
    Drop,
}

unsafe extern "C" fn tallied_of<F: FnMut(i64, i64) -> bool>(
    context: *mut c_void,
    done: i64,
    total: i64,
) -> c_int {
    let go_on = unsafe { Callback::run(context, |progress: &mut F| progress(done, total)) };
    c_int::from(go_on != Some(true))
}

impl Store {
    /// Adds up the tokens that models have used. Events that a rewind has taken back count; those that were
    /// deleted, cut or pruned do not. A store that keeps a tally answers much sooner.
    pub fn usage<'a>(&self, options: &UsageOptions<'a>) -> Result<UsageRows<'a>> {
        let mut rows = UsageRows {
            store: self.clone(),
            app: c_string_or_null("the app", options.app)?,
            user: c_string_or_null("the user", options.user)?,
            session: c_string_or_null("the session id", options.session)?,
            filter: options.filter.map(Filter::to_c).transpose()?,
            options: *options,
            page: Vec::new().into_iter(),
            sum: UsageRow::default(),
            token: None,
        };
        rows.read_page()?;
        Ok(rows)
    }

    /// Makes the table with which [`usage`](Store::usage) takes milliseconds, brings it up to date, or
    /// removes it. Returns how many events it has looked at.
    pub fn tally(&self, what: Tally) -> Result<i64> {
        self.tally_with(what, |_, _| true)
    }

    /// The same; `progress` is told how many events of about how many are done, and ends the call with
    /// [`Code::Interrupted`](crate::Code::Interrupted) by returning false.
    pub fn tally_with<P: FnMut(i64, i64) -> bool>(&self, what: Tally, progress: P) -> Result<i64> {
        let mut progress = Callback::new(progress);
        let mut raw: sys::ses_tally_options = limited(&self.limits);
        raw.flags = match what {
            Tally::Keep => 0,
            Tally::Rebuild => sys::SES_TALLY_REBUILD,
            Tally::Drop => sys::SES_TALLY_DROP,
        };
        raw.progress = Some(tallied_of::<P>);
        raw.progress_context = progress.context();
        let mut events = 0;
        let done = done(|error| unsafe { sys::ses_store_tally(self.raw(), &raw, &mut events, error) });
        progress.end(done)?;
        Ok(events)
    }
}
