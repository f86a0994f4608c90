"""Facts about a store, and its upkeep: backup, check, maintenance."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _ffi, errors
from ._ffi import NULL, ffi, lib
from .values import Info, Problem

LEVELS = {"quick": lib.SES_CHECK_QUICK, "full": lib.SES_CHECK_FULL, "log": lib.SES_CHECK_LOG}
Progress = Callable[[int, int], Any]


class Caught:
    """Keeps an exception of a callback until the call that made it has returned, which then raises it."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def run(self, function: Callable[[], Any]) -> Any:
        """The function's result; None if it raised."""
        try:
            return function()
        except BaseException as error:
            self.error = error
            return None

    def __enter__(self) -> Caught:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if self.error is not None:
            raise self.error from None


@ffi.def_extern(error=1)
def ses_py_progress(context: Any, done: int, total: int) -> int:
    caught, progress, _ = ffi.from_handle(context)
    caught.run(lambda: progress(done, total))
    return 1 if caught.error else 0


def _clean(text: Any) -> str | None:
    """A text of a damaged file, which may be no UTF-8."""
    return None if text == NULL else ffi.string(text).decode("utf-8", "replace")


@ffi.def_extern(error=1)
def ses_py_problem(context: Any, problem: Any) -> int:
    caught, _, found = ffi.from_handle(context)

    def add() -> None:
        app, user, session = (_clean(text) for text in (problem.app, problem.user, problem.session))
        found.append(
            Problem(
                _ffi.required(lib.ses_problem_name(problem.kind)),
                app,
                user,
                session,
                problem.seq,
                _clean(problem.message) or "",
            )
        )

    caught.run(add)
    return 1 if caught.error else 0


class Upkeep:
    """Part of Store."""

    _run: Any

    def info(self) -> Info:
        """The store's engine, path, versions and journal."""
        info = _ffi.struct("ses_info")
        self._run(lib.ses_store_info, info)
        return Info(
            _ffi.required(info.engine),
            _ffi.required(info.path),
            info.schema_version,
            bool(info.read_only),
            *(
                _ffi.string(text) or ""
                for text in (
                    info.sqlite.journal_mode,
                    info.sqlite.journal_reason,
                    info.sqlite.version,
                    info.sqlite.bugs,
                )
            ),
        )

    def stats(self) -> dict[str, int]:
        """What the store has done since it was opened, and its size now: the members of ses_stats."""
        stats = _ffi.struct("ses_stats")
        self._run(lib.ses_store_stats, stats)
        found = {
            name: getattr(stats, name)
            for name, _ in ffi.typeof("ses_stats").fields
            if name not in ("size", "sqlite")
        }
        found.update(
            {
                name: getattr(stats.sqlite, name)
                for name, _ in ffi.typeof(stats.sqlite).fields
                if name != "reserved"
            }
        )
        return found

    def space(self) -> tuple[int, int]:
        """The bytes of the stored data, and how many of them are free."""
        space = _ffi.struct("ses_space")
        self._run(lib.ses_store_space, _ffi.plain(), space)
        return space.bytes, space.free_bytes

    def maintain(self, *, limit: int = 0) -> bool:
        """Gives free pages back and empties the write-ahead log. True: there is more to do; call again."""
        return (
            self._run(lib.ses_store_maintain, _ffi.struct("ses_maintain_options", limit=limit))
            == lib.SES_MORE
        )

    def backup(
        self,
        path: str | os.PathLike[str],
        *,
        replace: bool = False,
        compact: bool = False,
        progress: Progress | None = None,
        key: bytes | None = None,
        plain: bool = False,
    ) -> None:
        """Copies the whole store into a file, while others may use it. `progress` gets the pages done and the
        total.

        The copy has the key of the store, or `key`; with `plain` it has none.
        """
        with Caught() as caught:
            context = ffi.new_handle((caught, progress, None))
            options = _ffi.struct(
                "ses_backup_options",
                flags=(lib.SES_BACKUP_REPLACE if replace else 0)
                | (lib.SES_BACKUP_COMPACT if compact else 0)
                | (lib.SES_BACKUP_PLAIN if plain else 0),
                progress=lib.ses_py_progress if progress else NULL,
                progress_context=context,
            )
            with _ffi.with_key(options, key):
                self._run(lib.ses_store_backup, _ffi.encode(os.fspath(path), "the path"), options)

    def check(self, level: str = "log", *, limit: int = 0, progress: Progress | None = None) -> list[Problem]:
        """Checks the store and changes nothing. `level` is "quick", "full" or "log"."""
        if level not in LEVELS:
            raise errors.InvalidError(f"level is one of {', '.join(LEVELS)}, not {level!r}")
        found: list[Problem] = []
        with Caught() as caught:
            context = ffi.new_handle((caught, progress, found))
            options = _ffi.struct(
                "ses_check_options",
                level=LEVELS[level],
                limit=limit,
                report=lib.ses_py_problem,
                report_context=context,
                progress=lib.ses_py_progress if progress else NULL,
                progress_context=context,
            )
            self._run(lib.ses_store_check, options, ffi.new("int64_t *"))
        return found
