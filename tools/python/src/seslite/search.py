"""Searching events by words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from . import _ffi, errors
from ._ffi import NULL, ffi, lib
from .lists import Filter
from .upkeep import Caught, Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

PAGE_MAX = 1000


class Hit(NamedTuple):
    """An event that a search found."""

    user: str
    session: str
    id: str
    """The event's."""
    author: str
    seq: int
    time_us: int
    snippet: str | None
    """A piece of the text in which a word was found first. None without `snippet_bytes`."""
    snippet_found: int
    """The character of the snippet at which that word begins."""
    json: bytes | None = None
    """The event. None without `json`."""
    score: float = 0.0
    """The part of the words asked for that it has, of what is remembered."""


class HitPage(list[Hit]):
    """One page of a search."""

    indexed: bool
    token: str | None
    """Leads to the next page. None: this is the last."""


class Hits(Iterator[Hit]):
    """The hits of a search, read page by page."""

    indexed: bool | None = None
    """Whether the index was asked for the page that was read last: otherwise its events were read. None: no
    page was read yet."""

    def __init__(self, pages: Iterator[HitPage]) -> None:
        self._pages = pages
        self._page: Iterator[Hit] = iter(())

    def __next__(self) -> Hit:
        while (hit := next(self._page, None)) is None:
            page = next(self._pages)
            self.indexed, self._page = page.indexed, iter(page)
        return hit


class SearchOptions(TypedDict, total=False):
    """The options of Store.search."""

    user: str | None
    session: str | None
    any: bool
    phrase: bool
    live: bool
    json: bool
    since_us: int | None
    before_us: int | None
    snippet_bytes: int
    limit: int | None
    filter: Filter | None


def _hit_of(hit: Any) -> Hit:
    """A copy of a borrowed hit."""
    snippet, found = None, 0
    if hit.snippet != NULL:
        text = ffi.unpack(hit.snippet, hit.snippet_len)
        snippet, found = text.decode(), len(text[: hit.snippet_found].decode())
    return Hit(
        _ffi.required(hit.user),
        _ffi.required(hit.session),
        _ffi.required(hit.id),
        _ffi.required(hit.author),
        hit.seq,
        hit.time_us,
        snippet,
        found,
        None if hit.json == NULL else ffi.unpack(hit.json, hit.json_len),
        hit.score,
    )


def page_of(made: Any) -> HitPage:
    """A copy of a page, which is freed."""
    hits = ffi.gc(made[0], lib.ses_hits_close)
    page = HitPage(_hit_of(lib.ses_hits_at(hits, at)) for at in range(lib.ses_hits_count(hits)))
    page.indexed = bool(lib.ses_hits_indexed(hits))
    page.token = _ffi.string(lib.ses_hits_token(hits))
    return page


class Search:
    """Part of Store."""

    _run: Any

    def search(self, words: str, *, app: str, **options: Unpack[SearchOptions]) -> Hits:
        """Finds the events of an app, of a `user` or of one `session` that have all of the words, without
        regard to case and accents. The sessions that changed last come first, and in each the newest events.

        With `any` one of the words is enough; with `phrase` they must follow each other; with `live` events
        that a rewind has taken back are left out; with `json` each hit has its event. Their time is `since_us` or later, and earlier than
        `before_us`. With `filter` only the sessions are searched that match it, as by list(). With
        `snippet_bytes` each hit has about as many bytes of the text around the words. At most `limit` hits
        are given. They are read page by page, and each page is a call, which may take long for words that are
        rare: see limits(), and index().
        """
        return Hits(self._hit_pages(words, app, **options))

    def _hit_pages(
        self,
        words: str,
        app: str,
        *,
        user: str | None = None,
        session: str | None = None,
        any: bool = False,
        phrase: bool = False,
        live: bool = False,
        json: bool = False,
        since_us: int | None = None,
        before_us: int | None = None,
        snippet_bytes: int = 0,
        limit: int | None = None,
        filter: Filter | None = None,
    ) -> Iterator[HitPage]:
        if limit is not None and limit < 1:
            raise errors.InvalidError(f"limit is a number of hits above 0, or None, not {limit}")
        text, token = _ffi.text_in(words, "the words"), None
        while True:
            keep: list[Any] = []
            names = (app, "the app"), (user, "the user"), (session, "the session's id")
            scope = ffi.new("ses_key *", [_ffi.c_text(name, what, keep) for name, what in names])
            options = _ffi.struct(
                "ses_search_options",
                flags=(lib.SES_SEARCH_ANY if any else 0)
                | (lib.SES_SEARCH_PHRASE if phrase else 0)
                | (lib.SES_SEARCH_LIVE if live else 0)
                | (lib.SES_SEARCH_JSON if json else 0),
                since_us=_ffi.int64(since_us, keep),
                before_us=_ffi.int64(before_us, keep),
                limit=0 if limit is None else min(limit, PAGE_MAX),
                token=_ffi.c_text(token, "the token", keep),
                snippet_bytes=snippet_bytes,
                filter=None if filter is None else filter.c,
            )
            made = ffi.new("ses_hits **")
            self._run(lib.ses_store_search, scope, text, len(text), options, made)
            page = page_of(made)
            yield page
            token = page.token
            limit = None if limit is None else limit - len(page)
            if token is None or limit == 0:
                return

    def index(self, *, rebuild: bool = False, drop: bool = False, progress: Progress | None = None) -> int:
        """Makes the index of the store, or brings it up to date, and returns how many events it added. From
        then on searches ask it, and first add what it lacks of their scope; appends do not write to it.

        `rebuild` makes it again from nothing; `drop` removes it. `progress` gets the events done and about
        how many there are. What was added before a failure stays. UnsupportedError: this SQLite was built
        without FTS5.
        """
        with Caught() as caught:
            context, added = ffi.new_handle((caught, progress, None)), ffi.new("int64_t *")
            options = _ffi.struct(
                "ses_index_options",
                flags=(lib.SES_INDEX_REBUILD if rebuild else 0) | (lib.SES_INDEX_DROP if drop else 0),
                progress=lib.ses_py_progress if progress else NULL,
                progress_context=context,
            )
            self._run(lib.ses_store_index, options, added)
        return added[0]
