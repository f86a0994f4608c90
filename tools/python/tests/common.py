"""The session that most tests use, and events for it."""

import ctypes

import seslite
from seslite import _seslite

# As wheels do. The system's would be found through the extension, which is linked with it.
HAS_OWN_SQLITE = not hasattr(ctypes.CDLL(_seslite.__file__), "sqlite3_libversion")

KEY = seslite.Key("app", "user", "s")


def event(delta=None, invocation="i1", **fields):
    return {"author": "user", "invocationId": invocation, **fields, "actions": {"stateDelta": delta or {}}}
