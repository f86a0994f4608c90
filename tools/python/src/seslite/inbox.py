"""The calls of a store on inboxes: inputs of sessions that wait until a worker takes them."""

from __future__ import annotations

from typing import Any

from . import _ffi
from ._ffi import NULL, JsonIn, ffi, lib
from .values import Input, Key, KeyLike, Lease


def _inputs_of(page: Any) -> list[Input]:
    """Copies of a page, which is closed."""
    try:
        return [
            Input(
                Key(_ffi.required(found.app), _ffi.required(found.user), _ffi.required(found.session)),
                _ffi.required(found.request),
                ffi.unpack(found.body, found.body_len).decode(),
                found.added_us,
                found.place,
            )
            for found in (lib.ses_inputs_at(page, at) for at in range(lib.ses_inputs_count(page)))
        ]
    finally:
        lib.ses_inputs_close(page)


def _whose(app: str | None, user: str | None, session: str | None, keep: list[Any]) -> Any:
    """The sessions that a call is about; NULL: those of the whole store."""
    if app is None and user is None and session is None:
        return NULL
    names = ((app, "the app"), (user, "the user"), (session, "the session's id"))
    return ffi.new("ses_key *", [_ffi.c_text(name, what, keep) for name, what in names])


class Inboxes:
    """Part of Store."""

    _by_key: Any
    _run: Any
    _state: Any

    def inbox_add(
        self, key: KeyLike, request: str, body: JsonIn, *, create: bool = False, max_waiting: int = 0
    ) -> bool:
        """Adds an input to the inbox of a session, under the id of its request. False: it waits already, or the
        session has an event with that id. `create`: the session is created if there is none."""
        options = _ffi.struct(
            "ses_inbox_add_options",
            flags=lib.SES_INBOX_CREATES if create else 0,
            max_waiting=max_waiting,
        )
        text, length = _ffi.json_in(body, "the body")
        code = self._by_key(key)(
            lib.ses_inbox_add, _ffi.encode(request, "the request"), text, length, options
        )
        return code != lib.SES_DUPLICATE

    def inbox_take(
        self,
        owner: str,
        *,
        app: str | None = None,
        user: str | None = None,
        session: str | None = None,
        duration_us: int = 0,
        wait_ms: int = 0,
    ) -> tuple[Input, Lease] | None:
        """Takes the oldest input that waits in the store, an `app`, a `user` of it or a `session`, together with
        the lease of its session, or returns None. The append with `answers` of its request removes it. `wait_ms`
        is how long to wait for one."""
        keep: list[Any] = []
        options = _ffi.struct("ses_inbox_take_options", duration_us=duration_us, wait_ms=wait_ms)
        made, lease = ffi.new("ses_inputs **"), ffi.new("ses_lease *")
        waits, wait = self._state.waits, object()
        try:
            waits.add(wait)
            self._run(
                lib.ses_inbox_take,
                _whose(app, user, session, keep),
                _ffi.encode(owner, "the owner"),
                options,
                made,
                lease,
            )
        finally:
            waits.discard(wait)
        if made[0] == NULL:
            return None
        return _inputs_of(made[0])[0], Lease(lease.token, lease.until_us)

    def inbox_list(
        self,
        *,
        app: str | None = None,
        user: str | None = None,
        session: str | None = None,
        after: int = 0,
        limit: int = 0,
    ) -> list[Input]:
        """The inputs that wait, the oldest first, up to `limit` (0: 100). `after` is the place of the last input
        of the page before."""
        keep: list[Any] = []
        options = _ffi.struct("ses_inbox_list_options", after=after, limit=limit)
        made = ffi.new("ses_inputs **")
        self._run(lib.ses_inbox_list, _whose(app, user, session, keep), options, made)
        return _inputs_of(made[0])

    def inbox_remove(self, key: KeyLike, request: str) -> bool:
        """Removes an input that nobody is to answer, and says whether it was there."""
        code = self._by_key(key)(lib.ses_inbox_remove, _ffi.encode(request, "the request"), _ffi.plain())
        return code != lib.SES_UNCHANGED
