"""The calls of a store on state: of a session without a handle, and of an app or a user."""

from __future__ import annotations

from typing import Any

from . import _ffi
from ._ffi import NULL, JsonIn, lib
from .values import KeyLike, key_of


class State:
    """Part of Store."""

    _owned: Any
    _run: Any

    def state_json(self, key: KeyLike) -> bytes:
        """The merged state as it is stored."""
        named = key_of(key)
        return self._owned(lib.ses_state_json_by_key, named.c, _ffi.plain(), key=named) or b""

    def state_get(self, key: KeyLike, name: str) -> bytes | None:
        """One value as JSON text, or None if there is no such key."""
        named = key_of(key)
        return self._owned(
            lib.ses_state_get_by_key, named.c, _ffi.encode(name, "the state key"), _ffi.plain(), key=named
        )

    def shared_state_json(self, app: str, user: str | None = None) -> bytes:
        """The state of an app, or of a user in it. Keys have no prefix."""
        return self._owned(lib.ses_shared_state_json, *self._owner(app, user), _ffi.plain()) or b"{}"

    def shared_state_get(self, app: str, user: str | None, name: str) -> bytes | None:
        """One value of an app, or of a user in it, as JSON text, or None if there is no such key."""
        return self._owned(
            lib.ses_shared_state_get,
            *self._owner(app, user),
            _ffi.encode(name, "the state key"),
            _ffi.plain(),
        )

    def shared_state_change(
        self, app: str, user: str | None, delta: JsonIn, *, expected: JsonIn = None
    ) -> None:
        """Changes shared state. A value of "__ADK_SENTINEL_REMOVED__" removes its key."""
        keep: list[Any] = []
        text, length = _ffi.json_member(expected, "expected", keep)
        options = _ffi.struct("ses_shared_state_options", expected=text, expected_len=length)
        self._run(
            lib.ses_shared_state_change, *self._owner(app, user), *_ffi.json_in(delta, "the delta"), options
        )

    def _owner(self, app: str, user: str | None) -> tuple[Any, Any]:
        return _ffi.encode(app, "the app"), NULL if user is None else _ffi.encode(user, "the user")
