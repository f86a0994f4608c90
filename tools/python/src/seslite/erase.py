"""Erasing what must not be kept from events that stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypedDict

from . import _ffi, errors
from ._ffi import NULL, JsonIn, ffi, lib
from .upkeep import Caught
from .values import Erased, erased_of


class RedactOptions(TypedDict, total=False):
    """How to redact.

    `state`: also the values that the events have set. `forks`: also copies of the events in other sessions of the app.
    `secure`: nothing of it remains in the file. `dry_run`: only counts. `text`: in place of a text; default "[redacted]".
    `content`: in place of the content of one event. `find`: only what it finds is replaced, a text or a compiled pattern.
    `version` and `anyway`: as for Store.cut; a handle has its own version.
    """

    state: bool
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


def redact(
    run: Callable[..., int],
    function: Any,
    seqs: Iterable[int] | None,
    *,
    state: bool = False,
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
            context = ffi.new_handle((caught, re.compile(re.escape(find)) if isinstance(find, str) else find))
            options.find, options.find_context = lib.ses_py_find, context
        code = run(function, array, 0 if numbers is None else len(numbers), options, erased)
    return erased_of(erased, code == lib.SES_MORE)
