"""Erasing what must not be kept from events that stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypedDict

from . import _ffi, errors
from ._ffi import NULL, JsonIn, ffi, lib
from .upkeep import Caught
from .values import Erased, erased_of


class RedactOptions(TypedDict, total=False):
    """How to redact.

    `state`: also the values that the events have set. `names`: with `state` and `find`, and of all events:
    also removes state keys, the title and labels in whose names something is found. `forks`: also copies of
    the events in other sessions of the app. `secure`: nothing of it remains in the file. `dry_run`: only
    counts. `text`: in place of a text; default "[redacted]". `content`: in place of the content of one event.
    `find`: only what it finds is replaced, a text or a compiled pattern. `version` and `anyway`: as for
    Store.cut; a handle has its own version.
    """

    state: bool
    names: bool
    forks: bool
    secure: bool
    dry_run: bool
    text: str | None
    content: JsonIn
    find: str | re.Pattern[str] | None
    version: int | None
    anyway: bool


@ffi.def_extern(error=lib.SES_INTERNAL)
def ses_py_find(context: Any, text: Any, length: int, start: int, begin: Any, end: Any, _error: Any) -> int:
    caught, pattern = ffi.from_handle(context)
    found = caught.run(lambda: _find(pattern, ffi.unpack(text, length), start))
    if found is None:
        return lib.SES_INTERNAL
    begin[0], end[0] = found
    return int(found[1] > 0)


def _find(pattern: re.Pattern[str], text: bytes, start: int) -> tuple[int, int]:
    """The next match that is not empty, in bytes; (0, 0) if there is none."""
    whole = text.decode("utf-8", "surrogateescape")
    for match in pattern.finditer(whole, len(text[:start].decode("utf-8", "surrogateescape"))):
        if match.end() > match.start():
            first = len(whole[: match.start()].encode("utf-8", "surrogateescape"))
            return first, first + len(match[0].encode("utf-8", "surrogateescape"))
    return 0, 0


def _context_of(caught: Caught, pattern: re.Pattern[str]) -> Any:
    """What ses_py_find gets. It must live as long as the call."""
    return ffi.new_handle((caught, pattern))


def redact(
    run: Callable[..., int],
    function: Any,
    seqs: Iterable[int] | None,
    *,
    state: bool = False,
    names: bool = False,
    forks: bool = False,
    secure: bool = False,
    dry_run: bool = False,
    text: str | None = None,
    content: JsonIn = None,
    find: str | re.Pattern[str] | None = None,
    version: int | None = None,
    anyway: bool = False,
) -> Erased:
    keep: list[Any] = []
    content_text, content_len = _ffi.json_member(content, "content", keep)
    options: Any = _ffi.struct(
        "ses_redact_options",
        flags=(lib.SES_REDACT_STATE if state else 0)
        | (lib.SES_REDACT_NAMES if names else 0)
        | (lib.SES_REDACT_FORKS if forks else 0)
        | (lib.SES_REDACT_DRY_RUN if dry_run else 0)
        | (lib.SES_SECURE if secure else 0)
        | (lib.SES_ANYWAY if anyway else 0)
        | (lib.SES_AT_VERSION if version is not None else 0),
        version=version,
        text=_ffi.c_text(text, "the text", keep),
        content=content_text,
        content_len=content_len,
    )
    numbers = None if seqs is None else list(seqs)
    try:
        array: Any = NULL if numbers is None else ffi.new("int64_t[]", numbers)
    except (OverflowError, TypeError) as error:
        raise errors.InvalidError(f"seqs: {error}") from None
    erased: Any = _ffi.struct("ses_erased")
    with Caught() as caught:
        context: Any = NULL
        if find is not None:
            context = _context_of(caught, re.compile(re.escape(find)) if isinstance(find, str) else find)
            options.find, options.find_context = lib.ses_py_find, context
        code = run(function, array, 0 if numbers is None else len(numbers), options, erased)
    return erased_of(erased, code == lib.SES_MORE)


# ---------------------------------------------------------------------------------------------------- finding

FOUND = {
    lib.SES_FOUND_ID: "id",
    lib.SES_FOUND_PARENT: "parent",
    lib.SES_FOUND_TITLE: "title",
    lib.SES_FOUND_LABEL: "label",
    lib.SES_FOUND_KEY: "key",
    lib.SES_FOUND_VALUE: "value",
    lib.SES_FOUND_INITIAL: "initial",
    lib.SES_FOUND_BASE: "base",
    lib.SES_FOUND_EVENT: "event",
    lib.SES_FOUND_ARTIFACT: "artifact",
    lib.SES_FOUND_BYTES: "bytes",
    lib.SES_FOUND_DRAFT: "draft",
    lib.SES_FOUND_INPUT: "input",
}
PAGE_MAX = 10_000


class Finding(NamedTuple):
    """A place in which Store.find found something."""

    kind: str
    """id, parent, title, label, key, value, initial, base, event, artifact or bytes: see ses_found of the
    header."""
    app: str
    user: str | None
    """None: it belongs to the app."""
    session: str | None
    """None: it belongs to the app or the user."""
    name: str | None
    """Of the key, the label or the artifact."""
    seq: int | None
    """Of the event."""
    version: int | None
    """Of the artifact."""
    text: str | None
    """What is around the first piece that was found there. None: it is no text."""
    text_found: int = 0
    """The character of the text at which the piece begins."""


def _finding_of(found: Any) -> Finding:
    """A copy of a borrowed finding."""
    text, at = None, 0
    if found.text != NULL:
        around = ffi.unpack(found.text, found.text_len)
        text, at = around.decode(), len(around[: found.text_found].decode())
    return Finding(
        FOUND.get(found.kind, "other"),
        _ffi.required(found.app),
        _ffi.string(found.user),
        _ffi.string(found.session),
        _ffi.string(found.name),
        found.seq or None,
        None if found.version < 0 else found.version,
        text,
        at,
    )


class Find:
    """Part of Store."""

    _run: Any

    def find(
        self,
        wanted: str | re.Pattern[str],
        *,
        app: str | None = None,
        user: str | None = None,
        session: str | None = None,
        ignore_case: bool = False,
        limit: int | None = None,
    ) -> Iterator[Finding]:
        """Finds a text, or what a compiled pattern matches, wherever the store, an `app`, a `user` of it or a
        `session` has it: in ids, titles, labels, state and the names of its keys, events and artifacts. A
        request of somebody who asks for their data begins with it. `ignore_case` is about ASCII letters in a
        text. The findings are read page by page.
        """
        token: str | None = None
        while limit is None or limit > 0:
            page, token = self._find_page(wanted, (app, user, session), ignore_case, limit, token)
            yield from page if limit is None else page[:limit]
            limit = None if limit is None else limit - len(page)
            if token is None:
                return

    def _find_page(
        self,
        wanted: str | re.Pattern[str],
        names: tuple[str | None, str | None, str | None],
        ignore_case: bool,
        limit: int | None,
        token: str | None,
    ) -> tuple[list[Finding], str | None]:
        keep: list[Any] = []
        whats = ("the app", "the user", "the session's id")
        scope: Any = NULL
        if any(name is not None for name in names):
            scope = ffi.new(
                "ses_key *", [_ffi.c_text(name, what, keep) for name, what in zip(names, whats, strict=True)]
            )
        text, length = (NULL, 0)
        if isinstance(wanted, str):
            text = _ffi.text_in(wanted, "the text")
            length = len(text)
        options: Any = _ffi.struct(
            "ses_find_options",
            flags=lib.SES_FIND_IGNORE_CASE if ignore_case else 0,
            limit=0 if limit is None else min(limit, PAGE_MAX),
            token=_ffi.c_text(token, "the token", keep),
        )
        made = ffi.new("ses_findings **")
        with Caught() as caught:
            context: Any = NULL
            if not isinstance(wanted, str):
                context = _context_of(caught, wanted)
                options.find, options.find_context = lib.ses_py_find, context
            self._run(lib.ses_store_find, scope, text, length, options, made)
        findings = ffi.gc(made[0], lib.ses_findings_close)
        page = [
            _finding_of(lib.ses_findings_at(findings, at)) for at in range(lib.ses_findings_count(findings))
        ]
        return page, _ffi.string(lib.ses_findings_token(findings))
