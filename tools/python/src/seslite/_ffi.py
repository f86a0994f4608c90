"""Where Python meets C: calls and their errors, texts, JSON, options. Only the files of this package use
it."""

from __future__ import annotations

import _thread
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NoReturn

from . import errors
from ._seslite import ffi, lib

if TYPE_CHECKING:
    from .limits import Limits

__all__ = ["ffi", "lib"]

NULL = ffi.NULL
Pointer = Any  # a C pointer; cffi has no types for them
JsonIn = (
    Any  # str, bytes: JSON text, passed through unchanged; None: absent; anything else is serialized as JSON
)

_ERROR = ffi.typeof("ses_error *")

tracing: set[int] = set()  # the threads that are in a trace function


def check_tracing() -> None:
    """A trace function runs within a call, and each call that it made would be traced in turn."""
    if tracing and threading.get_ident() in tracing:
        raise errors.MisuseError("a trace function must not call the library")


def call(function: Callable[..., int], *arguments: Any, key: Any = None) -> int:
    """Calls a function whose last argument is a ses_error, and raises what it says."""
    check_tracing()
    error = ffi.new(_ERROR)
    code = function(*arguments, error)
    if code < 0:
        raise error_of(code, error, key)
    return code


def error_of(code: int, error: Pointer, key: Any = None) -> errors.Error:
    """The exception for a code and what the library says of it."""
    message = ffi.string(error.message).decode("utf-8", "replace") if error.code == code else ""
    return errors.make(
        code,
        message or ffi.string(lib.ses_code_text(code)).decode(),
        version=error.version if error.version >= 0 else None,
        engine_code=error.engine_code,
        sqlstate=ffi.string(error.sqlstate).decode("ascii", "replace"),
        offset=error.offset if error.offset >= 0 else None,
        index=error.index if error.index >= 0 else None,
        key=key,
    )


# ---------------------------------------------------------------------------------------------------- texts


def encode(text: Any, what: str) -> bytes:
    """UTF-8 of a str. C strings end at a NUL, so one inside is refused here."""
    if not isinstance(text, str):
        raise errors.InvalidError(f"{what} must be a str, not {type(text).__name__}")
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise errors.InvalidError(
            f"{what} holds a lone surrogate at character {error.start}, which UTF-8 cannot express"
        ) from None
    if b"\0" in encoded:
        raise errors.InvalidError(f"{what} holds a NUL at character {text.index(chr(0))}")
    return encoded


def c_text(text: str | None, what: str, keep: list[Any]) -> Pointer:
    """A C string that lives as long as `keep`; NULL for None."""
    if text is None:
        return NULL
    pointer = ffi.new("char[]", encode(text, what))
    keep.append(pointer)
    return pointer


def text_in(text: str | bytes | bytearray | memoryview, what: str) -> bytes:
    """UTF-8 of a text that may hold NULs."""
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    if not isinstance(text, str):
        raise errors.InvalidError(f"{what} must be a str or bytes, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise errors.InvalidError(
            f"{what} holds a lone surrogate at character {error.start}, which UTF-8 cannot express"
        ) from None


def dumps(value: Any, what: str = "the value") -> bytes:
    """A value as JSON text. Raises InvalidError if JSON cannot express it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(
            value, allow_nan=False, separators=(",", ":")
        ).encode()  # lone surrogates, as escapes
    except (TypeError, ValueError, RecursionError) as error:
        raise errors.InvalidError(f"{what} cannot be written as JSON: {error}") from None


_decode = json.JSONDecoder().raw_decode


def loads(text: bytes | str) -> Any:
    """A JSON text of the library as a value, at the edge. Integers are exact; other numbers become floats."""
    try:
        # json.loads would look at the text twice more, for UTF-16 and for blanks after it.
        return _decode((text.decode() if isinstance(text, bytes) else text).strip(" \t\r\n"))[0]
    except ValueError as error:
        raise errors.StateRangeError(
            f"Python cannot hold this JSON: {error}; read its text instead"
        ) from None


def json_in(value: JsonIn, what: str) -> tuple[Any, int]:
    """JSON as a call takes it: bytes (or NULL) and their length."""
    if value is None:
        return NULL, 0
    encoded = (
        text_in(value, what) if isinstance(value, (str, bytes, bytearray, memoryview)) else dumps(value, what)
    )
    return encoded, len(encoded)


def json_member(value: JsonIn, what: str, keep: list[Any]) -> tuple[Pointer, int]:
    """JSON as a member of a struct takes it."""
    encoded, length = json_in(value, what)
    if encoded is NULL:
        return NULL, 0
    buffer = ffi.from_buffer("char[]", encoded)
    keep.append(buffer)
    return buffer, length


def string(pointer: Pointer) -> str | None:
    """A borrowed C string; None for NULL."""
    return None if pointer == NULL else ffi.string(pointer).decode()


def required(pointer: Pointer) -> str:
    """A borrowed C string that is never NULL."""
    return ffi.string(pointer).decode()


def fill(buffer: Pointer, capacity: int, read: Callable[[int], Any]) -> int:
    """Puts the next bytes that `read` gives into a buffer of C, and returns their number."""
    piece = memoryview(read(capacity))
    if piece.nbytes > capacity:
        raise errors.MisuseError("read() gave more than it was asked for")
    ffi.memmove(buffer, piece, piece.nbytes)
    return piece.nbytes


def span(text: Pointer) -> bytes | None:
    """The bytes of a ses_text; None for NULL."""
    return None if text.text == NULL else ffi.unpack(text.text, text.len)


def borrowed(function: Callable[..., int], *arguments: Any) -> bytes | None:
    """Calls a function whose outputs are a borrowed text and its length. Returns None if it is absent."""
    text, length = ffi.new("const char **"), ffi.new("size_t *")
    call(function, *arguments, text, length)
    return None if text[0] == NULL else ffi.unpack(text[0], length[0])


def owned(function: Callable[..., int], *arguments: Any, key: Any = None) -> bytes | None:
    """Calls a function whose outputs are a text owned by the caller and its length. Returns None if it is
    absent."""
    return taken(partial(call, key=key), function, *arguments)


def taken(run: Callable[..., int], function: Callable[..., int], *arguments: Any) -> bytes | None:
    """The same for a call that `run` makes."""
    text, length = ffi.new("char **"), ffi.new("size_t *")
    run(function, *arguments, text, length)
    if text[0] == NULL:
        return None
    try:
        return ffi.unpack(text[0], length[0])
    finally:
        lib.ses_free(text[0])


# -------------------------------------------------------------------------------------------------- structs


entered: ContextVar[tuple[Limits, ...]] = ContextVar("seslite limits", default=())  # the innermost first


def limits() -> Limits | None:
    """The limits of the calls that this thread or task makes now."""
    found = entered.get()
    return found[0] if found else None


@contextmanager
def with_key(options: Any, key: bytes | None) -> Iterator[None]:
    """Sets the key of a file: a copy, which is wiped at the end. The library has its own by then."""
    if key is None:
        yield
        return
    given = memoryview(key).cast("B")  # items of an array may have more bytes than one
    own = ffi.new("unsigned char[]", max(len(given), 1))
    ffi.memmove(own, given, len(given))
    options.key, options.key_len = own, len(given)
    try:
        yield
    finally:
        ffi.memmove(own, bytes(len(own)), len(own))


@cache
def _is_limited(kind: str) -> bool:
    """Whether a struct holds the limits of a call."""
    return any(name == "cancel" for name, _ in ffi.typeof(kind).fields)


def struct(kind: str, /, **members: Any) -> Pointer:
    """A struct with its size and the members that are given. None leaves a member zero. Options have the
    limits."""
    made = ffi.new(kind + " *")
    made.size = ffi.sizeof(kind)
    within = limits()
    if within is not None and _is_limited(kind):
        made.timeout_ms, made.cancel = within._timeout_ms, within._pointer
    for name, value in members.items():
        if value is None:
            continue
        try:
            setattr(made, name, value)
        except (OverflowError, TypeError) as error:
            raise errors.InvalidError(f"{name}: {error}") from None
    return made


def plain(kind: str = "ses_call_options") -> Pointer:
    """Options with nothing but the limits; NULL if there are none."""
    return struct(kind) if entered.get() else NULL


def limited(release: Callable[[Pointer], Any]) -> Callable[[Pointer], Any]:
    """A function that frees an object, and until then keeps the limits with which it is opened now."""
    return partial(_release, release, limits())


def _release(release: Callable[[Pointer], Any], _kept: Limits | None, pointer: Pointer) -> None:
    release(pointer)


def int64(value: int | None, keep: list[Any]) -> Pointer:
    """A pointer to a number that may be absent."""
    if value is None:
        return NULL
    try:
        pointer = ffi.new("int64_t *", value)
    except (OverflowError, TypeError) as error:
        raise errors.InvalidError(str(error)) from None
    keep.append(pointer)
    return pointer


class Value:
    """The base of frozen dataclasses that C reads as a struct. Copies and pickles are made anew from the
    fields, since a struct belongs to one object and one process."""

    __slots__ = ("_c",)

    def _set_struct(self, made: Pointer, keep: list[Any]) -> None:
        """`keep` is what the struct points to."""
        object.__setattr__(self, "_c", (made, keep))

    @property
    def c(self) -> Pointer:
        """The struct."""
        return self._c[0]  # type: ignore[attr-defined]

    def _given(self) -> dict[str, Any]:
        """The fields that differ from their defaults."""
        found = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, (value, default) in found.items() if value != default}

    def __reduce__(self) -> Any:
        return partial(type(self), **self._given()), ()

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._given().items())
        return f"{type(self).__name__}({given})"


# -------------------------------------------------------------------------------------------------- handles

_process = os.getpid()


def _forked() -> None:
    global _process
    _process = os.getpid()


os.register_at_fork(after_in_child=_forked)


def process() -> int:
    return _process


def check_process(pid: int) -> None:
    """A store does not survive a fork: the child has SQLite's records, but not its locks, nor our threads."""
    if pid != _process:
        raise errors.MisuseError(
            "this store was opened before the process forked: a child cannot use it. Open the store after the fork, "
            "or start children with multiprocessing's method 'spawn'"
        )


class Guard(_thread.RLock):  # type: ignore[misc]  # not declared final
    """Keeps an object to one thread at a time, and its memory while a call runs. Views share that of their
    session. Its end is the lock's own, in C: a signal's exception (control-C) cannot come before it and leave
    the object held."""

    __slots__ = ("_pid", "_what")

    def __init__(self, what: str) -> None:
        self._pid = _process
        self._what = what

    if TYPE_CHECKING:

        def _is_owned(self) -> bool: ...

    def __enter__(self) -> bool:  # type: ignore[override]
        check_process(self._pid)
        held = self._is_owned()
        try:
            if not self.acquire(blocking=False):
                raise errors.MisuseError(
                    f"another thread is using this {self._what}: it belongs to one thread at a time"
                )
        except BaseException:
            if not held and self._is_owned():  # a signal came just after the lock was taken
                self.release()
            raise
        return True

    def check_closing(self) -> None:
        """Nothing else of this thread may be under way on an object that is closed."""
        if self._is_owned():
            raise errors.MisuseError(f"this {self._what} cannot be closed during a call on it")


class Unique:
    """The base of what owns an object of C: two of them would free it twice."""

    __slots__ = ()
    _what = "object"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {self._what} cannot be copied or pickled")


class Handle(Unique):
    """An object of the library that this one owns. Closing it twice is allowed."""

    __slots__ = ("_pointer", "_guard", "_owned", "__weakref__")

    def __init__(self, pointer: Pointer, release: Any, guard: Guard | None = None) -> None:
        """`release` frees it; None if it belongs to another object."""
        self._owned = release is not None
        self._pointer = ffi.gc(pointer, release) if self._owned else pointer
        self._guard = guard or Guard(self._what)

    def _live(self) -> Pointer:
        """The pointer, to be used within the guard."""
        if self._pointer is None:
            raise errors.MisuseError(f"this {self._what} is closed")
        return self._pointer

    def _run(self, function: Any, *arguments: Any) -> int:
        """A call on the object that can fail."""
        with self._guard:
            return call(function, self._live(), *arguments)

    def _look(self, function: Any, *arguments: Any) -> Any:
        """A call on the object that cannot."""
        with self._guard:
            return function(self._live(), *arguments)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._pointer is None

    def close(self) -> None:
        """Frees the object. Values that were read from it stay valid."""
        if self._guard._pid != _process:
            return
        self._guard.check_closing()
        with self._guard:
            pointer, self._pointer = self._pointer, None
            if pointer is not None and self._owned:
                ffi.release(pointer)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _about(self) -> str:
        return ""

    def __repr__(self) -> str:
        try:
            about = ", closed" if self.closed else self._about()
        except errors.MisuseError:
            about = ", not usable here"  # another thread uses it, or the process forked
        return f"<seslite.{type(self).__name__}{about}>"
