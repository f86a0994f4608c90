"""seslite: sessions of AI agents in an SQLite file.

    import seslite

    with seslite.Store("agents.db") as store:
        session, created = store.get_or_create(("my_app", "alice", "s1"), {"user:lang": "en"})
        session.append({"author": "user", "actions": {"stateDelta": {"topic": "travel"}}})
        print(session.state_json())

JSON goes through as bytes or str, unchanged; what is neither is written as JSON on its way in. Names follow
those of seslite.h, whose comments say what each call means: ses_append is Session.append, ses_append_by_key
is Store.append. seslite.aio has the store for asyncio, and seslite.adk the services of google-adk for
sessions, artifacts and memory. seslite.agents has the session of the OpenAI Agents SDK, and seslite.langgraph
the checkpointer of LangGraph.
"""

from ._ffi import ffi as _c
from ._ffi import lib as _lib
from ._sqlite import TwoSqlitesWarning
from ._sqlite import version as _sqlite_version
from .agent import (
    Builder,
    Compaction,
    Content,
    Context,
    ContextEvent,
    Function,
    LeftOut,
    Part,
    PendingCall,
    Usage,
    answer_pending_calls,
    output_delta,
    pending_calls,
    read_context,
    read_event,
    text_cut,
)
from .artifacts import Artifact, ArtifactInfo, Artifacts, NewArtifact
from .erase import Finding
from .errors import (
    BusyError,
    CallInterruptedError,
    CantOpenError,
    ConstraintError,
    CorruptError,
    Error,
    ExistsError,
    FullError,
    InternalError,
    InvalidError,
    IoError,
    JsonError,
    LeasedError,
    LimitError,
    MisuseError,
    NotAStoreError,
    NotFoundError,
    OutcomeUnknownError,
    OutOfMemoryError,
    ReadOnlyError,
    StaleError,
    StateRangeError,
    StateTypeError,
    TooNewError,
    UnsupportedError,
    WrongKeyError,
)
from .follow import Follower, ResetError
from .limits import Limits
from .lists import Cursor, Filter, Page, Preview, Relative
from .search import Hit, Hits
from .session import Session
from .store import Store
from .tracked import Tracked, render
from .transfer import BaseValue, LoadedEvent
from .usage import UsageRow
from .values import (
    NEVER,
    NO_EVENTS,
    Appended,
    Deleted,
    Draft,
    Erased,
    Event,
    EventCount,
    Input,
    EventJson,
    Imported,
    Info,
    Key,
    Lease,
    Loaded,
    Point,
    Popped,
    Problem,
    Range,
    Trace,
)

__version__: str = _c.string(_lib.ses_version()).decode()
sqlite_version: str = _sqlite_version()
"""The version of the SQLite that stores use. It need not be the one that Python's module sqlite3 has."""
SCHEMA_VERSION: int = _lib.SES_SCHEMA_VERSION
REMOVED: str = _c.string(_lib.SES_PY_TOMBSTONE).decode().strip('"')
"""Written as a state value, it removes the key."""

if _lib.ses_version_number() != _lib.SES_VERSION_NUMBER:
    raise ImportError("seslite was compiled with the header of another version than its library")

__all__ = [
    "Appended",
    "Artifact",
    "ArtifactInfo",
    "Artifacts",
    "BaseValue",
    "Builder",
    "BusyError",
    "CallInterruptedError",
    "CantOpenError",
    "Compaction",
    "ConstraintError",
    "Content",
    "Context",
    "ContextEvent",
    "CorruptError",
    "Cursor",
    "Deleted",
    "Draft",
    "Erased",
    "Error",
    "Event",
    "EventCount",
    "EventJson",
    "ExistsError",
    "Filter",
    "Finding",
    "Follower",
    "FullError",
    "Function",
    "Hit",
    "Hits",
    "Imported",
    "Info",
    "Input",
    "InternalError",
    "InvalidError",
    "IoError",
    "JsonError",
    "Key",
    "Lease",
    "LeasedError",
    "LeftOut",
    "LimitError",
    "Limits",
    "Loaded",
    "LoadedEvent",
    "MisuseError",
    "NEVER",
    "NO_EVENTS",
    "NewArtifact",
    "NotAStoreError",
    "NotFoundError",
    "OutOfMemoryError",
    "OutcomeUnknownError",
    "Page",
    "Part",
    "PendingCall",
    "Point",
    "Popped",
    "Preview",
    "Problem",
    "REMOVED",
    "Range",
    "ReadOnlyError",
    "Relative",
    "ResetError",
    "SCHEMA_VERSION",
    "Session",
    "StaleError",
    "StateRangeError",
    "StateTypeError",
    "Store",
    "TooNewError",
    "Trace",
    "Tracked",
    "TwoSqlitesWarning",
    "UnsupportedError",
    "Usage",
    "UsageRow",
    "WrongKeyError",
    "answer_pending_calls",
    "output_delta",
    "pending_calls",
    "read_context",
    "read_event",
    "render",
    "sqlite_version",
    "text_cut",
]
