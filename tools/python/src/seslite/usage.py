"""The tokens that models have used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone, tzinfo
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from . import _ffi, errors
from ._ffi import NULL, ffi, lib
from .lists import Filter
from .upkeep import Caught, Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

PAGE = 1000
BY = {
    "app": lib.SES_USAGE_BY_APP,
    "user": lib.SES_USAGE_BY_USER,
    "session": lib.SES_USAGE_BY_SESSION,
    "day": lib.SES_USAGE_BY_DAY,
    "model": lib.SES_USAGE_BY_MODEL,
    "invocation": lib.SES_USAGE_BY_INVOCATION,
}
FIRST = datetime(1, 1, 2, tzinfo=timezone.utc)
LAST = datetime(9999, 12, 30, tzinfo=timezone.utc)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class UsageRow(NamedTuple):
    """Model calls that were added up. A text by which they were not is None, and a count that no event has is
    0."""

    app: str | None
    user: str | None
    session: str | None
    day: str | None
    """As in 2024-01-15."""
    model: str | None
    """"" if the event names none."""
    invocation: str | None
    calls: int
    """Events with usageMetadata."""
    prompt: int
    """The cached tokens included."""
    cached: int
    candidates: int
    thoughts: int
    tool_use: int
    total: int
    odd: int
    """Counts that are no integers from 0 to 2**53 - 1, and were taken as absent."""
    first_us: int
    last_us: int


class UsageOptions(TypedDict, total=False):
    """The options of Store.usage."""

    app: str | None
    user: str | None
    session: str | None
    since_us: int | None
    before_us: int | None
    zone: tzinfo | None
    filter: Filter | None


def _usage_of(row: Any) -> UsageRow:
    """A copy of a borrowed row."""
    return UsageRow(
        _ffi.string(row.app),
        _ffi.string(row.user),
        _ffi.string(row.session),
        _ffi.string(row.day),
        _ffi.string(row.model),
        _ffi.string(row.invocation),
        row.calls,
        row.prompt,
        row.cached,
        row.candidates,
        row.thoughts,
        row.tool_use,
        row.total,
        row.odd,
        row.first_us,
        row.last_us,
    )


def _seconds_ahead(zone: tzinfo, time_us: int) -> int:
    since = timedelta(microseconds=time_us)
    moment = FIRST if since < FIRST - EPOCH else LAST if since > LAST - EPOCH else EPOCH + since
    return int((moment.astimezone(zone).utcoffset() or timedelta()).total_seconds())


@ffi.def_extern(error=0)
def ses_py_zone(context: Any, time_us: int) -> int:
    caught, zone = ffi.from_handle(context)
    return caught.run(lambda: _seconds_ahead(zone, time_us)) or 0


class ModelUsage:
    """Part of Store."""

    _run: Any

    def usage(self, *by: str, **options: Unpack[UsageOptions]) -> Iterator[UsageRow]:
        """Adds up the tokens that models have used, by any of "app", "user", "session", "day", "model" and
        "invocation", in the whole store, an `app`, a `user` or one `session`. The rows are in the order of
        their texts.

        The events' time is `since_us` or later, and earlier than `before_us`. Only sessions that match the
        `filter` count. Days begin in the `zone`, or in UTC. Events that a rewind has taken back count; those
        that were deleted, cut or pruned do not. The rows are read page by page, each of which adds up what is
        stored by then. A store that keeps a tally() answers much sooner.
        """
        return chain.from_iterable(self._usage_pages(by, **options))

    def usage_sum(self, **options: Unpack[UsageOptions]) -> UsageRow:
        """The sum of all calls that usage() with these options adds up."""
        rows = self._usage_page((), None, **options)
        return _usage_of(lib.ses_usage_rows_sum(rows))

    def _usage_pages(self, by: Iterable[str], **options: Unpack[UsageOptions]) -> Iterator[list[UsageRow]]:
        token, asked = None, tuple(by)
        while True:
            rows = self._usage_page(asked, token, **options)
            yield [_usage_of(lib.ses_usage_rows_at(rows, at)) for at in range(lib.ses_usage_rows_count(rows))]
            token = _ffi.string(lib.ses_usage_rows_token(rows))
            if token is None:
                return

    def _usage_page(
        self,
        by: tuple[str, ...],
        token: str | None,
        *,
        app: str | None = None,
        user: str | None = None,
        session: str | None = None,
        since_us: int | None = None,
        before_us: int | None = None,
        zone: tzinfo | None = None,
        filter: Filter | None = None,
    ) -> Any:
        keep: list[Any] = []
        flags = 0
        for name in by:
            if name not in BY:
                raise errors.InvalidError(f"usage is by {', '.join(BY)}, not {name!r}")
            flags |= BY[name]
        names = (app, "the app"), (user, "the user"), (session, "the session's id")
        scope = ffi.new("ses_key *", [_ffi.c_text(name, what, keep) for name, what in names])
        made = ffi.new("ses_usage_rows **")
        with Caught() as caught:
            context = ffi.new_handle((caught, zone))
            options = _ffi.struct(
                "ses_usage_options",
                flags=flags,
                since_us=_ffi.int64(since_us, keep),
                before_us=_ffi.int64(before_us, keep),
                zone=lib.ses_py_zone if zone else NULL,
                zone_context=context,
                limit=PAGE,
                token=_ffi.c_text(token, "the token", keep),
                filter=None if filter is None else filter.c,
            )
            self._run(lib.ses_store_usage, scope, options, made)
            rows = ffi.gc(made[0], lib.ses_usage_rows_close)
        return rows

    def tally(self, *, rebuild: bool = False, drop: bool = False, progress: Progress | None = None) -> int:
        """Makes the table with which usage() takes milliseconds, or brings it up to date, and returns how
        many events it has looked at. With `rebuild` it is made again, with `drop` removed. `progress` gets
        the events done and about how many there are."""
        events = ffi.new("int64_t *")
        with Caught() as caught:
            context = ffi.new_handle((caught, progress, None))
            options = _ffi.struct(
                "ses_tally_options",
                flags=(lib.SES_TALLY_REBUILD if rebuild else 0) | (lib.SES_TALLY_DROP if drop else 0),
                progress=lib.ses_py_progress if progress else NULL,
                progress_context=context,
            )
            self._run(lib.ses_store_tally, options, events)
        return int(events[0])
