"""What sessions and savers for other frameworks share: stores by their names, and calls in threads."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from . import _ffi
from ._threads import to_its_end
from .store import SERVERS, Store, StoreOptions

T = TypeVar("T")

# ----------------------------------------------------------------------------------------------------- stores


class _Shared:
    """A store that the sessions of a process share which name the same file. It is closed with the last of
    them.

    A user may end as garbage, anywhere in a thread, also while that thread has the lock. So ends are queued,
    and whoever has the lock, or gets it, works them off."""

    _by_name: dict[Any, _Shared] = {}
    _ended: deque[_Shared] = deque()
    _lock = threading.Lock()

    def __init__(self, name: Any, store: Store) -> None:
        self.name, self.store, self.users = name, store, 0

    @classmethod
    def open(cls, path: str | os.PathLike[str], options: StoreOptions) -> _Shared:
        text = os.fspath(path)
        if text == ":memory:":
            return cls(None, Store(text, **options))
        place = text if text.startswith(SERVERS) else os.path.realpath(text)
        name = (_ffi.process(), place, *sorted((key, str(value)) for key, value in options.items()))
        try:
            with cls._lock:
                shared = cls._by_name.get(name)
                if shared is None:
                    shared = cls._by_name[name] = cls(name, Store(text, **options))
                shared.users += 1
                return shared
        finally:
            cls._end_users()

    def close(self) -> None:
        self._ended.append(self)
        self._end_users()

    @classmethod
    def _end_users(cls) -> None:
        """Does what is queued, unless another who has the lock will do it."""
        while cls._ended and cls._lock.acquire(blocking=False):
            unused = []
            try:
                while cls._ended:
                    shared = cls._ended.popleft()
                    shared.users -= 1
                    if shared.users <= 0:
                        cls._by_name.pop(shared.name, None)
                        unused.append(shared.store)
            finally:
                cls._lock.release()
            for store in unused:
                store.close()


class Opened:
    """The use of a store that is given, or that is opened by its name. It ends with close(), or with the last
    that refers to it; a store that is given stays open."""

    def __init__(self, store: str | os.PathLike[str] | Store, options: StoreOptions) -> None:
        self.close: Callable[[], Any] = lambda: None
        if not isinstance(store, Store):
            shared = _Shared.open(store, options)
            self.store = shared.store
            self.close = weakref.finalize(self, shared.close)
        elif options:
            raise TypeError(f"the store is open, so it takes no {', '.join(options)}")
        else:
            self.store = store


# ---------------------------------------------------------------------------------------------------- threads


def read_in_thread(store: Store, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
    """As asyncio.to_thread, in a thread of the store and without a coroutine in between."""
    return asyncio.wrap_future(store._threads.readers.submit(function, *arguments))


def write_in_thread(store: Store, function: Callable[..., T], *arguments: Any) -> Coroutine[Any, Any, T]:
    """The same for a call that writes. It ends before a task that is cancelled does."""
    return to_its_end(asyncio.wrap_future(store._threads.writers.submit(function, *arguments)))
