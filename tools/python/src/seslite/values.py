"""The values that calls take and return: names of sessions, ranges, points, events, results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Union

from . import _ffi
from ._ffi import ffi, lib

INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True, repr=False)
class Key(_ffi.Value):
    """Names one session. Ids are 1 to 512 bytes of UTF-8, and are compared as they are."""

    app: str
    user: str
    session: str | None = None

    def __post_init__(self) -> None:
        keep: list[Any] = []
        for name, what in ((self.app, "the app"), (self.user, "the user")):
            keep.append(ffi.new("char[]", _ffi.encode(name, what)))
        self._set_struct(
            ffi.new("ses_key *", [*keep, _ffi.c_text(self.session, "the session's id", keep)]), keep
        )

    def __iter__(self) -> Iterator[Any]:
        return iter((self.app, self.user, self.session))

    def __repr__(self) -> str:
        return f"Key({self.app!r}, {self.user!r}, {self.session!r})"


KeyLike = Union[Key, tuple[str, str, str], tuple[str, str, None], tuple[str, str]]


def key_of(key: KeyLike) -> Key:
    if isinstance(key, Key):
        return key
    if not isinstance(key, (tuple, list)) or len(key) not in (2, 3):
        raise TypeError(
            f"a session is named by a Key, or by a tuple of app, user and session, not by {key!r}"
        )
    return Key(*key)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Range(_ffi.Value):
    """Selects events: all, or those that match every given argument; `newest` then takes the last of them."""

    newest: int | None = None
    since_us: int | None = None
    first_seq: int | None = None
    last_seq: int | None = None
    live: bool = False
    none: bool = False

    def __post_init__(self) -> None:
        by_number = self.first_seq is not None or self.last_seq is not None
        made = _ffi.struct(
            "ses_range",
            which=(lib.SES_RANGE_NONE if self.none else 0)
            | (lib.SES_RANGE_NEWEST if self.newest is not None else 0)
            | (lib.SES_RANGE_SINCE if self.since_us is not None else 0)
            | (lib.SES_RANGE_SEQ if by_number else 0)
            | (lib.SES_RANGE_LIVE if self.live else 0),
            newest=self.newest,
            since_us=self.since_us,
            first_seq=1 if self.first_seq is None else self.first_seq,
            last_seq=INT64_MAX if self.last_seq is None else self.last_seq,
        )
        self._set_struct(made, [])


NO_EVENTS = Range(none=True)
NEVER = 2**63 - 1
"""A time of expiry."""

POINTS = {
    "now": lib.SES_POINT_NOW,
    "seq": lib.SES_POINT_SEQ,
    "event": lib.SES_POINT_EVENT,
    "invocation": lib.SES_POINT_INVOCATION,
    "last_turn": lib.SES_POINT_LAST_TURN,
}


@dataclass(frozen=True, slots=True, repr=False)
class Point(_ffi.Value):
    """A point of a log. Made by Point.now(), seq(), event(), invocation() and last_turn()."""

    kind: str
    number: int = 0
    name: str | None = None

    def __post_init__(self) -> None:
        keep: list[Any] = []
        made = _ffi.struct(
            "ses_point", kind=POINTS[self.kind], seq=self.number, id=_ffi.c_text(self.name, "the id", keep)
        )
        self._set_struct(made, keep)

    @classmethod
    def now(cls) -> Point:
        """After the last event."""
        return cls("now")

    @classmethod
    def seq(cls, seq: int) -> Point:
        """After the event of that number. 0: as the session was created."""
        return cls("seq", number=seq)

    @classmethod
    def event(cls, name: str) -> Point:
        """After the event of that id."""
        return cls("event", name=name)

    @classmethod
    def invocation(cls, name: str) -> Point:
        """Before the first event of that invocation."""
        return cls("invocation", name=name)

    @classmethod
    def last_turn(cls) -> Point:
        """Before the last turn of the user."""
        return cls("last_turn")

    def __repr__(self) -> str:
        argument = repr(self.number) if self.kind == "seq" else "" if self.name is None else repr(self.name)
        return f"Point.{self.kind}({argument})"


class Event(NamedTuple):
    """A stored event."""

    seq: int
    time_us: int
    id: str
    invocation_id: str
    author: str
    branch: str | None
    json: bytes
    """The bytes that were appended, without `temp:` keys."""

    def load(self) -> Any:
        """The event, parsed."""
        return _ffi.loads(self.json)


def event_of(event: Any) -> Event:
    """A copy of a borrowed event."""
    return Event(
        event.seq,
        event.time_us,
        _ffi.required(event.id),
        _ffi.required(event.invocation_id),
        _ffi.required(event.author),
        _ffi.string(event.branch),
        ffi.unpack(event.json, event.json_len),
    )


class Appended(NamedTuple):
    """What an append did."""

    status: int
    """0: stored; PARTIAL, DUPLICATE, and of a rewind UNCHANGED."""
    seq: int
    version: int
    time_us: int
    updated_us: int
    made_id: str

    @property
    def partial(self) -> bool:
        """The event was partial, so nothing was stored."""
        return self.status == lib.SES_PARTIAL

    @property
    def duplicate(self) -> bool:
        """The same event had been stored before."""
        return self.status == lib.SES_DUPLICATE

    @property
    def unchanged(self) -> bool:
        """There was nothing to take back, so nothing was stored."""
        return self.status == lib.SES_UNCHANGED


def appended_of(made: Any) -> Appended:
    return Appended(
        made.status, made.seq, made.version, made.time_us, made.updated_us, _ffi.required(made.made_id)
    )


class Lease(NamedTuple):
    """A session's turn that was taken."""

    token: int
    until_us: int


class Input(NamedTuple):
    """An input that waits in the inbox of a session, with its JSON text."""

    key: Key
    request: str
    body: str
    added_us: int
    place: int


class Draft(NamedTuple):
    """A session's draft, and when it was set, by the store's clock."""

    body: str
    updated_us: int


class Erased(NamedTuple):
    """A receipt: what a call has erased from the store, and what it knows to be left. Backups and exports are
    not covered. `forks_left` is None if it is not known. `more`: as for Deleted. `names` and `names_left`:
    names of state keys, titles, labels and, of those that are left, ids in which `find` finds something.
    `derived_left`: events of which a damaged index or tally that could not be dropped may still have words or
    names of models in the file."""

    sessions: int
    events: int
    state_keys: int
    artifacts: int
    index_events: int
    forks_left: int | None
    state_left: int
    artifacts_left: int
    compactions_left: int
    more: bool = False
    names: int = 0
    names_left: int = 0
    derived_left: int = 0


def erased_of(erased: Any, more: bool) -> Erased:
    members: dict[str, Any] = {name: getattr(erased, name) for name in Erased._fields if name != "more"}
    if members["forks_left"] < 0:
        members["forks_left"] = None
    return Erased(**members, more=more)


class Deleted(NamedTuple):
    """How much a call deleted. `more`: call it again. `erased`: the receipt, if one was asked for."""

    total: int
    more: bool = False
    state_keys: int = 0
    erased: Erased | None = None


class Popped(NamedTuple):
    """The events that a call deleted and returns, oldest first. `more`: as for Deleted."""

    events: list[Event]
    more: bool = False


class EventJson(NamedTuple):
    """The number and the JSON text of a stored event."""

    seq: int
    json: bytes

    def load(self) -> Any:
        """The event, parsed."""
        return _ffi.loads(self.json)


class EventCount(NamedTuple):
    """How many events a session has stored, and the version that it is at."""

    stored: int
    version: int


class Info(NamedTuple):
    """Facts about a store."""

    engine: str
    path: str
    schema_version: int
    read_only: bool
    journal_mode: str
    journal_reason: str
    sqlite_version: str
    sqlite_bugs: str


class Trace(NamedTuple):
    """A call that has ended, for the option `trace` of a store."""

    call: str
    """Its name in C, such as "ses_append"."""
    code: int
    """What it returned, below 0 for an error."""
    waited: float
    """Seconds that it waited for locks, connections, a lease, and other calls that write."""
    worked: float
    """The rest of its seconds."""
    bytes_in: int
    """Of the texts that it gave to the database."""
    bytes_out: int
    """Of the texts that it read there."""


class Problem(NamedTuple):
    """What a check has found."""

    kind: str
    app: str | None
    user: str | None
    session: str | None
    seq: int
    message: str


class Loaded(NamedTuple):
    """What became of a session that was loaded."""

    outcome: str
    events: int
    version: int
    session: str


class Imported(NamedTuple):
    """What became of a session, a shared key or an artifact of a user of JSON lines."""

    app: str
    user: str | None
    session: str | None
    loaded_as: str | None
    state_key: str | None
    outcome: str
    events: int
    line: int
    error: Exception | None
    artifact: str | None = None


Labels = Mapping[str, Union[str, None]]


def labels_in(labels: Labels | None, keep: list[Any]) -> tuple[Any, int]:
    """Labels as a call takes them. A value of None removes the label."""
    pairs = [
        (_ffi.c_text(name, "a label", keep), _ffi.c_text(value, "a label's value", keep))
        for name, value in (labels or {}).items()
    ]
    if not pairs:
        return ffi.NULL, 0
    array = ffi.new("ses_label[]", pairs)
    keep.append(array)
    return array, len(pairs)
