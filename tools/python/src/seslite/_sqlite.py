"""Finds other copies of SQLite in the process than the one that stores use."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any
from urllib.parse import unquote, urlsplit

from ._ffi import NULL, ffi, lib

# Modules that bring, or may bring, a copy of SQLite. Python's own announces which file it connects to, the
# others do not.
OWN = "_sqlite3"
OTHERS = ("apsw", "pysqlite3._sqlite3", "sqlcipher3._sqlite3")

_files: dict[int, str] = {}  # those of the stores that are open
_hooked = False


class TwoSqlitesWarning(RuntimeWarning):
    """A module of Python has another copy of SQLite than seslite. Each copy cancels the other's locks on a
    file, since POSIX drops a process's locks when any descriptor of the file is closed."""


def version() -> str:
    """That of the SQLite that stores use."""
    return str(ffi.string(lib.sqlite3_libversion()).decode())


def is_held(path: str) -> bool:
    """To be asked before a file is opened: whether Python's own sqlite3 is another copy and may have the file
    open. A file that a store has open is none of its."""
    module = sys.modules.get(OWN)
    if (
        module is None
        or path == ":memory:"
        or _stored_at(path)
        or not _is_another(getattr(module, "__file__", None))
    ):
        return False
    try:
        found = os.stat(path)
        descriptors = [int(each) for each in os.listdir("/dev/fd")]
    except OSError:
        return False
    return any(_is_open_on(each, found) for each in descriptors)


def _is_open_on(descriptor: int, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), found)
    except OSError:  # closed in the meantime
        return False


def opened(store: object, path: str, held: bool) -> None:
    """To be called when a file is opened, with what is_held said before: warns of what is loaded now, and
    from then on of what is loaded or connects later."""
    global _hooked
    if path == ":memory:":
        return
    _files[id(store)] = path
    if not _hooked:  # a hook cannot be removed, so it is added only when a file is opened
        _hooked = True
        sys.addaudithook(_audit)
    if held:
        _warn(OWN, path, 4)
    for name in OTHERS:
        module = sys.modules.get(name)
        if module is not None and _is_another(getattr(module, "__file__", None)):
            _warn(name, path, 4)


def closed(store: object) -> None:
    _files.pop(id(store), None)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "sqlite3.connect":
        module = sys.modules.get(OWN)
        path = _stored_at(arguments[0]) if _files else None
        if path and module and _is_another(getattr(module, "__file__", None)):
            _warn(OWN, path, 3)
    elif (
        event == "import" and arguments[0] in OTHERS and arguments[1] and _files and _is_another(arguments[1])
    ):
        _warn(arguments[0], list(_files.values())[-1], 3)


def _stored_at(database: Any) -> str | None:
    """The path of the open store that a path or URI of another program leads to."""
    try:
        path = os.fsdecode(database)
        path = unquote(urlsplit(path).path) if path.startswith("file:") else path
        found = os.stat(path)
        return next((each for each in list(_files.values()) if os.path.samestat(os.stat(each), found)), None)
    except (OSError, TypeError, ValueError):
        return None


def _is_another(module: str | None) -> bool:
    """Whether the file of a module has a copy of its own. None if the module is built into the
    interpreter."""
    return not lib.ses_py_same_sqlite(NULL if module is None else os.fsencode(module))


def _warn(name: str, path: str, level: int) -> None:
    warnings.warn(
        f"Python's module {name.split('.')[0].lstrip('_')} has a copy of SQLite of its own. Do not open {path!r} with it in this "
        "process: the two cancel each other's locks, and the file can be damaged",
        TwoSqlitesWarning,
        stacklevel=level,
    )
