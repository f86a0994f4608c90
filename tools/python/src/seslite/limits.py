"""Limits of calls: how long each may take, and who may end it."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

from . import _ffi, errors
from ._ffi import ffi, lib

if TYPE_CHECKING:
    from .store import Store


def milliseconds(timeout: float | None) -> int:
    """A timeout as options have it: 0 stands for None, and a negative one for no limit."""
    if timeout is None:
        return 0
    if not isinstance(timeout, (int, float)) or not timeout > 0:
        raise errors.InvalidError(f"timeout is a number of seconds above 0, or None, not {timeout!r}")
    return -1 if timeout * 1000 >= 2**63 else math.ceil(timeout * 1000)


class Limits(_ffi.Unique):
    """Limits of the calls that are made within its `with` block, by the thread or the asyncio task that
    entered it, on any store. Store.limits makes one. Any number of threads and tasks may enter the same one,
    at the same time too.

    A call takes at most `timeout` seconds. After that, or once any thread calls cancel(), it ends within some
    milliseconds, and nothing has changed: with BusyError if its time was over while it waited for others,
    otherwise with CallInterruptedError. A commit that has begun is waited for, so that the result of a call
    is always true. A cursor or a follower that is opened within keeps the limits for each of its calls.

    A block that is made within another has the outer timeout, unless it gives its own, and ends with the
    outer cancel().
    """

    __slots__ = ("_pointer", "_timeout_ms", "_cancelled", "_inner", "__weakref__")
    _what = "limits"

    def __init__(self, store: Store, timeout: float | None = None, *, shield: bool = False) -> None:
        self._timeout_ms = milliseconds(timeout)
        made = ffi.new("ses_cancel **")
        store._run(lib.ses_cancel_open, made)
        self._pointer = ffi.gc(made[0], lib.ses_cancel_close)
        self._cancelled = False
        self._inner: dict[weakref.ref[Limits], None] = {}
        outer = None if shield else _ffi.limits()
        if outer is not None:
            self._timeout_ms = self._timeout_ms or outer._timeout_ms
            outer._add(self)

    def _add(self, made: Limits) -> None:
        """Dictionaries change and are copied in one step, so that no lock is needed, which a signal handler
        could not take."""
        inner = self._inner
        inner[weakref.ref(made, lambda gone: inner.pop(gone, None))] = None
        if self._cancelled:
            made.cancel()

    def _made_within(self) -> list[Limits]:
        return [made for each in list(self._inner) if (made := each()) is not None]

    @property
    def cancelled(self) -> bool:
        """Whether cancel() was called, and no reset() after it."""
        return self._cancelled

    def cancel(self) -> None:
        """Ends the calls that have these limits: those under way, and those that begin before reset(). Any
        thread may call it. (Python runs signal handlers between the calls of its main thread, so a handler
        ends those of the other threads.)"""
        self._cancelled = True
        lib.ses_cancel_pull(self._pointer)
        for made in self._made_within():
            made.cancel()

    def reset(self) -> None:
        """Lets calls begin again. One that has not noticed cancel() yet goes on."""
        self._cancelled = False
        lib.ses_cancel_reset(self._pointer)
        for made in self._made_within():
            made.reset()

    def __enter__(self) -> Limits:
        _ffi.entered.set((self, *_ffi.entered.get()))
        return self

    def __exit__(self, *_: object) -> None:
        entered: list[Any] = list(_ffi.entered.get())
        if self in entered:  # a generator that is dropped ends elsewhere
            entered.remove(self)
            _ffi.entered.set(tuple(entered))
