"""What a store has: sessions page by page, the names of apps and users, the events of a session one by
one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _ffi, errors
from ._ffi import NULL, ffi, lib
from .values import Event, EventCount, EventJson, Key, KeyLike, Range, event_of, key_of

if TYPE_CHECKING:
    from .session import Session, Summary
    from .store import Store

KINDS = {
    "conversation": lib.SES_KIND_CONVERSATION,
    "child": lib.SES_KIND_CHILD,
    "memory": lib.SES_KIND_MEMORY,
}

ORDERS = {
    "newest": lib.SES_ORDER_NEWEST,
    "oldest": lib.SES_ORDER_OLDEST,
    "created": lib.SES_ORDER_CREATED,
    "changed": lib.SES_ORDER_CHANGED,
}


def _kinds_in(kinds: Iterable[str] | None) -> int:
    found = 0
    for kind in kinds or ():
        if kind not in KINDS:
            raise errors.InvalidError(f"kinds: {kind!r} is not one of {', '.join(KINDS)}")
        found |= KINDS[kind]
    return found


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Filter(_ffi.Value):
    """Selects the sessions that match every given argument."""

    label: str | None = None
    label_value: str | None = None
    id_prefix: str | None = None
    updated_since_us: int | None = None
    updated_before_us: int | None = None
    changed_since_us: int | None = None
    changed_before_us: int | None = None
    without_label: str | None = None
    archived: bool | None = None
    """True: only archived sessions; False: only the others."""
    kinds: Iterable[str] | None = None
    """Only sessions of these kinds: "conversation", "child", "memory"."""
    remembered: bool = False
    """Only sessions of which something is remembered, and memory."""
    child_of: Key | None = None
    """Only children of this session."""

    def __post_init__(self) -> None:
        keep: list[Any] = []
        made = _ffi.struct(
            "ses_filter",
            label=_ffi.c_text(self.label, "the label", keep),
            label_value=_ffi.c_text(self.label_value, "the label's value", keep),
            id_prefix=_ffi.c_text(self.id_prefix, "the prefix", keep),
            updated_since_us=_ffi.int64(self.updated_since_us, keep),
            updated_before_us=_ffi.int64(self.updated_before_us, keep),
            changed_since_us=_ffi.int64(self.changed_since_us, keep),
            changed_before_us=_ffi.int64(self.changed_before_us, keep),
            without_label=_ffi.c_text(self.without_label, "the label", keep),
            archived=lib.SES_ARCHIVED_ANY
            if self.archived is None
            else lib.SES_ARCHIVED_ONLY
            if self.archived
            else lib.SES_ARCHIVED_NO,
            kinds=_kinds_in(self.kinds),
            remembered=self.remembered,
            child_of=None if self.child_of is None else self.child_of.c,
        )
        self._set_struct(made, keep)


RELATIONS = {
    lib.SES_RELATION_PARENT: "parent",
    lib.SES_RELATION_FORK: "fork",
    lib.SES_RELATION_SIBLING: "sibling",
    lib.SES_RELATION_CHILD_OF: "child of",
    lib.SES_RELATION_CHILD: "child",
}


@dataclass(frozen=True, slots=True)
class Relative:
    """A session that is related to another."""

    relation: str
    """"parent", "fork", "sibling" (both were forked from the same session, after the same event), "child of" or
    "child"."""
    key: Key
    seq: int
    """The last event that both have; 0 for children."""
    created_us: int


def relatives_of(family: Any, app: str) -> list[Relative]:
    """Copies of the relatives."""
    found = (lib.ses_family_at(family, at) for at in range(lib.ses_family_count(family)))
    return [
        Relative(
            RELATIONS.get(one.relation, "other"),
            Key(app, _ffi.required(one.user), _ffi.required(one.session)),
            one.seq,
            one.created_us,
        )
        for one in found
    ]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a conversation is about, as it is stored at the moment of the list."""

    last: str | None
    """The newest text, of live events without thoughts."""
    last_author: str | None
    last_seq: int | None
    """The number of the event with that text."""
    pending_calls: int
    """How many function calls after that text wait for a response."""
    first: str | None
    """Of a session without a title: the first text of the user."""


def _preview_of(raw: Any) -> Preview:
    last, first = _ffi.span(raw.last), _ffi.span(raw.first)
    return Preview(
        last=None if last is None else last.decode(),
        last_author=_ffi.string(raw.last_author),
        last_seq=raw.last_seq or None,
        pending_calls=raw.pending_calls,
        first=None if first is None else first.decode(),
    )


class Page(list["Session"]):
    """One page of a list. `token` leads to the next page, and is None on the last."""

    token: str | None = None
    changed_us: tuple[int, ...] = ()
    """When each session was last written to, by the store's clock."""
    previews: tuple[Preview, ...] = ()
    """One for each session, if they were asked for."""


class Cursor(_ffi.Handle):
    """Walks the events of a session in constant memory: an iterator, to be closed, or used with `with`."""

    __slots__ = ("_store",)
    _what = "cursor"

    def __init__(self, store: Store, key: Key, events: Range | None, backward: bool) -> None:
        self._store = store
        made = ffi.new("ses_cursor **")
        options = _ffi.struct(
            "ses_cursor_options",
            flags=lib.SES_CURSOR_BACKWARD if backward else 0,
            range=None if events is None else events.c,
        )
        store._run_key(key, lib.ses_cursor_open, options, made)
        super().__init__(made[0], _ffi.limited(_close_cursor))

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Event:
        event = ffi.new("const ses_event **")
        with self._guard:
            if _ffi.call(lib.ses_cursor_next, self._live(), event) != lib.SES_ROW:
                raise StopIteration
            return event_of(event[0])


def _close_cursor(pointer: Any) -> None:
    lib.ses_cursor_close(pointer, NULL)  # __next__ has already raised the error


def _sessions_of(page: Any) -> Iterator[Any]:
    return (lib.ses_page_session(page, at) for at in range(lib.ses_page_count(page)))


class Lists:
    """Part of Store."""

    _run: Any
    _pointer: Any

    def list(
        self,
        app: str,
        user: str | None = None,
        *,
        order: str = "newest",
        limit: int = 0,
        token: str | None = None,
        state: bool = True,
        filter: Filter | None = None,
        preview: bool | int = False,
    ) -> Page:
        """One page of sessions, with their state and without events. `order` is "newest", "oldest",
        "created", or "changed": last written first, by the store's clock. With `preview`, the page says of
        each session what was said last, in texts of at most 200 bytes, or of as many as it gives."""
        from .session import Session

        owner = self._page(app, user, order, limit, token, state, filter, preview)
        guard = _ffi.Guard("page of sessions")
        page = Page(
            Session(self, session, owner, guard)  # type: ignore[arg-type]
            for session in _sessions_of(owner)
        )
        page.token = _ffi.string(lib.ses_page_token(owner))
        page.changed_us = tuple(lib.ses_page_changed_us(owner, at) for at in range(len(page)))
        if preview is not False:
            page.previews = tuple(_preview_of(lib.ses_page_preview(owner, at)) for at in range(len(page)))
        return page

    def _page(
        self,
        app: str,
        user: str | None,
        order: str,
        limit: int,
        token: str | None,
        state: bool,
        filter: Filter | None,
        preview: bool | int = False,
    ) -> Any:
        """A page of the library, which ends with the last that refers to it."""
        if order not in ORDERS:
            raise errors.InvalidError(f"order is one of {', '.join(ORDERS)}, not {order!r}")
        keep: list[Any] = []
        options = _ffi.struct(
            "ses_list_options",
            order=ORDERS[order],
            limit=limit,
            token=_ffi.c_text(token, "the token", keep),
            flags=(0 if state else lib.SES_LIST_NO_STATE) | (0 if preview is False else lib.SES_LIST_PREVIEW),
            filter=None if filter is None else filter.c,
            preview_bytes=0 if isinstance(preview, bool) else preview,
        )
        made = ffi.new("ses_page **")
        names = _ffi.encode(app, "the app"), NULL if user is None else _ffi.encode(user, "the user")
        self._run(lib.ses_list, *names, options, made)
        return ffi.gc(made[0], lib.ses_page_close)

    def _summaries(self, app: str, user: str | None, limit: int, filter: Filter) -> Iterator[Summary]:
        """All sessions, each exactly once even during writes: in order of creation, `limit` at a time."""
        from .session import summaries_of

        token = None
        while True:
            owner = self._page(app, user, "created", limit, token, True, filter)
            yield from summaries_of(_sessions_of(owner))
            token = _ffi.string(lib.ses_page_token(owner))
            if token is None:
                return

    def sessions(
        self,
        app: str,
        user: str | None = None,
        *,
        order: str = "created",
        state: bool = True,
        filter: Filter | None = None,
    ) -> Iterator[Session]:
        """All sessions, page by page."""
        token = None
        while True:
            page = self.list(app, user, order=order, token=token, state=state, filter=filter)
            yield from page
            token = page.token
            if token is None:
                return

    def count(self, app: str, user: str | None = None, filter: Filter | None = None) -> int:
        """How many sessions a list would have."""
        count = ffi.new("int64_t *")
        names = _ffi.encode(app, "the app"), NULL if user is None else _ffi.encode(user, "the user")
        self._run(lib.ses_list_count, *names, NULL if filter is None else filter.c, _ffi.plain(), count)
        return count[0]

    def apps(self, prefix: str | None = None) -> Iterator[str]:
        """The names of apps, in the order of their bytes."""
        return self._names(lib.ses_list_apps, (), prefix)

    def users(self, app: str, prefix: str | None = None) -> Iterator[str]:
        """The users of an app, in the order of their bytes."""
        return self._names(lib.ses_list_users, (_ffi.encode(app, "the app"),), prefix)

    def _names(self, function: Any, owner: tuple[bytes, ...], prefix: str | None) -> Iterator[str]:
        after: str | None = None
        while True:
            keep: list[Any] = []
            options = _ffi.struct(
                "ses_names_options",
                after=_ffi.c_text(after, "the name", keep),
                prefix=_ffi.c_text(prefix, "the prefix", keep),
            )
            made = ffi.new("ses_names **")
            self._run(function, *owner, options, made)
            names = ffi.gc(made[0], lib.ses_names_close)
            yield from [
                _ffi.required(lib.ses_names_at(names, at)) for at in range(lib.ses_names_count(names))
            ]
            after = _ffi.string(lib.ses_names_after(names))
            if after is None:
                return

    def events(self, key: KeyLike, events: Range | None = None, *, backward: bool = False) -> Cursor:
        """Walks the events of a session, also of one that is larger than memory."""
        return Cursor(self, key_of(key), events, backward)  # type: ignore[arg-type]

    def event_get(self, key: KeyLike, name: str) -> EventJson | None:
        """The stored event of that id, or None. An index finds it, however long the log is."""
        seq, text, length, named = ffi.new("int64_t *"), ffi.new("char **"), ffi.new("size_t *"), key_of(key)
        encoded = _ffi.encode(name, "the event's id")
        self._run(lib.ses_event_get_by_key, named.c, encoded, _ffi.plain(), seq, text, length, key=named)
        if text[0] == NULL:
            return None
        try:
            return EventJson(seq[0], ffi.unpack(text[0], length[0]))
        finally:
            lib.ses_free(text[0])

    def event_count(self, key: KeyLike) -> EventCount:
        """How many events a session has stored, and the version that it is at. Nothing else of it is read."""
        count, version, named = ffi.new("int64_t *"), ffi.new("int64_t *"), key_of(key)
        self._run(lib.ses_event_count_by_key, named.c, _ffi.plain(), count, version, key=named)
        return EventCount(count[0], version[0])
