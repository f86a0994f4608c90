use std::ffi::c_int;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};

use seslite_sys as sys;

use crate::append::{texts, AppendOptions, Appended, RewindOptions};
use crate::delete::Deleted;
use crate::error::{call, done, opened, Code, Error, Result};
use crate::event::Event;
use crate::history::{as_of, CutOptions, ForkOptions, Popped, PruneOptions};
use crate::key::Key;
use crate::labels::CLabels;
use crate::limits::Limits;
use crate::lists::Kind;
use crate::range::Point;
use crate::raw::optional_ref;
use crate::state::State;
use crate::text::{c_string, c_string_or_null, name, optional_name, pointer, take_required, Json};

/// The snapshot that a session handle shows. A [`Session`] derefs to it, and a [`Page`](crate::Page) has it
/// for each session.
#[repr(transparent)]
pub struct SessionView {
    raw: sys::ses_session,
    // Reading may sort the keys, so two threads must not read at the same time.
    thread: PhantomData<*const ()>,
}

impl SessionView {
    pub(crate) unsafe fn new<'a>(raw: *const sys::ses_session) -> Option<&'a SessionView> {
        unsafe { raw.cast::<SessionView>().as_ref() }
    }

    pub(crate) fn raw(&self) -> *const sys::ses_session {
        ptr::from_ref(self).cast()
    }

    pub fn app(&self) -> &str {
        unsafe { name(sys::ses_session_app(self.raw())) }
    }
    pub fn user(&self) -> &str {
        unsafe { name(sys::ses_session_user(self.raw())) }
    }
    pub fn id(&self) -> &str {
        unsafe { name(sys::ses_session_id(self.raw())) }
    }
    pub fn key(&self) -> Key<'_> {
        Key::new(self.app(), self.user(), self.id())
    }
    /// Every stored event and every cut raises it.
    pub fn version(&self) -> i64 {
        unsafe { sys::ses_session_version(self.raw()) }
    }
    /// 0 before the first event.
    pub fn last_seq(&self) -> i64 {
        unsafe { sys::ses_session_last_seq(self.raw()) }
    }
    /// The number of stored events.
    pub fn stored(&self) -> i64 {
        unsafe { sys::ses_session_stored(self.raw()) }
    }
    /// Microseconds since 1970, as all times.
    pub fn created_us(&self) -> i64 {
        unsafe { sys::ses_session_created_us(self.raw()) }
    }
    /// It never goes back.
    pub fn updated_us(&self) -> i64 {
        unsafe { sys::ses_session_updated_us(self.raw()) }
    }
    pub fn expires_us(&self) -> Option<i64> {
        let time = unsafe { sys::ses_session_expires_us(self.raw()) };
        (time != i64::MAX).then_some(time)
    }
    /// The number of the last event that is remembered; 0: none is.
    pub fn remembered_seq(&self) -> i64 {
        unsafe { sys::ses_session_remembered_seq(self.raw()) }
    }
    /// When it was archived.
    pub fn archived_us(&self) -> Option<i64> {
        let time = unsafe { sys::ses_session_archived_us(self.raw()) };
        (time != 0).then_some(time)
    }
    /// The number of the last pruned event, or 0.
    pub fn base_seq(&self) -> i64 {
        unsafe { sys::ses_session_base_seq(self.raw()) }
    }
    /// The session that this one was forked from, and the number of the last event that was taken from there.
    pub fn parent(&self) -> Option<(Key<'_>, i64)> {
        let mut seq = 0;
        let key = unsafe { sys::ses_session_parent(self.raw(), &mut seq).as_ref() }?;
        Some(unsafe {
            (Key { app: name(key.app), user: name(key.user), session: optional_name(key.session) }, seq)
        })
    }
    pub fn kind(&self) -> Kind {
        Kind::from_raw(unsafe { sys::ses_session_kind(self.raw()) })
    }
    /// The session that this one is a child of.
    pub fn child_of(&self) -> Option<Key<'_>> {
        let key = unsafe { sys::ses_session_child_of(self.raw()).as_ref() }?;
        Some(unsafe { Key { app: name(key.app), user: name(key.user), session: optional_name(key.session) } })
    }
    pub fn title(&self) -> Option<&str> {
        unsafe { optional_name(sys::ses_session_title(self.raw())) }
    }
    /// Names and values, sorted by name.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let count = unsafe { sys::ses_session_label_count(self.raw()) };
        (0..count).map(|index| unsafe {
            let label = &*sys::ses_session_label(self.raw(), index);
            (name(label.name), name(label.value))
        })
    }
    pub fn label(&self, label: &str) -> Result<Option<&str>> {
        let label = c_string("the label", label)?;
        Ok(unsafe { optional_name(sys::ses_session_label_value(self.raw(), label.as_ptr())) })
    }

    /// The number of events that the handle holds.
    pub fn event_count(&self) -> usize {
        unsafe { sys::ses_session_event_count(self.raw()) }
    }
    pub fn event(&self, index: usize) -> Option<Event<'_>> {
        unsafe { Event::new(sys::ses_session_event(self.raw(), index)) }
    }
    /// The event of that id, if the handle holds it.
    pub fn event_by_id(&self, id: &str) -> Result<Option<Event<'_>>> {
        let id = c_string("the event's id", id)?;
        Ok(unsafe { Event::new(sys::ses_session_event_by_id(self.raw(), id.as_ptr())) })
    }
    /// The events that the handle holds, oldest first.
    pub fn events(&self) -> Events<'_> {
        Events { session: self, indexes: 0..self.event_count() }
    }

    /// The merged state of all scopes, with `temp:`.
    pub fn state(&self) -> State<'_> {
        State::new(self)
    }
    /// The session as the JSON object that the ADK writes.
    pub fn json(&self) -> Result<Json> {
        take_required(|json, len, error| unsafe { sys::ses_session_json(self.raw(), json, len, error) })
    }
    /// The events of the handle as a Markdown document for people to read, with calls folded.
    pub fn markdown(&self) -> Result<Json> {
        self.markdown_with(0)
    }
    /// The same with only what was said: texts that are no thoughts, and errors.
    pub fn markdown_texts(&self) -> Result<Json> {
        self.markdown_with(sys::SES_MARKDOWN_TEXTS)
    }
    fn markdown_with(&self, flags: sys::ses_markdown_flags) -> Result<Json> {
        let options = sys::ses_markdown_options { size: size_of::<sys::ses_markdown_options>(), flags };
        take_required(|text, len, error| unsafe {
            sys::ses_session_markdown(self.raw(), &options, text, len, error)
        })
    }
}

impl std::fmt::Debug for SessionView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("key", &self.key()).field("version", &self.version()).finish()
    }
}

/// The events of a handle.
#[derive(Clone)]
pub struct Events<'a> {
    session: &'a SessionView,
    indexes: std::ops::Range<usize>,
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;
    fn next(&mut self) -> Option<Event<'a>> {
        self.session.event(self.indexes.next()?)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indexes.size_hint()
    }
}

impl<'a> DoubleEndedIterator for Events<'a> {
    fn next_back(&mut self) -> Option<Event<'a>> {
        self.session.event(self.indexes.next_back()?)
    }
}

impl ExactSizeIterator for Events<'_> {}

/// A handle on a session: a snapshot that its own appends move forward. [`refresh`](Session::refresh) adds
/// what others wrote. It may outlive the store; then it can still be read, and calls that need the store are
/// [`Code::Misuse`](crate::Code::Misuse).
pub struct Session {
    raw: NonNull<sys::ses_session>,
    pub(crate) limits: Limits,
}

// A handle belongs to one thread at a time: it moves, and is not shared.
unsafe impl Send for Session {}

impl Session {
    pub(crate) fn open(
        limits: &Limits,
        open: impl FnOnce(*mut *mut sys::ses_session, *mut sys::ses_error) -> c_int,
    ) -> Result<Session> {
        Ok(Session { raw: opened(open)?, limits: limits.clone() })
    }

    /// Sets the limits of later calls. At first they are those of the store handle that opened the session.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    pub(crate) fn raw(&mut self) -> *mut sys::ses_session {
        self.raw.as_ptr()
    }

    /// Brings the handle up to date with other writers.
    pub fn refresh(&mut self) -> Result<()> {
        let options = self.limits.call_options();
        done(|error| unsafe { sys::ses_refresh(self.raw(), &options, error) })
    }

    /// Appends one event, a JSON object as the ADK writes it, in one transaction.
    pub fn append(&mut self, event: &str) -> Result<Appended> {
        self.append_with(event, &AppendOptions::new())
    }

    pub fn append_with(&mut self, event: &str, options: &AppendOptions<'_>) -> Result<Appended> {
        let options = options.to_c(&self.limits)?;
        Appended::of(|appended, error| unsafe {
            let (text, len) = (event.as_ptr().cast(), event.len());
            sys::ses_append(self.raw(), text, len, options.as_ptr(), appended, error)
        })
    }

    /// Appends events in order in one transaction: all or none.
    pub fn append_batch(&mut self, events: &[&str], options: &AppendOptions<'_>) -> Result<Vec<Appended>> {
        let options = options.to_c(&self.limits)?;
        let texts = texts(events);
        Appended::all_of(events.len(), |results, error| unsafe {
            sys::ses_append_batch(self.raw(), texts.as_ptr(), texts.len(), options.as_ptr(), results, error)
        })
    }

    /// Begins an invocation; `None`: the store makes its id. Returns the id.
    pub fn begin_invocation(&mut self, id: Option<&str>) -> Result<&str> {
        let id = c_string_or_null("the invocation id", id)?;
        call(|error| unsafe { sys::ses_invocation_begin(self.raw(), pointer(&id), error) })?;
        Ok(self.invocation_id().unwrap_or(""))
    }
    /// Ends the current invocation on this handle and drops its `temp:` values.
    pub fn end_invocation(&mut self) -> Result<()> {
        done(|error| unsafe { sys::ses_invocation_end(self.raw(), error) })
    }
    pub fn invocation_id(&self) -> Option<&str> {
        unsafe { optional_name(sys::ses_invocation_id(self.raw.as_ptr())) }
    }

    /// Sets the title; `None` removes it.
    pub fn set_title(&mut self, title: Option<&str>) -> Result<()> {
        let title = c_string_or_null("the title", title)?;
        let options = self.limits.call_options();
        done(|error| unsafe { sys::ses_title_set(self.raw(), pointer(&title), &options, error) })
    }
    /// Sets labels, or removes those whose value is `None`. The others stay.
    pub fn set_labels(&mut self, labels: &[(&str, Option<&str>)]) -> Result<()> {
        let labels = CLabels::new(labels)?;
        let options = self.limits.call_options();
        done(|error| unsafe {
            sys::ses_labels_set(self.raw(), labels.as_ptr(), labels.len(), &options, error)
        })
    }
    /// Sets the time from which on the session may be removed; `None`: never.
    pub fn set_expiry(&mut self, expires_us: Option<i64>) -> Result<()> {
        let time = optional_ref(&expires_us);
        let options = self.limits.call_options();
        done(|error| unsafe { sys::ses_expiry_set(self.raw(), time, &options, error) })
    }
    /// Puts the session into the archive, or takes it out of there. It keeps the time of the first time.
    pub fn set_archived(&mut self, archived: bool) -> Result<()> {
        let options = self.limits.call_options();
        done(|error| unsafe { sys::ses_archive_set(self.raw(), archived.into(), &options, error) })
    }

    /// The session's own state as it was at a point. `shared`: with the `app:` and `user:` keys that this
    /// session itself had written by then.
    pub fn state_as_of(&mut self, point: Point<'_>, shared: bool) -> Result<Json> {
        let point = point.to_c()?;
        let (point, options) = (point.raw(), as_of(&self.limits, shared));
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_as_of(self.raw(), &point, &options, json, len, error)
        })
    }
    /// The state that the session was created with.
    pub fn initial_state(&mut self) -> Result<Json> {
        let options = self.limits.call_options();
        take_required(|json, len, error| unsafe {
            sys::ses_state_json_initial(self.raw(), &options, json, len, error)
        })
    }
    /// Takes back everything after the point, by appending an event. `Status::Unchanged`: there was nothing
    /// to take back.
    pub fn rewind(&mut self, point: Point<'_>, options: &RewindOptions<'_>) -> Result<Appended> {
        let point = point.to_c()?;
        let (point, options) = (point.raw(), options.raw(&self.limits));
        Appended::of(|appended, error| unsafe {
            sys::ses_rewind(self.raw(), &point, &options, appended, error)
        })
    }
    /// Takes the newest rewind back. `Status::Unchanged`: there was nothing to redo.
    pub fn redo(&mut self, options: &RewindOptions<'_>) -> Result<Appended> {
        let options = options.raw(&self.limits);
        Appended::of(|appended, error| unsafe { sys::ses_redo(self.raw(), &options, appended, error) })
    }
    /// Deletes the events after the point for good.
    pub fn cut(&mut self, point: Point<'_>, options: &CutOptions) -> Result<Deleted> {
        let point = point.to_c()?;
        let (point, mut raw) = (point.raw(), options.raw(&self.limits));
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_cut(self.raw(), &point, &raw, deleted, error)
        })
    }
    /// Deletes the events after the point for good, and returns them. No two callers get the same event.
    pub fn pop(&mut self, point: Point<'_>, options: &CutOptions) -> Result<Popped> {
        let point = point.to_c()?;
        let (point, mut raw) = (point.raw(), options.raw(&self.limits));
        Popped::of(options.receipt, |popped, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_pop(self.raw(), &point, &raw, popped, error)
        })
    }
    /// For each event that the handle holds, whether no rewind has taken it back, as of what the handle
    /// shows.
    pub fn live(&mut self) -> Result<Vec<bool>> {
        let mut live = vec![0; self.event_count()];
        let options = self.limits.call_options();
        done(|error| unsafe {
            sys::ses_session_live(self.raw(), &options, live.as_mut_ptr(), live.len(), error)
        })?;
        Ok(live.into_iter().map(|live| live != 0).collect())
    }
    /// Makes a session that begins as this one was at the point. `to` `None`: a session of this user, with an
    /// id that the store makes.
    pub fn fork(&mut self, point: Point<'_>, to: Option<Key<'_>>, options: &ForkOptions) -> Result<Session> {
        let point = point.to_c()?;
        let to = to.map(Key::to_c).transpose()?.map(|to| (to.raw(), to));
        let to_raw = to.as_ref().map_or(ptr::null(), |(raw, _)| ptr::from_ref(raw));
        let point = point.raw();
        let limits = self.limits.clone();
        options.with_raw(&limits, |options| {
            Session::open(&limits, |fork, error| unsafe {
                sys::ses_fork(self.raw(), &point, to_raw, options, fork, error)
            })
        })
    }
    /// Deletes the oldest events, in steps of one transaction.
    pub fn prune(&mut self, options: &PruneOptions) -> Result<Deleted> {
        let mut raw = options.raw(&self.limits);
        Deleted::of(options.receipt, |deleted, erased, error| unsafe {
            raw.erased = erased;
            sys::ses_prune(self.raw(), &raw, deleted, error)
        })
    }

    /// The place after the last event that the handle knows, for
    /// [`FollowOptions::place`](crate::FollowOptions::place).
    pub fn place(&mut self) -> Result<String> {
        let place = unsafe { optional_name(sys::ses_session_place(self.raw())) };
        place.map(str::to_owned).ok_or_else(|| Error::new(Code::NoMemory, "out of memory"))
    }
}

impl Deref for Session {
    type Target = SessionView;
    fn deref(&self) -> &SessionView {
        // It is never NULL.
        unsafe { &*self.raw.as_ptr().cast::<SessionView>() }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        unsafe { sys::ses_session_close(self.raw.as_ptr()) };
    }
}
