"""Following: a session's events, or those of all sessions of a user, an app or the store, as they are appended."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from . import _ffi, errors
from ._ffi import ffi, lib
from .values import Event, Key, event_of

if TYPE_CHECKING:
    from .store import Store

SLICE_MS = 200  # a call that waits gives way to signals (control-C) as often


class ResetError(errors.Error):
    """Events that were not given yet, or had been given, are gone: read the session again. The follower goes
    on."""

    code, name = lib.SES_RESET, "SES_RESET"

    def __init__(self, message: str, *, session: str | None = None) -> None:
        super().__init__(message)
        self.session = session


def _reset(session: str | None) -> ResetError:
    what = "sessions that were followed" if session is None else f"the session {session!r}"
    return ResetError(f"events of {what} were cut, pruned or deleted: read them again", session=session)


class Follower(_ffi.Handle):
    """Gives events as they are appended, by this process or another. An iterator that waits."""

    __slots__ = ("_is_wide", "_store", "_woken", "_waking")
    _what = "follower"

    def __init__(
        self,
        store: Store,
        key: Key | None,
        *,
        app: str | None = None,
        new: bool,
        after_seq: int | None,
        place: str | None,
        notify_fd: int = -1,
    ) -> None:
        self._is_wide = key is None
        self._store = store
        self._woken = False
        self._waking = (
            threading.Lock()
        )  # wake() comes from any thread, so close() must not free the follower under it
        keep: list[Any] = []
        options = _ffi.struct(
            "ses_follow_options",
            flags=lib.SES_FOLLOW_NEW if new else 0,
            after_seq=after_seq,
            place=_ffi.c_text(place, "the place", keep),
        )
        if notify_fd >= 0:
            options.notify = lib.ses_py_notify
            options.notify_context = ffi.cast("void *", notify_fd)
        made = ffi.new("ses_follower **")
        if key is None:  # all sessions of the app, or of the store
            whose = ffi.new("ses_key *", [_ffi.c_text(app, "the app", keep), ffi.NULL, ffi.NULL])
            store._run(lib.ses_follower_open, whose, options, made)
        else:
            store._run_key(key, lib.ses_follower_open, options, made)
        super().__init__(made[0], _ffi.limited(lib.ses_follower_close))

    def next(self, timeout: float | None = None) -> Event | None:
        """The next event; waits that many seconds for it, or forever if None. Returns None when the time has
        passed, or wake() was called. Raises ResetError when events are gone."""
        end = None if timeout is None else time.monotonic() + timeout
        event = ffi.new("const ses_event **")
        while True:
            left = (
                SLICE_MS
                if end is None
                else max(0, min(SLICE_MS, int((end - time.monotonic()) * 1000 + 0.999)))
            )
            with self._guard:
                code = _ffi.call(lib.ses_follower_next, self._live(), left, event)
                if code == lib.SES_ROW:
                    return event_of(event[0])
                if code == lib.SES_RESET:
                    raise _reset(_ffi.string(lib.ses_follower_session(self._live())))
            if self._woken or (end is not None and time.monotonic() >= end):
                self._woken = False
                return None

    def __iter__(self) -> Follower:
        return self

    def __next__(self) -> Event:
        """Waits for the next event. Ends when wake() is called."""
        event = self.next()
        if event is None:
            raise StopIteration
        return event

    @property
    def session(self) -> str | None:
        """The session of the event that was given last."""
        with self._guard:
            return _ffi.string(lib.ses_follower_session(self._live()))

    @property
    def key(self) -> Key | None:
        """The names of the session of the event that was given last."""
        with self._guard:
            key = lib.ses_follower_key(self._live())
            names = [_ffi.string(name) for name in (key.app, key.user, key.session)]
        return None if None in names else Key(*names)  # type: ignore[arg-type]

    @property
    def place(self) -> str:
        """The place after the event that was given last, to go on from in any process. MisuseError if an app or
        the store is followed, of which there is none."""
        if self._is_wide:
            raise errors.MisuseError("a follower of an app or the store has no place")
        with self._guard:
            place = _ffi.string(lib.ses_follower_place(self._live()))
        if place is None:
            raise MemoryError("out of memory")
        return place

    def wake(self) -> None:
        """Makes the current or the next call of next() return None. Any thread may call it."""
        _ffi.check_process(self._guard._pid)
        with self._waking:
            if self._pointer is not None:
                self._woken = True
                lib.ses_follower_wake(self._pointer)

    def close(self) -> None:
        """Ends the following, once no other thread is in wake()."""
        if self._guard._pid == _ffi.process():
            with self._waking:
                super().close()
