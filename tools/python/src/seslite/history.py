"""The calls of a store on the log of a session: points, rewinds, cuts, forks; and what keeps a store
small."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from . import _calls, _ffi
from ._ffi import NULL, JsonIn, lib
from .erase import redact
from .values import Appended, Deleted, Erased, KeyLike, Labels, Point, Popped, Range

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .erase import RedactOptions
    from .session import Session
    from .store import Store


class History:
    """Part of Store."""

    _by_key: Any
    _run: Any

    def state_as_of(self, key: KeyLike, point: Point | None = None, *, shared: bool = False) -> bytes:
        """The own state as it was at a point."""
        return _calls.state_as_of(self._by_key(key), lib.ses_state_json_as_of_by_key, point, shared)

    def state_initial(self, key: KeyLike) -> bytes:
        """The state that the session was created with."""
        return _calls.state_initial(self._by_key(key), lib.ses_state_json_initial_by_key)

    def rewind(
        self,
        key: KeyLike,
        point: Point | None = None,
        *,
        version: int | None = None,
        anyway: bool = False,
        artifact_delta: JsonIn = None,
    ) -> Appended:
        """Takes back everything after the point, by appending an event. `unchanged`: there was nothing to
        take back."""
        run, at = self._by_key(key), _calls.point_of(point)
        return _calls.rewind(
            run, lib.ses_rewind_by_key, at, version=version, anyway=anyway, artifact_delta=artifact_delta
        )

    def redo(
        self, key: KeyLike, *, version: int | None = None, anyway: bool = False, artifact_delta: JsonIn = None
    ) -> Appended:
        """Takes the newest rewind back. `unchanged`: there was nothing to redo."""
        run = self._by_key(key)
        return _calls.rewind(
            run, lib.ses_redo_by_key, version=version, anyway=anyway, artifact_delta=artifact_delta
        )

    def cut(
        self,
        key: KeyLike,
        point: Point | None = None,
        *,
        version: int | None = None,
        anyway: bool = False,
        secure: bool = False,
        receipt: bool = False,
    ) -> Deleted:
        """Deletes the events after the point for good. With `receipt`, the result has one."""
        run = self._by_key(key)
        return _calls.cut(
            run, lib.ses_cut_by_key, point, version=version, anyway=anyway, secure=secure, receipt=receipt
        )

    def redact(
        self, key: KeyLike, seqs: Iterable[int] | None = None, **options: Unpack[RedactOptions]
    ) -> Erased:
        """Redacts events, by their numbers, or all of them; see seslite.erase.RedactOptions."""
        return redact(self._by_key(key), lib.ses_redact_by_key, seqs, **options)

    def pop(
        self,
        key: KeyLike,
        point: Point | None = None,
        *,
        version: int | None = None,
        anyway: bool = False,
        secure: bool = False,
    ) -> Popped:
        """Deletes the events after the point for good, and returns them. No two callers get the same
        event."""
        return _calls.pop(
            self._by_key(key), lib.ses_pop_by_key, point, version=version, anyway=anyway, secure=secure
        )

    def fork(
        self,
        key: KeyLike,
        to: KeyLike | None = None,
        point: Point | None = None,
        *,
        other_user: bool = False,
        events: Range | None = None,
        created_us: int | None = None,
        expires_us: int | None = None,
    ) -> Session:
        """Makes a new session that begins as another was at the point. It expires when that does, unless
        `expires_us` is given; seslite.NEVER is for one that does not."""
        run, store = self._by_key(key), cast("Store", self)
        return _calls.fork(
            run,
            lib.ses_fork_by_key,
            store,
            to,
            point,
            other_user=other_user,
            events=events,
            created_us=created_us,
            expires_us=expires_us,
        )

    def prune(
        self,
        key: KeyLike,
        *,
        keep: int | None = None,
        before_us: int | None = None,
        last_seq: int | None = None,
        compacted: bool = False,
        secure: bool = False,
        receipt: bool = False,
        limit: int = 0,
    ) -> Deleted:
        """Deletes the oldest events, in steps: again while `more` is set."""
        return _calls.prune(
            self._by_key(key),
            lib.ses_prune_by_key,
            keep=keep,
            before_us=before_us,
            last_seq=last_seq,
            compacted=compacted,
            secure=secure,
            receipt=receipt,
            limit=limit,
        )

    def expire(
        self,
        app: str | None = None,
        *,
        now_us: int | None = None,
        idle_us: int = 0,
        memory_us: int = 0,
        sessions_per_user: int = 0,
        by_change: bool = False,
        secure: bool = False,
        limit: int = 0,
        dry_run: bool = False,
        receipt: bool = False,
    ) -> Deleted:
        """Deletes the sessions whose time has come, in steps: again while `more` is set.

        Memory is deleted only if it was last written to `memory_us` ago or longer.
        With `dry_run` it deletes nothing, and returns how many all steps would delete. With `by_change` the
        sessions that `sessions_per_user` keeps are those last written to by the store's clock, whatever times
        their events have.
        """
        keep: list[Any] = []
        options = _ffi.struct(
            "ses_expire_options",
            flags=(lib.SES_SECURE if secure else 0)
            | (lib.SES_EXPIRE_DRY_RUN if dry_run else 0)
            | (lib.SES_EXPIRE_CHANGED if by_change else 0),
            now_us=_ffi.int64(now_us, keep),
            idle_us=idle_us,
            memory_us=memory_us,
            sessions_per_user=sessions_per_user,
            limit=limit,
        )
        name = NULL if app is None else _ffi.encode(app, "the app")
        return _calls.deleted(self._run, lib.ses_store_expire, name, options, receipt=receipt)

    def set_title(self, key: KeyLike, title: str | None) -> None:
        """Sets the title; None removes it."""
        _calls.title_set(self._by_key(key), lib.ses_title_set_by_key, title)

    def set_labels(self, key: KeyLike, labels: Labels) -> None:
        """Sets the labels that are named, and removes those whose value is None."""
        _calls.labels_set(self._by_key(key), lib.ses_labels_set_by_key, labels)

    def set_expiry(self, key: KeyLike, expires_us: int | None) -> None:
        """Sets the time after which expire() may delete the session, or None for never."""
        _calls.expiry_set(self._by_key(key), lib.ses_expiry_set_by_key, expires_us)

    def set_archived(self, key: KeyLike, archived: bool = True) -> None:
        """Puts a session into the archive, or takes it out of there."""
        self._by_key(key)(lib.ses_archive_set_by_key, archived, _ffi.plain())
