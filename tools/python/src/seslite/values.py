"""The values that calls take and return: names of sessions, ranges, points, events, results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Union

from . import _ffi
from ._ffi import ffi, lib

INT64_MAX = 2**63 - 1


class Key:
    """Names one session. Ids are 1 to 512 bytes of UTF-8, and are compared as they are."""

    __slots__ = ("app", "user", "session", "_c")

    def __init__(self, app: str, user: str, session: str | None = None) -> None:
        keep: list[Any] = []
        self.app, self.user, self.session = app, user, session
        for name, what in ((app, "the app"), (user, "the user")):
            keep.append(ffi.new("char[]", _ffi.encode(name, what)))
        struct = ffi.new("ses_key *", [*keep, _ffi.c_text(session, "the session's id", keep)])
        self._c = (struct, keep)

    @property
    def c(self) -> Any:
        return self._c[0]

    def _parts(self) -> tuple[str, str, str | None]:
        return self.app, self.user, self.session

    def __iter__(self) -> Any:
        return iter(self._parts())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"Key({self.app!r}, {self.user!r}, {self.session!r})"


KeyLike = Union[Key, tuple[str, str, str], tuple[str, str, None], tuple[str, str]]


def key_of(key: KeyLike) -> Key:
    return key if isinstance(key, Key) else Key(*key)


class Range:
    """Selects events: all, or those for which everything that is given holds; `newest` then takes the last of them."""

    __slots__ = ("c",)

    def __init__(
        self,
        *,
        newest: int | None = None,
        since_us: int | None = None,
        first_seq: int | None = None,
        last_seq: int | None = None,
        live: bool = False,
        none: bool = False,
    ) -> None:
        by_number = first_seq is not None or last_seq is not None
        self.c = _ffi.struct(
            "ses_range",
            which=(lib.SES_RANGE_NONE if none else 0)
            | (lib.SES_RANGE_NEWEST if newest is not None else 0)
            | (lib.SES_RANGE_SINCE if since_us is not None else 0)
            | (lib.SES_RANGE_SEQ if by_number else 0)
            | (lib.SES_RANGE_LIVE if live else 0),
            newest=newest,
            since_us=since_us,
            first_seq=1 if first_seq is None else first_seq,
            last_seq=INT64_MAX if last_seq is None else last_seq,
        )


NO_EVENTS = Range(none=True)


class Point:
    """A point of a log. Made by Point.now(), seq(), event(), invocation() and last_turn()."""

    __slots__ = ("c", "_keep")

    def __init__(self, kind: int, seq: int = 0, name: str | None = None) -> None:
        self._keep: list[Any] = []
        self.c = _ffi.struct("ses_point", kind=kind, seq=seq, id=_ffi.c_text(name, "the id", self._keep))

    @classmethod
    def now(cls) -> Point:
        """After the last event."""
        return cls(lib.SES_POINT_NOW)

    @classmethod
    def seq(cls, seq: int) -> Point:
        """After the event of that number. 0: as the session was created."""
        return cls(lib.SES_POINT_SEQ, seq=seq)

    @classmethod
    def event(cls, name: str) -> Point:
        """After the event of that id."""
        return cls(lib.SES_POINT_EVENT, name=name)

    @classmethod
    def invocation(cls, name: str) -> Point:
        """Before the first event of that invocation."""
        return cls(lib.SES_POINT_INVOCATION, name=name)

    @classmethod
    def last_turn(cls) -> Point:
        """Before the last turn of the user."""
        return cls(lib.SES_POINT_LAST_TURN)


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
        return self.status == lib.SES_PARTIAL

    @property
    def duplicate(self) -> bool:
        return self.status == lib.SES_DUPLICATE

    @property
    def unchanged(self) -> bool:
        return self.status == lib.SES_UNCHANGED


def appended_of(made: Any) -> Appended:
    return Appended(made.status, made.seq, made.version, made.time_us, made.updated_us, _ffi.required(made.made_id))


class Lease(NamedTuple):
    """A session's turn that was taken."""

    token: int
    until_us: int


class Deleted(NamedTuple):
    """How much a call deleted. `more`: call it again."""

    total: int
    more: bool = False
    state_keys: int = 0


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
    """What became of a session or a shared key of JSON lines."""

    app: str
    user: str | None
    session: str | None
    loaded_as: str | None
    state_key: str | None
    outcome: str
    events: int
    line: int
    error: Exception | None


Labels = Mapping[str, Union[str, None]]


def labels_in(labels: Labels | None, keep: list[Any]) -> tuple[Any, int]:
    """Labels as a call takes them. A value of None removes the label."""
    pairs = [
        (_ffi.c_text(name, "a label", keep), _ffi.c_text(value, "a label's value", keep)) for name, value in (labels or {}).items()
    ]
    if not pairs:
        return ffi.NULL, 0
    array = ffi.new("ses_label[]", pairs)
    keep.append(array)
    return array, len(pairs)
