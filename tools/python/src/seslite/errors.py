"""What goes wrong: one exception for each code of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .values import Key


class Error(Exception):
    """A call that failed. Nothing has changed, unless it is an OutcomeUnknownError."""

    code: int = 0
    """The library's number, such as -7. `name` is its name, such as "SES_STALE"."""
    name: str = ""

    def __init__(
        self,
        message: str,
        *,
        version: int | None = None,
        engine_code: int = 0,
        sqlstate: str = "",
        offset: int | None = None,
        index: int | None = None,
        key: Key | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.version = version  # StaleError: the version that the session has now
        self.engine_code = engine_code  # SQLite's extended result code, or the number of MySQL's error
        self.sqlstate = sqlstate
        self.offset = offset  # byte offset of the fault in a JSON text
        self.index = index  # the rejected event of a batch, counted from 0
        self.key = key  # the session that the call was about


class OutOfMemoryError(Error, MemoryError):
    """Memory could not be allocated."""

    code, name = -1, "SES_NOMEM"


class MisuseError(Error):
    """The call is wrong: a closed object, one that another thread uses, a store of the process that
    forked."""

    code, name = -2, "SES_MISUSE"


class InvalidError(Error, ValueError):
    """A value breaks a rule: an id, a state key, a field of the wrong type."""

    code, name = -3, "SES_INVALID"


class JsonError(Error, ValueError):
    """The text is not strict JSON. `offset` is the position of the error."""

    code, name = -4, "SES_JSON"


class NotFoundError(Error, LookupError):
    """The session, event, point or file does not exist."""

    code, name = -5, "SES_NOTFOUND"


class ExistsError(Error):
    """It exists already: a session of the name, or another event of the id."""

    code, name = -6, "SES_EXISTS"


class StaleError(Error):
    """Another writer appended in the meantime. `version` is the session's version now; refresh the handle."""

    code, name = -7, "SES_STALE"


class BusyError(Error):
    """Another has held the lock, or the lease, for as long as the call may wait."""

    code, name = -8, "SES_BUSY"


class ReadOnlyError(Error):
    """The store was opened for reading, or the file can only be read."""

    code, name = -9, "SES_READONLY"


class FullError(Error):
    """The disk or a number is at its end."""

    code, name = -10, "SES_FULL"


class IoError(Error):
    """The file cannot be read or written."""

    code, name = -11, "SES_IO"


class CorruptError(Error):
    """The file is damaged."""

    code, name = -12, "SES_CORRUPT"


class NotAStoreError(Error):
    """The file is not a store."""

    code, name = -13, "SES_NOTASTORE"


class TooNewError(Error):
    """The store was written by a newer version of the library."""

    code, name = -14, "SES_TOONEW"


class LimitError(Error, ValueError):
    """A limit of the options was reached."""

    code, name = -15, "SES_LIMIT"


class CallInterruptedError(Error):
    """The call was cancelled, or its time was over while it worked (see Limits); or Store.interrupt or
    Store.close was called while it read or waited."""

    code, name = -16, "SES_INTERRUPTED"


class StateTypeError(Error, TypeError):
    """The state value has a different type."""

    code, name = -17, "SES_TYPE"


class StateRangeError(Error, ValueError):
    """The value does not fit the requested type."""

    code, name = -18, "SES_RANGE"


class CantOpenError(Error):
    """The file or the server cannot be opened."""

    code, name = -19, "SES_CANTOPEN"


class InternalError(Error):
    """The library has found an error of its own."""

    code, name = -20, "SES_INTERNAL"


class OutcomeUnknownError(Error):
    """The commit may have happened or not. Send the same event with the same id again: it is stored once."""

    code, name = -21, "SES_UNKNOWN"
    made_ids: tuple[str, ...] = ()
    """Of an append, for each event: the id that the library made, or "". Send the event again with it in
    front: `{"id": made_id, **event}`."""


class LeasedError(Error):
    """Another owner has taken the session's lease."""

    code, name = -22, "SES_LEASED"


class ConstraintError(Error):
    """A table of your own has a foreign key to what would be deleted. The message names it."""

    code, name = -23, "SES_CONSTRAINT"


class WrongKeyError(Error):
    """The key is wrong, or the file is not a store."""

    code, name = -24, "SES_KEY"


class UnsupportedError(Error):
    """The store holds, or the call needs, what this library or its SQLite cannot do. The message names it."""

    code, name = -25, "SES_UNSUPPORTED"


_BY_CODE: dict[int, type[Error]] = {kind.code: kind for kind in Error.__subclasses__()}


def by_code(code: int) -> type[Error]:
    """The exception of a negative code. A code of a later library is a plain Error."""
    return _BY_CODE.get(code, Error)


def make(code: int, message: str, **facts: Any) -> Error:
    error = by_code(code)(message, **facts)
    if type(error) is Error:
        error.code = code
    return error
