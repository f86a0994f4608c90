"""The calls of a store on leases: who has a session's turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _calls, _ffi
from ._ffi import lib
from .values import KeyLike, Lease


class Leases:
    """Part of Store."""

    _by_key: Any
    _state: Any
    limits: Any

    def lease_take(self, key: KeyLike, owner: str, *, duration_us: int = 0, wait_ms: int = 0) -> Lease:
        """Takes a session's turn for an owner; waits while another has it. `wait_ms` below 0: it does not
        wait."""
        waits, wait = self._state.waits, object()
        try:
            waits.add(wait)
            return _calls.lease(
                self._by_key(key), lib.ses_lease_take, _ffi.encode(owner, "the owner"), duration_us, wait_ms
            )
        finally:
            waits.discard(wait)

    def lease_renew(self, key: KeyLike, token: int, *, duration_us: int = 0) -> Lease:
        """Prolongs a lease from now on."""
        return _calls.lease(self._by_key(key), lib.ses_lease_renew, token, duration_us, 0)

    def lease_release(self, key: KeyLike, token: int) -> None:
        """Gives a session's turn back."""
        self._by_key(key)(lib.ses_lease_release, token, _ffi.plain())

    @contextmanager
    def lease(self, key: KeyLike, owner: str, *, duration_us: int = 0, wait_ms: int = 0) -> Iterator[Lease]:
        """Holds a session's turn for a `with` block."""
        taken = self.lease_take(key, owner, duration_us=duration_us, wait_ms=wait_ms)
        try:
            yield taken
        finally:
            with self.limits(shield=True):
                self.lease_release(key, taken.token)
