"""The end of a process of the ADK's command line."""

from __future__ import annotations

import signal
import threading
import weakref
from typing import Any

from .. import Store, errors

_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def close_at_sigterm(store: Store) -> None:
    """A server of the ADK's command line does not come to Python's own end by SIGTERM: uvicorn ends in order
    and then raises the signal once more, whose default action ends the process. Nothing else of the ADK
    closes a session service."""
    _stores.add(store)
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    ):
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, _frame: Any) -> None:
    try:
        for store in list(_stores):
            store.close()
    except (
        errors.MisuseError
    ):  # this thread is within a call: the end of the process closes the store after it
        raise SystemExit(128 + number) from None
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
