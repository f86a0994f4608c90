"""Python's own SQLite beside the one that the store uses."""

from __future__ import annotations

import sys
import warnings

from ._ffi import NULL, lib


class TwoSqlitesWarning(RuntimeWarning):
    """Python's module sqlite3 has another copy of SQLite than seslite. Each copy cancels the other's locks on a file, since
    POSIX drops a process's locks when any descriptor of the file is closed."""


def warn_of_two(path: str) -> None:
    """To be called when a file is opened. A module that is loaded later is not looked at."""
    module = sys.modules.get("_sqlite3")
    if module is None or path == ":memory:":
        return
    file = getattr(module, "__file__", None)  # None: it is within the interpreter
    if not lib.ses_py_same_sqlite(NULL if file is None else file.encode()):
        warnings.warn(
            f"Python's sqlite3 has a copy of SQLite of its own. Do not open {path!r} with it in this process: the two cancel "
            "each other's locks, and the file can be damaged",
            TwoSqlitesWarning,
            stacklevel=3,
        )
