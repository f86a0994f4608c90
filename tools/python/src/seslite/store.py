"""A store: the sessions in one file, or in a database on a server, for all threads of the process."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypedDict

from . import _calls, _ffi, _sqlite, errors
from ._ffi import NULL, JsonIn, ffi, lib
from ._threads import StoreThreads
from .artifacts import Artifacts, NewArtifact, OfStore
from .drafts import Drafts
from .erase import Find
from .follow import Follower
from .history import History
from .inbox import Inboxes
from .leases import Leases
from .limits import Limits, milliseconds
from .lists import Lists, Relative, relatives_of
from .memory import Memories
from .search import Search
from .session import Session
from .state import State
from .transfer import Transfer
from .upkeep import Upkeep
from .usage import ModelUsage
from .values import Appended, Deleted, Key, KeyLike, Labels, Range, Trace, erased_of, key_of, labels_in

SYNCHRONOUS = {"full": lib.SES_SYNC_FULL, "normal": lib.SES_SYNC_NORMAL}
JOURNALS = {"auto": lib.SES_JOURNAL_AUTO, "wal": lib.SES_JOURNAL_WAL, "rollback": lib.SES_JOURNAL_ROLLBACK}
CHECKPOINTS = {"auto": lib.SES_CHECKPOINT_AUTO, "external": lib.SES_CHECKPOINT_EXTERNAL}


@ffi.def_extern(error=0)
def ses_py_clock(context: Any) -> int:
    return int(ffi.from_handle(context)["clock"]())


@ffi.def_extern(error=1)
def ses_py_make_id(context: Any, buffer: Any, capacity: int) -> int:
    made = _ffi.encode(ffi.from_handle(context)["make_id"](), "the id that was made")
    if len(made) >= capacity:
        return 1
    ffi.memmove(buffer, made + b"\0", len(made) + 1)
    return 0


@ffi.def_extern()
def ses_py_trace(context: Any, trace: Any) -> None:
    """cffi gives an exception to sys.unraisablehook."""
    function, thread = ffi.from_handle(context)["trace"], threading.get_ident()
    try:
        _ffi.tracing.add(thread)
        waited, worked = trace.wait_us / 1e6, trace.work_us / 1e6
        function(
            Trace(_ffi.required(trace.call), trace.code, waited, worked, trace.bytes_in, trace.bytes_out)
        )
    finally:
        _ffi.tracing.discard(thread)


def _one_of(table: dict[str, int], value: str, what: str) -> int:
    if value not in table:
        raise errors.InvalidError(f"{what} is one of {', '.join(table)}, not {value!r}")
    return table[value]


class _Server(NamedTuple):
    """An engine for servers: its name, its call, its options, the variable that builds it in, and the library
    that it needs."""

    name: str
    call: str
    options: str
    variable: str
    library: str


_POSTGRES = _Server(
    "PostgreSQL", "ses_open_postgres", "ses_postgres_options", "SESLITE_WITH_POSTGRES", "libpq"
)
_MYSQL = _Server(
    "MySQL", "ses_open_mysql", "ses_mysql_options", "SESLITE_WITH_MYSQL", "MariaDB's client library"
)
_ENGINES = {"postgresql://": _POSTGRES, "postgres://": _POSTGRES, "mysql://": _MYSQL, "mariadb://": _MYSQL}
SERVERS = tuple(_ENGINES)
"""How the addresses of servers begin."""


def _open_server(address: bytes, options: Any, own: dict[str, Any], made: Any) -> None:
    engine = next(engine for scheme, engine in _ENGINES.items() if address.startswith(scheme.encode()))
    function = getattr(lib, engine.call, None)
    if function is None:
        raise errors.MisuseError(
            f"this seslite was built without {engine.name}: build it from source with {engine.variable}=1 in the environment "
            f"(pip install --no-binary seslite seslite), where {engine.library} and its headers are"
        )
    if engine is not _POSTGRES:
        asked = own.pop("unprepared"), own.pop("replica") != NULL
        if any(asked):
            raise errors.MisuseError(
                f"unprepared and replica are about PostgreSQL, and this is {engine.name}"
            )
    _ffi.call(function, address, options, _ffi.struct(engine.options, **own), made)


class StoreOptions(TypedDict, total=False):
    """The options of Store, for what passes them on."""

    read_only: bool
    must_exist: bool
    linked: bool
    synchronous: str
    journal: str
    busy_timeout_ms: int
    max_event_bytes: int
    max_readers: int
    max_session_events: int
    checkpoint: str
    max_connections: int
    unprepared: bool
    replica: str | None
    clock: Callable[[], int] | None
    make_id: Callable[[], str] | None
    timeout: float | None
    trace: Callable[[Trace], Any] | None
    key: bytes | None


class _State:
    """What a store's end needs, apart from the store, so that it can end when the process does. What is under
    way is kept by tokens, not counted: each is taken out in a `finally`, whatever a signal's exception left
    undone."""

    def __init__(self, pointer: Any, keep: Any) -> None:
        self.pointer = pointer
        self.keep = keep
        self.calls: dict[object, int] = {}  # those that are under way, or about to begin, and their threads
        self.waits: set[object] = set()  # of these, those that wait for leases
        self.closed = False
        self.process = _ffi.process()

    def begin(self, call: object) -> None:
        """To be called within a `try` that ends by `calls.pop(call, None)`."""
        _ffi.check_process(self.process)
        self.calls[call] = threading.get_ident()
        if self.closed:
            raise errors.MisuseError("this store is closed")

    def close(self) -> None:
        """No call may begin on the pointer once ses_close is called, so those that have it are waited for."""
        if self.process != _ffi.process():
            return
        self.closed = True
        while self.calls:
            if self.waits:
                lib.ses_store_interrupt(self.pointer, NULL)
            time.sleep(0.002)
        lib.ses_close(self.pointer)
        _sqlite.closed(self)


class Store(
    _ffi.Unique,
    State,
    OfStore,
    Leases,
    Drafts,
    Inboxes,
    Memories,
    History,
    Lists,
    Search,
    Find,
    ModelUsage,
    Transfer,
    Upkeep,
):
    """An open store. Any thread may use it. Close it with close(), with `with`, or leave that to the end of
    the process.

    `synchronous` is "full" (a write survives power loss) or "normal"; `journal` is "auto", "wal" or
    "rollback"; `checkpoint` is "auto" or "external". `clock` gives microseconds since 1970, `make_id` gives
    ids.

    `timeout` is how many seconds a call may take, unless limits() says otherwise; None: no limit. `trace` is
    called with a Trace at the end of each call, on the thread of that call, so several threads may be in it
    at the same time. It must not call the library. Its exceptions go to sys.unraisablehook.

    `linked` opens a file also if it has other names, such as hard links: only for programs that all use the
    same one.

    `key` is 32 random bytes that encrypt the file. It needs a package that was built with SQLite3 Multiple
    Ciphers; wheels are not, so it is UnsupportedError there. The wrong key is WrongKeyError.

    `path` is a file, or the address of a database: postgresql://user@host/database, if the package was built
    with SESLITE_WITH_POSTGRES=1, or mysql://user@host/database, if it was with SESLITE_WITH_MYSQL=1.
    `max_connections` is about these, `unprepared` and `replica` are about PostgreSQL, as seslite_postgres.h
    says; `synchronous`, `journal`, `checkpoint` and `max_readers` are about files.
    """

    _what = "store"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        must_exist: bool = False,
        linked: bool = False,
        synchronous: str = "full",
        journal: str = "auto",
        busy_timeout_ms: int = 0,
        max_event_bytes: int = 0,
        max_readers: int = 0,
        max_session_events: int = 0,
        checkpoint: str = "auto",
        max_connections: int = 0,
        unprepared: bool = False,
        replica: str | None = None,
        clock: Callable[[], int] | None = None,
        make_id: Callable[[], str] | None = None,
        timeout: float | None = None,
        trace: Callable[[Trace], Any] | None = None,
        key: bytes | None = None,
    ) -> None:
        self._options = {
            "flags": (lib.SES_OPEN_READ_ONLY if read_only else 0)
            | (lib.SES_OPEN_MUST_EXIST if must_exist else 0)
            | (lib.SES_OPEN_LINKED if linked else 0),
            "synchronous": _one_of(SYNCHRONOUS, synchronous, "synchronous"),
            "journal": _one_of(JOURNALS, journal, "journal"),
            "busy_timeout_ms": busy_timeout_ms,
            "max_event_bytes": max_event_bytes,
            "max_readers": max_readers,
            "max_session_events": max_session_events,
            "checkpoint": _one_of(CHECKPOINTS, checkpoint, "checkpoint"),
            "timeout_ms": milliseconds(timeout),
        }
        self._callbacks = {"clock": clock, "make_id": make_id, "trace": trace}
        name = _ffi.encode(os.fspath(path), "the path")
        options, keep = self._open_options()
        made = ffi.new("ses_store **")
        on_server = name.decode().startswith(SERVERS)
        held = not on_server and _sqlite.is_held(name.decode())
        if not on_server and (max_connections or unprepared or replica is not None):
            raise errors.MisuseError(
                "max_connections, unprepared and replica are about servers; a file has max_readers"
            )
        with _ffi.with_key(options, key):
            if on_server:
                second = NULL if replica is None else ffi.new("char[]", _ffi.encode(replica, "the replica"))
                own = {"max_connections": max_connections, "unprepared": unprepared, "replica": second}
                _open_server(name, options, own, made)
            else:
                _ffi.call(lib.ses_open, name, options, made)
        self._begin(made[0], keep)
        if not on_server:
            _sqlite.opened(self._state, name.decode(), held)

    def _open_options(self) -> tuple[Any, Any]:
        context = ffi.new_handle(self._callbacks)
        options = _ffi.struct("ses_open_options", **self._options)
        if self._callbacks["clock"]:
            options.clock, options.clock_context = lib.ses_py_clock, context
        if self._callbacks["make_id"]:
            options.make_id, options.make_id_context = lib.ses_py_make_id, context
        if self._callbacks["trace"]:
            options.trace, options.trace_context = lib.ses_py_trace, context
        return options, (context, self._callbacks)

    def _begin(self, pointer: Any, keep: Any) -> None:
        self._state = _State(pointer, keep)
        self._threads = StoreThreads()
        self._end = weakref.finalize(self, self._state.close)

    def copy_to_memory(self) -> Store:
        """Copies the whole store into one in memory, which is independent of it."""
        options, keep = self._open_options()
        options.flags = 0
        made = ffi.new("ses_store **")
        self._run(lib.ses_open_copy, options, made)
        copy = object.__new__(Store)
        copy._options, copy._callbacks = self._options, self._callbacks
        copy._begin(made[0], keep)
        return copy

    # --------------------------------------------------------------------------------- open and closed

    @contextmanager
    def _pointer(self) -> Iterator[Any]:
        """The store's pointer, which stays good within."""
        state, call = self._state, object()
        try:
            state.begin(call)
            yield state.pointer
        finally:
            state.calls.pop(call, None)

    def _run(self, function: Any, *arguments: Any, key: Key | None = None) -> int:
        state, call = self._state, object()
        try:
            state.begin(call)
            return _ffi.call(function, state.pointer, *arguments, key=key)
        finally:
            state.calls.pop(call, None)

    def _by_key(self, key: KeyLike) -> _calls.Run:
        named = key_of(key)
        return partial(self._run_key, named)

    def _run_key(self, named: Key, function: Any, *arguments: Any) -> int:
        return self._run(function, named.c, *arguments, key=named)

    def _owned(self, function: Any, *arguments: Any, key: Key | None = None) -> bytes | None:
        with self._pointer() as pointer:
            return _ffi.owned(function, pointer, *arguments, key=key)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._state.closed

    def close(self) -> None:
        """Closes the store. Calls of other threads that wait for a lease or an event are interrupted, others
        are waited for. What sessions hold can still be read."""
        _ffi.check_tracing()
        if self._state.process == _ffi.process() and threading.get_ident() in list(
            self._state.calls.values()
        ):
            raise errors.MisuseError(
                "this store cannot be closed by a callback of a call on it, which the end would wait for"
            )
        self._end()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def limits(self, timeout: float | None = None, *, shield: bool = False) -> Limits:
        """Limits for the calls within a `with` block: how many seconds each may take, and who may end them.

            with store.limits(timeout=2.0) as limits:  # limits.cancel(), from any thread, ends what runs here
                session.append(event)

        math.inf: no limit. With `shield` the limits of the blocks around it do not count, for cleaning up
        after them.
        """
        return Limits(self, timeout, shield=shield)

    def interrupt(self) -> None:
        """Interrupts the calls of other threads that read or wait now."""
        self._run(lib.ses_store_interrupt)

    # ---------------------------------------------------------------------------------------- sessions

    def create(
        self,
        key: KeyLike,
        state: JsonIn = None,
        *,
        created_us: int | None = None,
        expires_us: int | None = None,
        title: str | None = None,
        labels: Labels | None = None,
        child_of: Key | None = None,
    ) -> Session:
        """Creates a session. Without an id in the key the store makes one.

        `child_of`: the session of the same app that the new one belongs to, such as that of a sub-agent.
        """
        options = self._create_options(None, created_us, expires_us, title, labels, child_of)
        return self._session(lib.ses_create, key, *_ffi.json_in(state, "the state"), options[0])[0]

    def get_or_create(
        self,
        key: KeyLike,
        state: JsonIn = None,
        *,
        events: Range | None = None,
        created_us: int | None = None,
        expires_us: int | None = None,
        title: str | None = None,
        labels: Labels | None = None,
        child_of: Key | None = None,
    ) -> tuple[Session, bool]:
        """Reads a session, or creates it: then the second value is True."""
        options = self._create_options(events, created_us, expires_us, title, labels, child_of)
        session, code = self._session(
            lib.ses_get_or_create, key, *_ffi.json_in(state, "the state"), options[0]
        )
        return session, code != lib.SES_EXISTING

    def _create_options(
        self,
        events: Range | None,
        created_us: int | None,
        expires_us: int | None,
        title: str | None,
        labels: Labels | None,
        child_of: Key | None,
    ) -> tuple[Any, list[Any]]:
        keep: list[Any] = []
        array, count = labels_in(labels, keep)
        options = _ffi.struct(
            "ses_create_options",
            range=None if events is None else events.c,
            created_us=_ffi.int64(created_us, keep),
            expires_us=_ffi.int64(expires_us, keep),
            title=_ffi.c_text(title, "the title", keep),
            labels=array,
            label_count=count,
            child_of=None if child_of is None else child_of.c,
        )
        return options, keep

    def get(self, key: KeyLike, events: Range | None = None) -> Session:
        """Reads a session, with the events of the range; all if none is given."""
        options = (
            _ffi.plain("ses_get_options")
            if events is None
            else _ffi.struct("ses_get_options", range=events.c)
        )
        return self._session(lib.ses_get, key, options)[0]

    def _session(self, function: Any, key: KeyLike, *arguments: Any) -> tuple[Session, int]:
        made = ffi.new("ses_session **")
        code = self._by_key(key)(function, *arguments, made)
        return Session(self, made[0]), code

    def append(
        self,
        key: KeyLike,
        event: JsonIn,
        *,
        version: int | None = None,
        anyway: bool = False,
        expected: JsonIn = None,
        delta: JsonIn = None,
        lease: int = 0,
        takes_draft: bool = False,
        answers: str | None = None,
        title: str | None = None,
        labels: Labels | None = None,
        artifacts: Artifacts | Iterable[NewArtifact] | None = None,
        offload_bytes: int | None = None,
    ) -> Appended:
        """Appends an event without a handle: at any version, unless one is given. See Session.append."""
        return _calls.append(
            self._by_key(key),
            lib.ses_append_by_key,
            (self, key),
            event,
            version=version,
            anyway=anyway,
            expected=expected,
            delta=delta,
            lease=lease,
            takes_draft=takes_draft,
            answers=answers,
            title=title,
            labels=labels,
            artifacts=artifacts,
            offload_bytes=offload_bytes,
        )

    def append_batch(
        self,
        key: KeyLike,
        events: Iterable[JsonIn],
        *,
        version: int | None = None,
        anyway: bool = False,
        expected: JsonIn = None,
        lease: int = 0,
        takes_draft: bool = False,
        answers: str | None = None,
        title: str | None = None,
        labels: Labels | None = None,
    ) -> list[Appended]:
        """Appends events in one transaction: all or none."""
        return _calls.append_batch(
            self._by_key(key),
            lib.ses_append_batch_by_key,
            events,
            version=version,
            anyway=anyway,
            expected=expected,
            lease=lease,
            takes_draft=takes_draft,
            answers=answers,
            title=title,
            labels=labels,
        )

    def family(self, key: KeyLike) -> list[Relative]:
        """The sessions that are related to a session: parent, forks, siblings, and children."""
        made = ffi.new("ses_family **")
        self._by_key(key)(lib.ses_family_open, _ffi.plain(), made)
        return relatives_of(ffi.gc(made[0], lib.ses_family_close), key_of(key).app)

    def delete(
        self, key: KeyLike, *, secure: bool = False, children: bool = False, receipt: bool = False
    ) -> Deleted:
        """Deletes a session. It is not an error if it does not exist. With `children` its children go, too,
        and theirs. With `receipt`, the result has one."""
        options = self._delete_options(secure)
        options.flags |= lib.SES_DELETE_CHILDREN if children else 0
        return _calls.deleted(self._by_key(key), lib.ses_delete, options, receipt=receipt)

    def delete_user(self, app: str, user: str, *, secure: bool = False, receipt: bool = False) -> Deleted:
        """Deletes all sessions and the `user:` state of a user."""
        sessions, keys = ffi.new("int64_t *"), ffi.new("int64_t *")
        names = _ffi.encode(app, "the app"), _ffi.encode(user, "the user")
        options = self._delete_options(secure)
        made = _calls.receipt_of(options, receipt)
        more = self._run(lib.ses_delete_user, *names, options, sessions, keys) == lib.SES_MORE
        return Deleted(sessions[0], more, keys[0], None if made is None else erased_of(made, more))

    def delete_app(self, app: str, *, secure: bool = False, limit: int = 0, receipt: bool = False) -> Deleted:
        """Deletes everything of an app, in steps: again while `more` is set."""
        options = self._delete_options(secure, limit)
        return _calls.deleted(
            self._run, lib.ses_delete_app, _ffi.encode(app, "the app"), options, receipt=receipt
        )

    def _delete_options(self, secure: bool, limit: int = 0) -> Any:
        return _ffi.struct("ses_delete_options", flags=lib.SES_SECURE if secure else 0, limit=limit)

    # --------------------------------------------------------------------------------------- following

    def follow(
        self,
        key: KeyLike,
        *,
        new: bool = False,
        after_seq: int | None = None,
        place: str | None = None,
        notify_fd: int = -1,
    ) -> Follower:
        """Follows the events of a session, or without an id in the key of all sessions of the user."""
        return Follower(self, key_of(key), new=new, after_seq=after_seq, place=place, notify_fd=notify_fd)

    def follow_all(self, app: str | None = None, *, notify_fd: int = -1) -> Follower:
        """Follows the new events of all sessions of an app, or without one of the store: Follower.key says of
        which. It has no place."""
        return Follower(self, None, app=app, new=True, after_seq=None, place=None, notify_fd=notify_fd)

    def make_id(self) -> str:
        """Makes an id as the store does."""
        buffer = ffi.new("char[]", lib.SES_ID_MAX + 1)
        self._run(lib.ses_store_make_id, buffer, len(buffer))
        return _ffi.required(buffer)

    def quote(self, text: str | bytes) -> bytes:
        """A text as a JSON string, as the library writes strings."""
        encoded = _ffi.text_in(text, "the text")
        return self._owned(lib.ses_text_quote, encoded, len(encoded)) or b""

    def __repr__(self) -> str:
        try:
            return f"<seslite.Store {self.info().path!r}>"
        except errors.MisuseError:
            return "<seslite.Store, closed>" if self.closed else "<seslite.Store, not usable here>"
