"""Calls that come in two forms, for a handle and by key. `run` makes one with what it begins with: a handle,
or a store and a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import _ffi, errors
from ._ffi import NULL, JsonIn, ffi, lib
from .artifacts import Artifacts, NewArtifact, attached
from .values import (
    Appended,
    Deleted,
    KeyLike,
    Labels,
    Lease,
    Point,
    Popped,
    Range,
    appended_of,
    erased_of,
    event_of,
    key_of,
    labels_in,
)

if TYPE_CHECKING:
    from .session import Session
    from .store import Store

Run = Callable[..., int]


def append_options(
    keep: list[Any],
    *,
    anyway: bool = False,
    version: int | None = None,
    expected: JsonIn = None,
    delta: JsonIn = None,
    lease: int = 0,
    takes_draft: bool = False,
    answers: str | None = None,
    title: str | None = None,
    labels: Labels | None = None,
    artifacts: _ffi.Pointer = None,
) -> _ffi.Pointer:
    """How to append. `keep` is what the struct points to."""
    if not (anyway or lease or takes_draft or labels) and all(
        each is None for each in (version, expected, delta, answers, title, artifacts)
    ):
        return _ffi.plain("ses_append_options")
    expected_text, expected_len = _ffi.json_member(expected, "expected", keep)
    delta_text, delta_len = _ffi.json_member(delta, "delta", keep)
    array, count = labels_in(labels, keep)
    return _ffi.struct(
        "ses_append_options",
        flags=(lib.SES_ANYWAY if anyway else 0)
        | (lib.SES_AT_VERSION if version is not None else 0)
        | (lib.SES_APPEND_TAKES_DRAFT if takes_draft else 0),
        version=version,
        expected=expected_text,
        expected_len=expected_len,
        delta=delta_text,
        delta_len=delta_len,
        lease=lease,
        title=_ffi.c_text(title, "the title", keep),
        labels=array,
        label_count=count,
        artifacts=artifacts,
        answers=_ffi.c_text(answers, "the request", keep),
    )


def append(
    run: Run,
    function: Any,
    source: Session | tuple[Store, KeyLike],
    event: JsonIn,
    *names: _ffi.Pointer,
    artifacts: Artifacts | Iterable[NewArtifact] | None,
    offload_bytes: int | None,
    **options: Any,
) -> Appended:
    if event is None:
        raise errors.InvalidError("the event is None")
    keep: list[Any] = []
    with attached(source, artifacts, offload_bytes) as made:
        given = append_options(keep, artifacts=made, **options)
        return appended(run, function, *_ffi.json_in(event, "the event"), *names, given)


def append_batch(run: Run, function: Any, events: Iterable[JsonIn], **options: Any) -> list[Appended]:
    keep: list[Any] = []
    given = append_options(keep, **options)
    texts = [_ffi.json_member(event, "an event", keep) for event in events]
    if not texts:
        return []
    array, made = ffi.new("ses_text[]", texts), ffi.new("ses_appended[]", len(texts))
    _run_append(run, made, function, array, len(texts), given, made)
    return [appended_of(each) for each in made]


def appended(run: Run, function: Any, *arguments: Any) -> Appended:
    """A call that appends one event."""
    made = ffi.new("ses_appended[1]")
    _run_append(run, made, function, *arguments, made)
    return appended_of(made[0])


def _run_append(run: Run, made: Any, function: Any, *arguments: Any) -> None:
    try:
        run(function, *arguments)
    except errors.OutcomeUnknownError as error:
        error.made_ids = tuple(appended_of(each).made_id for each in made)
        raise


def point_of(point: Point | None) -> _ffi.Pointer:
    return NULL if point is None else point.c


def state_as_of(run: Run, function: Any, point: Point | None, shared: bool) -> bytes:
    options = _ffi.struct("ses_as_of_options", flags=lib.SES_AS_OF_SHARED if shared else 0)
    return _ffi.taken(run, function, point_of(point), options) or b""


def state_initial(run: Run, function: Any) -> bytes:
    return _ffi.taken(run, function, _ffi.plain()) or b""


def rewind(
    run: Run,
    function: Any,
    *point: _ffi.Pointer,
    anyway: bool,
    artifact_delta: JsonIn,
    version: int | None = None,
) -> Appended:
    """A rewind to a point, or a redo, which has none."""
    keep: list[Any] = []
    text, length = _ffi.json_member(artifact_delta, "artifact_delta", keep)
    options = _ffi.struct(
        "ses_rewind_options",
        flags=(lib.SES_ANYWAY if anyway else 0) | (lib.SES_AT_VERSION if version is not None else 0),
        version=version,
        artifact_delta=text,
        artifact_delta_len=length,
    )
    return appended(run, function, *point, options)


def _cut_options(anyway: bool, secure: bool, version: int | None) -> _ffi.Pointer:
    return _ffi.struct(
        "ses_cut_options",
        flags=(lib.SES_ANYWAY if anyway else 0)
        | (lib.SES_AT_VERSION if version is not None else 0)
        | (lib.SES_SECURE if secure else 0),
        version=version,
    )


def cut(
    run: Run,
    function: Any,
    point: Point | None,
    *,
    anyway: bool,
    secure: bool,
    receipt: bool,
    version: int | None = None,
) -> Deleted:
    return deleted(run, function, point_of(point), _cut_options(anyway, secure, version), receipt=receipt)


def pop(
    run: Run, function: Any, point: Point | None, *, anyway: bool, secure: bool, version: int | None = None
) -> Popped:
    made = ffi.new("ses_popped **")
    code = run(function, point_of(point), _cut_options(anyway, secure, version), made)
    popped = ffi.gc(made[0], lib.ses_popped_close)
    events = [event_of(lib.ses_popped_event(popped, at)) for at in range(lib.ses_popped_count(popped))]
    return Popped(events, code == lib.SES_MORE)


def receipt_of(options: Any, receipt: bool) -> Any:
    """Makes the options ask for a receipt. The result is to be kept until it is read."""
    if receipt:
        options.erased = made = _ffi.struct("ses_erased")
        return made
    return None


def deleted(run: Run, function: Any, *arguments: Any, receipt: bool = False) -> Deleted:
    """A call whose last argument is its options."""
    count, made = ffi.new("int64_t *"), receipt_of(arguments[-1], receipt)
    more = run(function, *arguments, count) == lib.SES_MORE
    return Deleted(count[0], more, erased=None if made is None else erased_of(made, more))


def fork(
    run: Run,
    function: Any,
    store: Store,
    to: KeyLike | None,
    point: Point | None,
    *,
    other_user: bool,
    events: Range | None,
    created_us: int | None,
    expires_us: int | None,
) -> Session:
    from .session import Session

    keep: list[Any] = []
    made, target = ffi.new("ses_session **"), None if to is None else key_of(to)
    options = _ffi.struct(
        "ses_fork_options",
        flags=lib.SES_FORK_OTHER_USER if other_user else 0,
        range=NULL if events is None else events.c,
        created_us=_ffi.int64(created_us, keep),
        expires_us=_ffi.int64(expires_us, keep),
    )
    run(function, point_of(point), NULL if target is None else target.c, options, made)
    return Session(store, made[0])


def prune(
    run: Run,
    function: Any,
    *,
    keep: int | None,
    before_us: int | None,
    last_seq: int | None,
    compacted: bool,
    secure: bool,
    receipt: bool,
    limit: int,
) -> Deleted:
    options = _ffi.struct(
        "ses_prune_options",
        which=(lib.SES_PRUNE_KEEP if keep is not None else 0)
        | (lib.SES_PRUNE_BEFORE if before_us is not None else 0)
        | (lib.SES_PRUNE_SEQ if last_seq is not None else 0)
        | (lib.SES_PRUNE_COMPACTED if compacted else 0),
        flags=lib.SES_SECURE if secure else 0,
        keep=keep,
        before_us=before_us,
        last_seq=last_seq,
        limit=limit,
    )
    return deleted(run, function, options, receipt=receipt)


def title_set(run: Run, function: Any, title: str | None) -> None:
    keep: list[Any] = []
    run(function, _ffi.c_text(title, "the title", keep), _ffi.plain())


def labels_set(run: Run, function: Any, labels: Labels) -> None:
    keep: list[Any] = []
    array, count = labels_in(labels, keep)
    if count:
        run(function, array, count, _ffi.plain())


def expiry_set(run: Run, function: Any, expires_us: int | None) -> None:
    keep: list[Any] = []
    run(function, _ffi.int64(expires_us, keep), _ffi.plain())


def lease(run: Run, function: Any, first: Any, duration_us: int, wait_ms: int) -> Lease:
    options = _ffi.struct("ses_lease_options", duration_us=duration_us, wait_ms=wait_ms)
    made = ffi.new("ses_lease *")
    run(function, first, options, made)
    return Lease(made.token, made.until_us)


def number(run: Run, function: Any, kind: str, name: str) -> Any:
    """A state value of a C type, or None if there is no such key."""
    value = ffi.new(kind)
    code = run(function, _ffi.encode(name, "the state key"), value)
    return None if code == lib.SES_ABSENT else value[0]
