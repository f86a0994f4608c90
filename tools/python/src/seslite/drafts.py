"""The calls of a store on drafts: a text beside a session's log that is replaced in place."""

from __future__ import annotations

from typing import Any

from . import _ffi
from ._ffi import ffi, lib
from .values import Draft, KeyLike


class Drafts:
    """Part of Store."""

    _by_key: Any

    def draft_set(self, key: KeyLike, body: str, *, lease: int = 0) -> None:
        """Sets a session's draft in place of the one that it has, such as a message that a model is writing.
        `lease` is the token of a lease: LeasedError once another owner has taken it. An append with
        `takes_draft` removes the draft in its transaction."""
        encoded = _ffi.encode(body, "the draft")
        options = _ffi.struct("ses_draft_options", lease=lease)
        self._by_key(key)(lib.ses_draft_set, encoded, len(encoded), options)

    def draft_get(self, key: KeyLike) -> Draft | None:
        """A session's draft, or None if it has none."""
        body, length, updated = ffi.new("char **"), ffi.new("size_t *"), ffi.new("int64_t *")
        self._by_key(key)(lib.ses_draft_get, _ffi.plain(), body, length, updated)
        if body[0] == ffi.NULL:
            return None
        try:
            return Draft(ffi.unpack(body[0], length[0]).decode(), updated[0])
        finally:
            lib.ses_free(body[0])

    def draft_clear(self, key: KeyLike, *, lease: int = 0) -> bool:
        """Removes a session's draft, and says whether there was one."""
        options = _ffi.struct("ses_draft_options", lease=lease)
        return self._by_key(key)(lib.ses_draft_clear, options) != lib.SES_UNCHANGED
