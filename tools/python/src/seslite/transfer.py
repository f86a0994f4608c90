"""In and out: a session as it was, and JSON lines of a store, an app, a user or a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, Any, NamedTuple

from . import _ffi, errors
from ._ffi import NULL, JsonIn, ffi, lib
from .upkeep import Caught
from .values import Imported, Key, KeyLike, Labels, Loaded, key_of, labels_in

OUTCOMES = {
    lib.SES_LOADED_NEW: "new",
    lib.SES_LOADED_EQUAL: "equal",
    lib.SES_LOADED_UPDATED: "updated",
    lib.SES_LOADED_REPLACED: "replaced",
    lib.SES_LOADED_RENAMED: "renamed",
    lib.SES_IMPORTED_REFUSED: "refused",
    lib.SES_IMPORTED_KEY_KEPT: "key kept",
    lib.SES_IMPORTED_KEY_REPLACED: "key replaced",
}
FAILED = lib.SES_MISUSE  # what a callback returns that raised; its own exception is what the caller gets


class LoadedEvent(NamedTuple):
    """An event of a session that is loaded."""

    json: JsonIn
    seq: int = 0
    updated_us: int | None = None


class BaseValue(NamedTuple):
    """A key of the state at the base of a log, which pruned events had led to."""

    name: str
    json: JsonIn
    seq: int


@ffi.def_extern(error=FAILED)
def ses_py_next(context: Any, made: Any, _error: Any) -> int:
    caught, events, keep = ffi.from_handle(context)

    def give() -> int:
        event = next(events, None)
        if event is None:
            return 0
        event = event if isinstance(event, LoadedEvent) else LoadedEvent(event)
        keep.clear()  # what the event before needed
        made.json, made.json_len = _ffi.json_member(event.json, "an event", keep)
        made.seq, made.updated_us = event.seq, _ffi.int64(event.updated_us, keep)
        return 1

    code = caught.run(give)
    return FAILED if code is None else code


@ffi.def_extern(error=FAILED)
def ses_py_write(context: Any, data: Any, length: int, _error: Any) -> int:
    caught, write, _ = ffi.from_handle(context)
    caught.run(lambda: write(ffi.unpack(data, length)))
    return FAILED if caught.error else 0


@ffi.def_extern(error=FAILED)
def ses_py_read(context: Any, buffer: Any, capacity: int, length: Any, _error: Any) -> int:
    caught, read, _ = ffi.from_handle(context)

    count = caught.run(lambda: _ffi.fill(buffer, capacity, read))
    if count is None:
        return FAILED
    length[0] = count
    return 0


@ffi.def_extern(error=1)
def ses_py_exported(context: Any, sessions: int, events: int) -> int:
    caught, _, progress = ffi.from_handle(context)
    caught.run(lambda: progress(sessions, events))
    return 1 if caught.error else 0


@ffi.def_extern(error=1)
def ses_py_left_out(context: Any, why: Any) -> int:
    caught, left_out = ffi.from_handle(context)
    caught.run(lambda: left_out(_ffi.error_of(why.code, why)))
    return 1 if caught.error else 0


@ffi.def_extern()
def ses_py_imported(context: Any, item: Any) -> int:
    caught, _, report = ffi.from_handle(context)
    caught.run(lambda: report(_imported_of(item)))
    return 1 if caught.error else 0


def _imported_of(item: Any) -> Imported:
    return Imported(
        _ffi.required(item.app),
        _ffi.string(item.user),
        _ffi.string(item.session),
        _ffi.string(item.loaded_as),
        _ffi.string(item.key),
        OUTCOMES.get(item.outcome, str(item.outcome)),
        item.events,
        item.line,
        None if item.error == NULL else _ffi.error_of(item.error.code, item.error),
        _ffi.string(item.artifact),
    )


def _load_flags(update: bool, replace: bool, rename: bool, dry_run: bool) -> int:
    """Those of ses_load and of ses_store_import are the same."""
    return (
        (lib.SES_LOAD_UPDATE if update else 0)
        | (lib.SES_LOAD_REPLACE if replace else 0)
        | (lib.SES_LOAD_RENAME if rename else 0)
        | (lib.SES_LOAD_DRY_RUN if dry_run else 0)
    )


class Transfer:
    """Part of Store."""

    _by_key: Any
    _run: Any

    def load(
        self,
        key: KeyLike,
        events: Iterable[LoadedEvent | JsonIn] = (),
        *,
        initial_state: JsonIn = None,
        state: JsonIn = None,
        created_us: int | None = None,
        updated_us: int | None = None,
        expires_us: int | None = None,
        version: int | None = None,
        last_seq: int = 0,
        title: str | None = None,
        labels: Labels | None = None,
        parent: tuple[Key, int] | None = None,
        base_seq: int = 0,
        base: Iterable[BaseValue] = (),
        origin: int = 0,
        archived_us: int | None = None,
        remembered_seq: int = 0,
        child_of: Key | None = None,
        is_memory: bool = False,
        update: bool = False,
        follow: bool = False,
        replace: bool = False,
        rename: bool = False,
        dry_run: bool = False,
    ) -> Loaded:
        """Stores a session as it was, in one transaction. Events are asked for one by one.

        `update`: if a session of that name exists and is the beginning of it, it gets the events that it
        lacks. With `follow` its title, labels, archive and expiry time become those that are given, too.
        `origin` is a number that the session has in common with its forks.
        """
        keep: list[Any] = []
        loaded = _ffi.struct(
            "ses_loaded",
            created_us=_ffi.int64(created_us, keep),
            updated_us=_ffi.int64(updated_us, keep),
            expires_us=_ffi.int64(expires_us, keep),
            version=_ffi.int64(version, keep),
            last_seq=last_seq,
            title=_ffi.c_text(title, "the title", keep),
            base_seq=base_seq,
            origin=origin,
            archived_us=_ffi.int64(archived_us, keep),
            remembered_seq=remembered_seq,
            child_of=None if child_of is None else child_of.c,
            kind=lib.SES_KIND_MEMORY if is_memory else 0,
        )
        loaded.initial_state, loaded.initial_state_len = _ffi.json_member(
            initial_state, "the initial state", keep
        )
        loaded.state, loaded.state_len = _ffi.json_member(state, "the state", keep)
        loaded.labels, loaded.label_count = labels_in(labels, keep)
        if parent is not None:
            loaded.parent, loaded.parent_seq = parent[0].c, parent[1]
        values = [
            (
                _ffi.c_text(each.name, "a state key", keep),
                *_ffi.json_member(each.json, "a value", keep),
                each.seq,
            )
            for each in base
        ]
        if values:
            array = ffi.new("ses_loaded_value[]", values)
            keep.append(array)
            loaded.base, loaded.base_count = array, len(values)
        flags = _load_flags(update, replace, rename, dry_run) | (lib.SES_LOAD_FOLLOW if follow else 0)
        options = _ffi.struct("ses_load_options", flags=flags)
        result = ffi.new("ses_load_result *")
        with Caught() as caught:
            context = ffi.new_handle((caught, iter(events), []))
            loaded.next, loaded.next_context = lib.ses_py_next, context
            self._by_key(key)(lib.ses_load, loaded, options, result)
        return Loaded(OUTCOMES[result.outcome], result.events, result.version, _ffi.required(result.session))

    def load_json(
        self,
        json: JsonIn,
        key: KeyLike | None = None,
        *,
        shared: bool = False,
        update: bool = False,
        follow: bool = False,
        replace: bool = False,
        rename: bool = False,
        dry_run: bool = False,
    ) -> Loaded:
        """Loads the JSON of a session, as the ADKs and Session.json write it; its ids, or those of the key.
        See load."""
        flags = (
            _load_flags(update, replace, rename, dry_run)
            | (lib.SES_LOAD_SHARED if shared else 0)
            | (lib.SES_LOAD_FOLLOW if follow else 0)
        )
        options = _ffi.struct("ses_load_options", flags=flags)
        result = ffi.new("ses_load_result *")
        named = None if key is None else key_of(key)
        text, length = _ffi.json_in(json, "the session")
        self._run(
            lib.ses_load_json, NULL if named is None else named.c, text, length, options, result, key=named
        )
        return Loaded(OUTCOMES[result.outcome], result.events, result.version, _ffi.required(result.session))

    def export(
        self,
        out: IO[bytes] | Callable[[bytes], Any],
        *,
        app: str | None = None,
        user: str | None = None,
        session: str | None = None,
        only_sessions: bool = False,
        skip: bool = False,
        progress: Callable[[int, int], Any] | None = None,
        left_out: Callable[[errors.Error], Any] | None = None,
    ) -> None:
        """Writes JSON lines to a file or a function, in constant memory and as of one moment.

        `left_out` is given an UnsupportedError for each version of an artifact that a later version of
        seslite has made, which the lines do not have. With `skip`, which needs `left_out`, the export goes on
        after damage, and `left_out` is also given a CorruptError for each part that the lines do not have.
        """
        keep: list[Any] = []
        write = out if callable(out) else out.write
        with Caught() as caught:
            context = ffi.new_handle((caught, write, progress))
            teller = ffi.new_handle((caught, left_out))
            options = _ffi.struct(
                "ses_export_options",
                flags=(lib.SES_EXPORT_ONLY_SESSIONS if only_sessions else 0)
                | (lib.SES_EXPORT_SKIP if skip else 0),
                app=_ffi.c_text(app, "the app", keep),
                user=_ffi.c_text(user, "the user", keep),
                session=_ffi.c_text(session, "the session's id", keep),
                progress=lib.ses_py_exported if progress else NULL,
                progress_context=context,
                left_out=lib.ses_py_left_out if left_out else NULL,
                left_out_context=teller,
            )
            self._run(lib.ses_store_export, options, lib.ses_py_write, context)

    def import_lines(
        self,
        source: IO[bytes] | Callable[[int], bytes],
        *,
        app: str | None = None,
        user: str | None = None,
        update: bool = False,
        replace: bool = False,
        rename: bool = False,
        dry_run: bool = False,
        skip: bool = False,
        replace_keys: bool = False,
        report: Callable[[Imported], Any] | None = None,
    ) -> dict[str, int]:
        """Reads JSON lines of a file, or of a function that is given a size. Returns counts: the members of
        ses_import_report. `update` is that of load with `follow`."""
        keep: list[Any] = []
        read = source if callable(source) else source.read
        counts = _ffi.struct("ses_import_report")
        with Caught() as caught:
            context = ffi.new_handle((caught, read, report))
            options = _ffi.struct(
                "ses_import_options",
                flags=_load_flags(update, replace, rename, dry_run)
                | (lib.SES_IMPORT_SKIP if skip else 0)
                | (lib.SES_IMPORT_REPLACE_KEYS if replace_keys else 0),
                app=_ffi.c_text(app, "the app", keep),
                user=_ffi.c_text(user, "the user", keep),
                report=lib.ses_py_imported if report else NULL,
                report_context=context,
            )
            self._run(lib.ses_store_import, lib.ses_py_read, context, options, counts)
        return {
            name: getattr(counts, name)
            for name, _ in ffi.typeof("ses_import_report").fields
            if name != "size"
        }
