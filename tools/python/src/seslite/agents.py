"""The session of the OpenAI Agents SDK in a store:

    from agents import Agent, Runner
    from seslite.agents import SesliteSession

    session = SesliteSession("conversation 1", "agents.db")
    result = await Runner.run(Agent("Helper"), "Hello", session=session)

It needs the package openai-agents: pip install seslite[agents].
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from ._peers import Opened, read_in_thread, write_in_thread
from .errors import BusyError, CallInterruptedError, NotFoundError, StaleError
from .store import Store, StoreOptions
from .values import NO_EVENTS, Key, Point, Range

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from typing_extensions import Unpack

    from .session import Session

HERE_MAX = 50
"""So many items are read in the thread of the event loop, unless that takes longer than HERE_SECONDS: handing
them over to a thread takes longer than reading them does."""
HERE_SECONDS = 0.005
TAIL, LAST = Range(newest=16), Range(newest=1)
"""What a pop reads, so that the next pops need not."""

COMPACTION = "compaction"
"""An event with this member stands in the place of those from its number `first` on: it has the `items` that
replaced theirs, and in `previous` the number of the compaction that is in force before `first`, or 0. The
label of this name has the number of the session's newest compaction."""


# ------------------------------------------------------------------------------------------------------ items


def _text_of(part: Any) -> Any:
    return (part.get("text") or part.get("refusal")) if isinstance(part, dict) else None


def _content_of(item: Any) -> dict[str, Any] | None:
    """The texts of a message as the ADK has them, for searches and for the command."""
    if not isinstance(item, dict) or item.get("type", "message") != "message":
        return None
    content = item.get("content")
    texts = (
        [content]
        if isinstance(content, str)
        else [_text_of(part) for part in content]
        if isinstance(content, list)
        else []
    )
    parts = [{"text": text} for text in texts if isinstance(text, str) and text]
    return {"role": "user" if item.get("role") == "user" else "model", "parts": parts} if parts else None


def _event_of(item: Any) -> bytes:
    """The event that an item becomes."""
    author = "user" if isinstance(item, dict) and item.get("role") == "user" else "assistant"
    event = {"item": item, "author": author}
    content = _content_of(item)
    if content is not None:
        event["content"] = content
    try:
        text = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(event).encode()  # lone surrogates, as escapes


class _Stored(NamedTuple):
    """An item, and where it is: in the event `seq`, or in the compaction `within` there, as its item number
    `at`."""

    item: Any
    seq: int
    previous: int  # the compaction that is in force before it
    within: dict[str, Any] | None = None
    at: int = 0


# --------------------------------------------------------------------------------------------------- sessions


class SesliteSession(SessionABC):
    """A conversation: what the SDK's SQLiteSession is, in a store.

    `db_path` is a file, the address of a database, or a Store that is open, which stays open when the session
    is closed. Sessions of one process that name the same file, with the same options, share one store.
    Without it the session is in memory. Any tasks, threads and processes may use the same session at the same
    time.

    The conversation is the session `session_id` of an `app` and a `user`, created by the first add_items.
    Each item is an event with the member `item`. The texts of messages are its content too, so that
    Store.search and the command find them. What others append to the session is left out here.
    """

    def __init__(
        self,
        session_id: str,
        db_path: str | os.PathLike[str] | Store = ":memory:",
        *,
        app: str = "openai-agents",
        user: str = "user",
        session_settings: SessionSettings | dict[str, Any] | None = None,
        **options: Unpack[StoreOptions],
    ) -> None:
        self.session_id = session_id
        self.session_settings = (
            SessionSettings() if session_settings is None else coerce_session_settings(session_settings)
        )
        self._key = Key(app, user, session_id)
        self.db_path = db_path
        self._closed = False
        self._tail: tuple[int, list[int]] | None = None  # as _read_tail gives it, for the next pop
        self._opened = Opened(db_path, options)
        self.store = self._opened.store
        self._is_near = self.store.info().engine == "sqlite"

    @property
    def key(self) -> Key:
        """The name of the session in the store."""
        return self._key

    def _check_not_closed(self) -> None:
        if self._closed:
            raise RuntimeError(f"{type(self).__name__} is closed")

    def close(self) -> None:
        """Ends the session's use of its store. What is stored stays."""
        self._closed = True
        self._opened.close()

    # ------------------------------------------------------------------------------------------ the protocol

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, oldest first; all without it, and without one in the settings."""
        self._check_not_closed()
        limit = resolve_session_limit(limit, self.session_settings)
        if limit == 0:
            return []
        if limit is None or limit < 0:
            return await read_in_thread(self.store, self._get, None)
        if limit <= HERE_MAX and self._is_near:
            try:
                with self.store.limits(HERE_SECONDS):
                    return self._get(limit)
            except (BusyError, CallInterruptedError):
                pass  # it has to wait, or the items are large
        return await read_in_thread(self.store, self._get, limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items in one transaction: all or none."""
        self._check_not_closed()
        if items:
            await write_in_thread(self.store, self._add, [_event_of(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the newest item and returns it; None if there is none. No two callers get the same item."""
        self._check_not_closed()
        return await write_in_thread(self.store, self._pop)

    async def clear_session(self) -> None:
        """Removes all items."""
        self._check_not_closed()
        await write_in_thread(self.store, self.store.delete, self._key)

    async def _get_compaction_snapshot(
        self, limit: int, *, prune_prefix: Callable[[Any], bool] | None = None
    ) -> Any:
        """The SDK's protocol by which OpenAIResponsesCompactionSession replaces the newest items by others,
        all or none."""
        self._check_not_closed()
        own = type(self)
        if own.get_items is not SesliteSession.get_items or own.add_items is not SesliteSession.add_items:
            return None  # which may transform items
        from agents.memory.session import _CompactionSnapshot

        version, found, complete = await read_in_thread(self.store, self._snapshot, limit)

        async def replace_suffix(start: int, output: list[Any]) -> bool:
            if not found[start:]:
                return False
            return await write_in_thread(
                self.store, self._replace, version, found[start], output, prune_prefix
            )

        return _CompactionSnapshot([each.item for each in found], complete, replace_suffix)

    # -------------------------------------------------------------------------------------------- in a thread

    def _get(self, limit: int | None) -> list[Any]:
        wanted = limit
        while True:
            try:
                with self.store.get(self._key, None if wanted is None else Range(newest=wanted)) as session:
                    if _compacted(session) is not None:
                        return [each.item for each in self._snapshot(limit)[1]]
                    items = session._members(b"item")
                    if (
                        wanted is None
                        or limit is None
                        or len(items) >= limit
                        or session._event_count() < wanted
                    ):
                        return items if limit is None else items[-limit:]
                    wanted *= 2  # some are events of others
            except NotFoundError:
                return []

    def _add(self, events: list[bytes]) -> None:
        while True:
            try:
                added = self.store.append_batch(self._key, events)
                break
            except NotFoundError:
                self.store.get_or_create(self._key, events=NO_EVENTS)
        self._tail = (added[-1].version, [each.seq for each in added])

    def _pop(self) -> Any:
        """The newest event is taken off if it is an item. Whatever comes in between is noticed by the
        version."""
        while True:
            try:
                version, numbers = self._tail or self._read_tail()
                if numbers:
                    self._tail = None
                    (event,) = self.store.pop(self._key, Point.seq(numbers[-1] - 1), version=version).events
                    self._tail = (version + 1, numbers[:-1]) if len(numbers) > 1 else None
                    return event.load()["item"]
                version, found, _ = self._snapshot(1)
                if not found or self._replace(version, found[0], []):
                    return found[0].item if found else None
            except NotFoundError:
                return None
            except StaleError:
                continue

    def _read_tail(self) -> tuple[int, list[int]]:
        """The version, and the numbers of the newest events, or of the newest alone, if they are items."""
        for newest in (TAIL, LAST):
            with self.store.get(self._key, newest) as session:
                version, numbers = session.version, session._numbers()
                if _compacted(session) is None and len(session._members(b"item")) == len(numbers):
                    return version, numbers
        return version, []

    def _snapshot(self, limit: int | None) -> tuple[int, list[_Stored], bool]:
        """The version, the newest items, and whether they are all."""
        while True:
            try:
                with self.store.get(self._key, NO_EVENTS) as session:
                    version, last, newest = session.version, session.last_seq, _label_of(session)
                found: list[_Stored] = []
                items = self._backward(last, newest)
                for each in items:
                    if len(found) == limit:
                        break
                    found.append(each)
                else:
                    limit = None  # these are all
                if self.store.event_count(self._key).version == version:  # nobody wrote while it was read
                    return version, found[::-1], limit is None
            except NotFoundError:
                return 0, [], True

    def _backward(self, last: int, newest: int) -> Iterator[_Stored]:
        """The items up to the event `last`, newest first."""
        while True:
            if last > newest:
                with self.store.events(
                    self._key, Range(first_seq=newest + 1, last_seq=last), backward=True
                ) as cursor:
                    for event in cursor:
                        loaded = event.load()
                        if "item" in loaded:
                            yield _Stored(loaded["item"], event.seq, newest)
            compaction = self._compaction(newest)
            if compaction is None:
                if newest:  # which was cut off, or pruned
                    yield from self._backward(newest - 1, 0)
                return
            for index in reversed(range(len(compaction["items"]))):
                yield _Stored(
                    compaction["items"][index], compaction["first"], compaction["previous"], compaction, index
                )
            last, newest = compaction["first"] - 1, compaction["previous"]

    def _compaction(self, seq: int) -> Any:
        if not seq:
            return None
        with self.store.get(self._key, Range(first_seq=seq, last_seq=seq)) as session:
            found = session._members(COMPACTION.encode())
        return found[0] if found else None

    def _replace(
        self,
        version: int,
        start: _Stored,
        output: list[Any],
        prune_prefix: Callable[[Any], bool] | None = None,
    ) -> bool:
        """Puts items in the place of `start` and all after it. Returns False if the session has changed since
        `version`."""
        kept = [] if start.within is None else start.within["items"][: start.at]
        compaction = {"first": start.seq, "items": [*kept, *output], "previous": start.previous}
        try:
            with self.store.get(self._key, NO_EVENTS) as session:
                if session.version != version:
                    return False
                label = str(session.last_seq + 1)
                appended = session.append(
                    {COMPACTION: compaction, "author": "assistant"}, labels={COMPACTION: label}
                )
        except (StaleError, NotFoundError):
            return False
        if prune_prefix is not None:
            self._prune(prune_prefix, appended.seq)
        return True

    def _prune(self, expired: Callable[[Any], bool], newest: int) -> None:
        """Deletes the oldest events for good, up to the first item that has not expired. `newest` is the
        newest compaction."""
        if newest < 2:
            return
        in_force, seq = {}, newest
        while (compaction := self._compaction(seq)) is not None:
            in_force[seq], seq = compaction, compaction["previous"]
        last = 0
        with self.store.events(self._key, Range(last_seq=newest - 1)) as cursor:
            for event in cursor:
                if not any(
                    each["first"] <= event.seq < seq for seq, each in in_force.items()
                ):  # else another stands for it
                    loaded = event.load()
                    items = [loaded["item"]] if "item" in loaded else in_force.get(event.seq, {}).get("items")
                    if items is None or not all(expired(item) for item in items):
                        break
                last = event.seq
        while last and self.store.prune(self._key, last_seq=last).more:
            pass


def _label_of(session: Session) -> int:
    """The number of the newest compaction, or 0."""
    label = session.label(COMPACTION)
    return int(label) if label is not None and label.isascii() and label.isdigit() else 0


def _compacted(session: Session) -> int | None:
    """The number of the newest compaction, unless the events that the handle holds all come after it."""
    newest = _label_of(session)
    return newest if newest and newest >= session._first_seq() else None
