"""A session: a snapshot of one conversation, which its own appends move forward."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _calls, _ffi
from ._ffi import NULL, JsonIn, ffi, lib
from .artifacts import Artifacts, NewArtifact, OfSession
from .erase import redact
from .lists import KINDS
from .values import Appended, Deleted, Erased, Event, Key, KeyLike, Labels, Point, Popped, Range, event_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .erase import RedactOptions
    from .store import Store
    from .tracked import Tracked


_uncleared = ffi.new_allocator(should_clear_after_alloc=False)


class Summary(NamedTuple):
    """What the ADK's session services say of a session, besides its events."""

    app: str
    user: str
    id: str
    version: int
    updated_us: int
    state: bytes


def summaries_of(sessions: Iterable[Any]) -> list[Summary]:
    """Those of the library's sessions, which the caller keeps: a list of many is read several times as fast
    as by handles."""
    found, text, length, required = [], ffi.new("const char **"), ffi.new("size_t *"), _ffi.required
    for session in sessions:
        _ffi.call(lib.ses_state_json, session, text, length)
        found.append(
            Summary(
                required(lib.ses_session_app(session)),
                required(lib.ses_session_user(session)),
                required(lib.ses_session_id(session)),
                lib.ses_session_version(session),
                lib.ses_session_updated_us(session),
                ffi.unpack(text[0], length[0]),
            )
        )
    return found


class Session(OfSession, _ffi.Handle):
    """A session that was created, read, forked or listed. Use it in one thread at a time."""

    __slots__ = ("_store", "_page")
    _what = "session"

    def __init__(self, store: Store, pointer: Any, page: Any = None, guard: _ffi.Guard | None = None) -> None:
        self._store = store  # which stays open as long as it is used
        self._page = page  # owns the session, if a list has it
        super().__init__(pointer, None if page is not None else lib.ses_session_close, guard)

    def _text(self, function: Any, *arguments: Any) -> str | None:
        with self._guard:
            return _ffi.string(function(self._live(), *arguments))

    def _borrowed(self, function: Any, *arguments: Any) -> bytes | None:
        with self._guard:
            return _ffi.borrowed(function, self._live(), *arguments)

    # -------------------------------------------------------------------------------------- what it is

    @property
    def store(self) -> Store:
        """The store that it is from."""
        return self._store

    @property
    def app(self) -> str:
        """The app's name."""
        return self._text(lib.ses_session_app) or ""

    @property
    def user(self) -> str:
        """The user's id."""
        return self._text(lib.ses_session_user) or ""

    @property
    def id(self) -> str:
        """The session's id."""
        return self._text(lib.ses_session_id) or ""

    @property
    def key(self) -> Key:
        """The session's name: app, user and id."""
        return Key(self.app, self.user, self.id)

    @property
    def version(self) -> int:
        """Raised by each stored event and each cut. An append through a handle that is not at the stored one
        is refused."""
        return self._look(lib.ses_session_version)

    @property
    def last_seq(self) -> int:
        """The number of the last event, or 0 if there was none yet."""
        return self._look(lib.ses_session_last_seq)

    @property
    def stored(self) -> int:
        """The number of stored events."""
        return self._look(lib.ses_session_stored)

    @property
    def created_us(self) -> int:
        """The time of creation, in microseconds since 1970."""
        return self._look(lib.ses_session_created_us)

    @property
    def updated_us(self) -> int:
        """The time of the last update, in microseconds since 1970."""
        return self._look(lib.ses_session_updated_us)

    @property
    def expires_us(self) -> int | None:
        """When the session expires, or None for never."""
        time = self._look(lib.ses_session_expires_us)
        return None if time == 2**63 - 1 else time

    @property
    def archived_us(self) -> int | None:
        """When the session was archived, or None if it is not."""
        return self._look(lib.ses_session_archived_us) or None

    @property
    def remembered_seq(self) -> int:
        """The number of the last event that is remembered, or 0."""
        return self._look(lib.ses_session_remembered_seq)

    @property
    def base_seq(self) -> int:
        """The number of the last event that was pruned."""
        return self._look(lib.ses_session_base_seq)

    @property
    def parent(self) -> tuple[Key, int] | None:
        """The session that this one was forked from, and the last event that was taken from there."""
        seq = ffi.new("int64_t *")
        with self._guard:
            parent = lib.ses_session_parent(self._live(), seq)
            if parent == NULL:
                return None
            return Key(
                _ffi.required(parent.app), _ffi.required(parent.user), _ffi.string(parent.session)
            ), seq[0]

    @property
    def kind(self) -> str:
        """What the session is: "conversation", "child" or "memory"."""
        number = self._look(lib.ses_session_kind)
        return next(kind for kind, its in KINDS.items() if its == number)

    @property
    def child_of(self) -> Key | None:
        """The session that this one is a child of."""
        with self._guard:
            of = lib.ses_session_child_of(self._live())
            if of == NULL:
                return None
            return Key(_ffi.required(of.app), _ffi.required(of.user), _ffi.string(of.session))

    @property
    def place(self) -> str:
        """The place after the last event that the handle knows, for Store.follow."""
        place = self._text(lib.ses_session_place)
        if place is None:
            raise MemoryError("out of memory")
        return place

    @property
    def title(self) -> str | None:
        """The title, or None."""
        return self._text(lib.ses_session_title)

    @property
    def labels(self) -> dict[str, str]:
        """The labels, by name."""
        with self._guard:
            session = self._live()
            found = (lib.ses_session_label(session, at) for at in range(lib.ses_session_label_count(session)))
            return {_ffi.required(label.name): _ffi.required(label.value) for label in found}

    def label(self, name: str) -> str | None:
        """The value of one label, or None if it has no such label."""
        return self._text(lib.ses_session_label_value, _ffi.encode(name, "the label"))

    @property
    def events(self) -> Sequence[Event]:
        """The events that the handle holds, oldest first. Each is copied when it is asked for."""
        return _Events(self)

    def event_by_id(self, name: str) -> Event | None:
        """The event of that id, or None if the handle does not hold it."""
        encoded = _ffi.encode(name, "the event's id")
        with self._guard:
            event = lib.ses_session_event_by_id(self._live(), encoded)
            return None if event == NULL else event_of(event)

    def live(self) -> list[bool]:
        """For each of `events`, whether no rewind has taken it back, as of what the handle shows."""
        with self._guard:
            session = self._live()
            found = ffi.new("unsigned char[]", lib.ses_session_event_count(session) or 1)
            _ffi.call(lib.ses_session_live, session, _ffi.plain(), found, len(found))
            return [found[at] == 1 for at in range(lib.ses_session_event_count(session))]

    def events_json(self) -> list[bytes]:
        """The JSON texts of the events that the handle holds: faster than `events` if only the texts are
        needed."""
        with self._guard:
            session = self._live()
            found = (lib.ses_session_event(session, at) for at in range(lib.ses_session_event_count(session)))
            return [ffi.unpack(event.json, event.json_len) for event in found]

    def _members(self, name: bytes) -> list[Any]:
        """The values of a member of the events that the handle holds, parsed, without the events that lack
        it."""
        with self._guard:
            session = self._live()
            array = _uncleared("char[]", lib.ses_py_members_room(session))
            return _ffi.loads(ffi.unpack(array, lib.ses_py_members(session, name, array)))

    def _event_count(self) -> int:
        return self._look(lib.ses_session_event_count)

    def _numbers(self) -> list[int]:
        with self._guard:
            session = self._live()
            return [
                lib.ses_session_event(session, at).seq for at in range(lib.ses_session_event_count(session))
            ]

    def _first_seq(self) -> int:
        """The number of the first event that the handle holds, or of the next one."""
        with self._guard:
            session = self._live()
            event = lib.ses_session_event(session, 0)
            return lib.ses_session_last_seq(session) + 1 if event == NULL else event.seq

    def json(self) -> bytes:
        """The session as the ADK writes it: id, appName, userId, state, events, lastUpdateTime."""
        with self._guard:
            return _ffi.owned(lib.ses_session_json, self._live()) or b""

    def markdown(self, *, texts_only: bool = False) -> str:
        """The events that the session holds as a document for people to read, with calls folded.

        `texts_only` leaves out all but what was said: texts that are no thoughts, and errors."""
        options = _ffi.struct("ses_markdown_options", flags=lib.SES_MARKDOWN_TEXTS if texts_only else 0)
        with self._guard:
            text = _ffi.owned(lib.ses_session_markdown, self._live(), options) or b""
        return text.decode("utf-8", "replace")

    def refresh(self) -> None:
        """Adds what others wrote."""
        self._run(lib.ses_refresh, _ffi.plain())

    def _summary(self) -> Summary:
        with self._guard:
            return summaries_of([self._live()])[0]

    # ------------------------------------------------------------------------------------------ append

    def append(
        self,
        event: JsonIn,
        *,
        anyway: bool = False,
        expected: JsonIn = None,
        delta: JsonIn = None,
        lease: int = 0,
        takes_draft: bool = False,
        answers: str | None = None,
        title: str | None = None,
        labels: Labels | None = None,
        artifacts: Artifacts | Iterable[NewArtifact] | None = None,
        offload_bytes: int | None = None,
    ) -> Appended:
        """Appends one event: JSON as str or bytes, which is stored as it is, or anything that json can write.

        `title` and `labels` are set in the same transaction, if the event is stored; a label of None is
        removed. `artifacts` are saved in it, and named in the event's `actions.artifactDelta`. With
        `offload_bytes`, inline data of the event that has more bytes becomes an artifact too, to which its
        part then refers.
        """
        return _calls.append(
            self._run,
            lib.ses_append,
            self,
            event,
            anyway=anyway,
            expected=expected,
            delta=delta,
            lease=lease,
            takes_draft=takes_draft,
            answers=answers,
            title=title,
            labels=labels,
            artifacts=artifacts,
            offload_bytes=offload_bytes,
        )

    def append_batch(
        self,
        events: Iterable[JsonIn],
        *,
        anyway: bool = False,
        expected: JsonIn = None,
        lease: int = 0,
        takes_draft: bool = False,
        answers: str | None = None,
        title: str | None = None,
        labels: Labels | None = None,
    ) -> list[Appended]:
        """Appends events in one transaction: all or none. `title` and `labels` are set with them, as by
        append()."""
        return _calls.append_batch(
            self._run,
            lib.ses_append_batch,
            events,
            anyway=anyway,
            expected=expected,
            lease=lease,
            takes_draft=takes_draft,
            answers=answers,
            title=title,
            labels=labels,
        )

    def invocation_begin(self, name: str | None = None) -> str:
        """Begins an invocation, and returns its id, which the library makes if none is given."""
        self._run(lib.ses_invocation_begin, NULL if name is None else _ffi.encode(name, "the invocation"))
        return self.invocation_id or ""

    @property
    def invocation_id(self) -> str | None:
        """The id of the current invocation, or None."""
        return self._text(lib.ses_invocation_id)

    def invocation_end(self) -> None:
        """Ends the invocation, and with it the `temp:` keys."""
        self._run(lib.ses_invocation_end)

    # ------------------------------------------------------------------------------------------- state

    def state_json(self) -> bytes:
        """The merged state of all scopes. Values keep their bytes."""
        return self._borrowed(lib.ses_state_json) or b""

    @property
    def state(self) -> dict[str, Any]:
        """The merged state, parsed."""
        return _ffi.loads(self.state_json())

    def state_get(self, name: str) -> bytes | None:
        """One value as JSON text, or None if there is no such key."""
        return self._borrowed(lib.ses_state_get, _ffi.encode(name, "the state key"))

    def state_get_string(self, name: str) -> str | None:
        """One string value, or None if there is no such key."""
        text = self._borrowed(lib.ses_state_get_string, _ffi.encode(name, "the state key"))
        return None if text is None else text.decode()

    def state_get_int(self, name: str) -> int | None:
        """One 64-bit integer value, or None if there is no such key."""
        return _calls.number(self._run, lib.ses_state_get_int64, "int64_t *", name)

    def state_get_float(self, name: str) -> float | None:
        """One number value, or None if there is no such key."""
        return _calls.number(self._run, lib.ses_state_get_double, "double *", name)

    def state_get_bool(self, name: str) -> bool | None:
        """One boolean value, or None if there is no such key."""
        value = _calls.number(self._run, lib.ses_state_get_bool, "int *", name)
        return None if value is None else bool(value)

    def state_items(self) -> Iterator[tuple[str, bytes]]:
        """Keys and their JSON texts, in order. The session must not change during the iteration."""
        name, text, length = ffi.new("const char **"), ffi.new("const char **"), ffi.new("size_t *")
        for at in range(self._look(lib.ses_state_count)):
            with self._guard:
                _ffi.call(lib.ses_state_at, self._live(), at, name, text, length)
                item = _ffi.required(name[0]), ffi.unpack(text[0], length[0])
            yield item

    def state_initial(self) -> bytes:
        """The state that the session was created with."""
        return _calls.state_initial(self._run, lib.ses_state_json_initial)

    def state_as_of(self, point: Point | None = None, *, shared: bool = False) -> bytes:
        """The own state as it was at a point."""
        return _calls.state_as_of(self._run, lib.ses_state_json_as_of, point, shared)

    def track(self, *, read_only: bool = False, accumulate: bool = False) -> Tracked:
        """Opens a view: the state as a callback or a tool sees it. With `accumulate`, append_output saves all
        that the agent says, also beside its calls, as google-adk 2.13 does."""
        from .tracked import Tracked

        return Tracked(self, read_only=read_only, accumulate=accumulate)

    # ----------------------------------------------------------------------------- history and retention

    def rewind(
        self, point: Point | None = None, *, anyway: bool = False, artifact_delta: JsonIn = None
    ) -> Appended:
        """Takes back everything after the point, by appending an event. `unchanged`: there was nothing to
        take back."""
        at = _calls.point_of(point)
        return _calls.rewind(self._run, lib.ses_rewind, at, anyway=anyway, artifact_delta=artifact_delta)

    def redo(self, *, anyway: bool = False, artifact_delta: JsonIn = None) -> Appended:
        """Takes the newest rewind back. `unchanged`: there was nothing to redo."""
        return _calls.rewind(self._run, lib.ses_redo, anyway=anyway, artifact_delta=artifact_delta)

    def cut(
        self, point: Point | None = None, *, anyway: bool = False, secure: bool = False, receipt: bool = False
    ) -> Deleted:
        """Deletes the events after the point for good."""
        return _calls.cut(self._run, lib.ses_cut, point, anyway=anyway, secure=secure, receipt=receipt)

    def redact(self, seqs: Iterable[int] | None = None, **options: Unpack[RedactOptions]) -> Erased:
        """Redacts events, by their numbers, or all of them; see seslite.erase.RedactOptions. The handle shows
        them as they are now."""
        return redact(self._run, lib.ses_redact, seqs, **options)

    def pop(self, point: Point | None = None, *, anyway: bool = False, secure: bool = False) -> Popped:
        """Deletes the events after the point for good, and returns them. No two callers get the same
        event."""
        return _calls.pop(self._run, lib.ses_pop, point, anyway=anyway, secure=secure)

    def fork(
        self,
        to: KeyLike | None = None,
        point: Point | None = None,
        *,
        other_user: bool = False,
        events: Range | None = None,
        created_us: int | None = None,
        expires_us: int | None = None,
    ) -> Session:
        """Makes a new session that begins as this one was at the point. It expires when that does, unless
        `expires_us` is given; seslite.NEVER is for one that does not."""
        return _calls.fork(
            self._run,
            lib.ses_fork,
            self._store,
            to,
            point,
            other_user=other_user,
            events=events,
            created_us=created_us,
            expires_us=expires_us,
        )

    def prune(
        self,
        *,
        keep: int | None = None,
        before_us: int | None = None,
        last_seq: int | None = None,
        compacted: bool = False,
        secure: bool = False,
        receipt: bool = False,
        limit: int = 0,
    ) -> Deleted:
        """Deletes the oldest events, in steps: again while `more` is set."""
        return _calls.prune(
            self._run,
            lib.ses_prune,
            keep=keep,
            before_us=before_us,
            last_seq=last_seq,
            compacted=compacted,
            secure=secure,
            receipt=receipt,
            limit=limit,
        )

    def set_title(self, title: str | None) -> None:
        """Sets the title; None removes it."""
        _calls.title_set(self._run, lib.ses_title_set, title)

    def set_labels(self, labels: Labels) -> None:
        """Sets the labels that are named, and removes those whose value is None."""
        _calls.labels_set(self._run, lib.ses_labels_set, labels)

    def set_expiry(self, expires_us: int | None) -> None:
        """Sets the time after which expire() may delete the session, or None for never."""
        _calls.expiry_set(self._run, lib.ses_expiry_set, expires_us)

    def set_archived(self, archived: bool = True) -> None:
        """Puts the session into the archive, or takes it out of there. It keeps the time of the first time."""
        self._run(lib.ses_archive_set, archived, _ffi.plain())

    def _about(self) -> str:
        return f" {tuple(self.key)!r} at version {self.version}"


class _Events(Sequence[Event]):
    """The events of a session."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def __len__(self) -> int:
        return self._session._look(lib.ses_session_event_count)

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> list[Event]: ...
    def __getitem__(self, at: int | slice) -> Event | list[Event]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        at = at + len(self) if at < 0 else at
        with self._session._guard:
            event = lib.ses_session_event(self._session._live(), at) if at >= 0 else NULL
            if event == NULL:
                raise IndexError("there is no such event in this session")
            return event_of(event)
