"""The calls of a store on what is remembered of a user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict

from . import _calls, _ffi
from ._ffi import JsonIn, ffi, lib
from .search import Hit, page_of
from .values import Deleted, KeyLike, erased_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


class RecallOptions(TypedDict, total=False):
    """The options of Store.memory_search and Store.memory_list."""

    project: str | None
    since_us: int | None
    before_us: int | None
    limit: int
    snippet_bytes: int


def _options_of(
    keep: list[Any],
    *,
    project: str | None = None,
    since_us: int | None = None,
    before_us: int | None = None,
    limit: int = 10,
    snippet_bytes: int = 0,
) -> Any:
    return _ffi.struct(
        "ses_memory_options",
        project=_ffi.c_text(project, "the project", keep),
        since_us=_ffi.int64(since_us, keep),
        before_us=_ffi.int64(before_us, keep),
        limit=limit,
        snippet_bytes=snippet_bytes,
    )


class Memories:
    """Part of Store."""

    _run: Any
    _by_key: Any

    def memory_add_session(self, key: KeyLike, last_seq: int = 0) -> None:
        """Remembers the events of a session up to that number, or with 0 up to its newest. Nothing is copied,
        and the number is never lowered."""
        self._by_key(key)(lib.ses_memory_add_session, last_seq, _ffi.plain())

    def memory_add_events(
        self,
        key: KeyLike,
        events: Iterable[JsonIn],
        *,
        project: str | None = None,
        replace: bool = False,
        copy: bool = False,
    ) -> int:
        """Remembers events of a session, which need not be in the store, or without one as notes. Returns how
        many were not remembered before. Events in which nobody said anything are passed over.

        With `replace`, what was copied of the session before is forgotten; with `copy`, events that it has
        are copied, too.
        """
        keep: list[Any] = []
        texts = [_ffi.json_member(event, "an event", keep) for event in events]
        options = _ffi.struct(
            "ses_memory_add_options",
            flags=(lib.SES_MEMORY_REPLACE if replace else 0) | (lib.SES_MEMORY_COPY if copy else 0),
            project=_ffi.c_text(project, "the project", keep),
        )
        added = ffi.new("size_t *")
        array = ffi.new("ses_text[]", texts)
        self._by_key(key)(lib.ses_memory_add_events, array, len(texts), options, added)
        return added[0]

    def memory_add(self, key: KeyLike, text: str, *, project: str | None = None) -> None:
        """Remembers a text as a note of the user."""
        keep: list[Any] = []
        encoded = _ffi.encode(text, "the text")
        options = _ffi.struct("ses_memory_add_options", project=_ffi.c_text(project, "the project", keep))
        self._by_key(key)(lib.ses_memory_add, encoded, len(encoded), options)

    def memory_search(
        self, query: str, *, app: str, user: str, **options: Unpack[RecallOptions]
    ) -> list[Hit]:
        """Finds what is remembered of a user and has at least one word of a query, which may be a whole
        message. Events with most of its words come first, among these the latest. Hits have their JSON."""
        text = _ffi.text_in(query, "the query")
        return self._recall(lib.ses_memory_search, app, user, (text, len(text)), options)

    def memory_list(self, *, app: str, user: str, **options: Unpack[RecallOptions]) -> list[Hit]:
        """The latest of what is remembered of a user."""
        return self._recall(lib.ses_memory_list, app, user, (), options)

    def _recall(
        self, function: Any, app: str, user: str, words: tuple[Any, ...], options: RecallOptions
    ) -> list[Hit]:
        keep: list[Any] = []
        names = _ffi.encode(app, "the app"), _ffi.encode(user, "the user")
        made = ffi.new("ses_hits **")
        self._run(function, *names, *words, _options_of(keep, **options), made)
        return list(page_of(made))

    def memory_forget(
        self, key: KeyLike, *, project: str | None = None, secure: bool = False, receipt: bool = False
    ) -> Deleted:
        """Forgets what is remembered of a session, of a user, or with a project only what belongs to it.
        Conversations stay; those with copies are deleted."""
        keep: list[Any] = []
        options = _ffi.struct("ses_delete_options", flags=lib.SES_SECURE if secure else 0)
        made = _calls.receipt_of(options, True)
        name = _ffi.c_text(project, "the project", keep)
        more = self._by_key(key)(lib.ses_memory_forget, name, options) == lib.SES_MORE
        return Deleted(made.sessions, more, 0, erased_of(made, more) if receipt else None)

    def memory_forget_events(self, key: KeyLike, seqs: Iterable[int]) -> None:
        """Forgets single events of what is remembered, by their numbers in a session, as hits have them."""
        numbers = ffi.new("int64_t[]", [*seqs])
        self._by_key(key)(lib.ses_memory_forget_events, numbers, len(numbers), _ffi.plain())
