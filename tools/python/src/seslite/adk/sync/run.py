"""One pass over the sessions of two services, and the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from typing import Any, NamedTuple, Optional

from google.adk.events.event import Event
from google.adk.sessions.session import Session
from google.adk.sessions.state import State

from ... import errors
from . import compare
from .pace import GaveUp, Pace
from .report import Problem, Report
from .sides import STRAY, Found, Side

logger = logging.getLogger(__name__)

WHOLE = 20  # each how many passes sessions are read that do not look changed
Name = tuple[str, str, str]


class _Mark(NamedTuple):
    """By what a list shows that a session was changed."""

    updated: float
    version: Optional[str]


def _name_of(session: Session) -> Name:
    return session.app_name, session.user_id, session.id


def _mark_of(session: Session) -> _Mark:
    return _Mark(session.last_update_time, getattr(session, "_storage_update_marker", None))


class Sync:
    """Makes the sessions of `target` those of `source`. Sessions and events that only the target has stay,
    unless `delete`.

    A pass may end at any moment: the next finds by the events that are there what is left to do.
    """

    def __init__(
        self,
        source: Side,
        target: Side,
        *,
        apps: Sequence[str] = (),
        user: Optional[str] = None,
        delete: bool = False,
        dry_run: bool = False,
        pace: Optional[Pace] = None,
    ) -> None:
        self._source, self._target = source, target
        self._apps, self._user = list(apps), user
        self._delete, self._dry_run = delete, dry_run
        self._pace = pace or Pace()
        self._done: dict[Name, _Mark] = {}  # what this Sync has found or made equal
        self._known: set[str] = set()  # apps of which the source had sessions
        self._passes = 0
        self._report = Report()

    async def follow(self, interval: float) -> AsyncIterator[Report]:
        """One pass after another, `interval` seconds apart."""
        while True:
            yield await self.run()
            await asyncio.sleep(interval)

    async def run(self) -> Report:
        """One pass. A service that cannot be reached ends it, which the report says."""
        self._report = Report(dry_run=self._dry_run)
        retried, waited = self._pace.retried, self._pace.waited
        if self._passes % WHOLE == 0:
            self._done.clear()
        self._passes += 1
        try:
            apps = self._apps or await self._call(self._source.apps)
            if len(apps) > 1 and (self._source.one_app or self._target.one_app):
                raise errors.MisuseError(
                    f"an agent engine has the sessions of one app: choose one of {', '.join(apps)}"
                )
            for app in apps:
                await self._run_app(app)
        except GaveUp as error:
            self._report.problems.append(Problem(None, None, None, f"gave up: {error}"))
        self._report.retries, self._report.waited = self._pace.retried - retried, self._pace.waited - waited
        return self._report

    async def _call(self, function: Any, *arguments: Any) -> Any:
        """A call that may be repeated as it is."""
        return await self._pace.repeat(self._once, function, *arguments)

    async def _once(self, function: Any, *arguments: Any, **named: Any) -> Any:
        return await self._pace.once(function(*arguments, **named))

    # ------------------------------------------------------------------------------------------- an app

    async def _run_app(self, app: str) -> None:
        found, listed = await self._list(self._source, app), await self._list(self._target, app)
        there = {_name_of(each) for each in listed}
        for session in found:
            await self._run_session(session, _name_of(session) in there)
        if found:
            self._known.add(app)
        names = {_name_of(each) for each in found}
        for session in listed:
            if _name_of(session) not in names:
                await self._run_left(session)
        if self._target.shares and found and not self._dry_run:
            if self._report.changed:
                found, listed = await self._list(self._source, app), await self._list(self._target, app)
            await self._run_shared(app, found, listed)

    async def _list(self, side: Side, app: str) -> list[Session]:
        sessions = []
        for each in await self._call(side.sessions, app, self._user):
            if each.id != STRAY:
                sessions.append(each)
            elif (
                side is self._target and not self._dry_run
            ):  # it is that of a pass that did not come to its end
                await self._call(side.delete, each)
        return sessions

    async def _run_session(self, listed: Session, there: bool) -> None:
        mark = _mark_of(listed)
        if there and self._done.get(_name_of(listed)) == mark:
            self._report.sessions["unchanged"] += 1
            return
        self._done.pop(_name_of(listed), None)
        if await self._attempt(listed, self._copy(listed)):
            self._done[_name_of(listed)] = mark

    async def _copy(self, listed: Session) -> bool:
        found = await self._call(self._source.read, listed)
        if found is None:  # deleted since it was listed
            return False
        copy = _Copy(self, found)
        await self._pace.repeat(copy.run)
        return copy.report(self._report)

    async def _attempt(self, session: Session, work: Awaitable[bool]) -> bool:
        """Does what a service may refuse for good, which does not keep the other sessions from being
        copied."""
        try:
            return await work
        except GaveUp:
            raise
        except Exception as error:
            logger.debug("%s", session.id, exc_info=True)
            self._report.fail("failed", session, f"{type(error).__name__}: {error}")
            return False

    async def _run_left(self, session: Session) -> None:
        """A session that only the target has. If the source has none at all of an app, its name is more
        likely misspelled."""
        if not self._delete or session.app_name not in self._known:
            self._report.sessions["only_in_target"] += 1
            return
        if self._dry_run or await self._attempt(session, self._remove(session)):
            self._report.sessions["deleted"] += 1

    async def _remove(self, session: Session) -> bool:
        await self._call(self._target.delete, session)
        return True

    # ------------------------------------------------------------------------------------- shared state

    async def _run_shared(self, app: str, found: list[Session], listed: list[Session]) -> None:
        """The events of the sessions were copied one session after another, so those of one may have
        overwritten what those of another had set later. In the end the values are set that the source has
        now. Keys of a source in which each session has its own are set only if the target lacks them."""
        wanted, there = _shared(found), _shared(listed)
        for (user, name), values in wanted.items():
            if not self._source.shares and len(values) > 1:
                self._report.lose(f"state {name}, which differs between sessions", values[-1][0])
        for user, session in {each.user_id: each for each in found}.items():
            delta = {}
            for (owner, name), values in wanted.items():
                value = values[-1][1]
                known = there.get((owner, name))
                if owner not in (user, None) or (known and compare.same(known[-1][1], value)):
                    continue
                there[owner, name] = values
                if known and not self._source.shares:
                    self._report.lose(f"state {name}", values[-1][0])
                else:
                    delta[name] = value
            if delta:
                await self._attempt(session, self._set_shared(app, user, delta))

    async def _set_shared(self, app: str, user: str, delta: dict[str, Any]) -> bool:
        await self._call(self._target.set_shared, app, user, delta)
        self._report.shared += [(app, user, name) for name in delta]
        return True


def _shared(sessions: Iterable[Session]) -> dict[tuple[Optional[str], str], list[tuple[Session, Any]]]:
    """The values of app: and user: keys, by user and name, those of an app without a user: more than one if
    sessions differ, and last that of the session that was changed last."""
    values: dict[tuple[Optional[str], str], list[tuple[Session, Any]]] = {}
    for session in sessions:
        for name, value in session.state.items():
            if compare.is_shared(name):
                known = values.setdefault(
                    (None if name.startswith(State.APP_PREFIX) else session.user_id, name), []
                )
                known[:] = [each for each in known if not compare.same(each[1], value)] + [(session, value)]
    return values


# ---------------------------------------------------------------------------------------------- a session


class _Copy:
    """The copy of one session. `run` may be called again after it failed: what an earlier call wrote, it
    finds."""

    def __init__(self, sync: Sync, found: Found) -> None:
        self._sync, self._target = sync, sync._target
        self._found, self._session = found, found.session
        self._events, self._partial, self._doubled = compare.stored_events(found.session.events)
        self._before: Optional[int] = (
            None  # how many events there were, and whether a session, when it was looked for first
        )
        self._existed = self._replaced = False
        self._left = len(self._events)
        self._there: Optional[Session] = None
        self._stored_events: list[Event] = []
        self._doubled_there = 0
        self._match = compare.Match(self._events, [])

    async def run(self) -> None:
        await self._look()
        if self._sync._delete and self._there and self._match.added:
            await self._begin_anew()
        if self._sync._dry_run or self._in_conflict or (self._there and not self._match.missing):
            return
        removes = self._sync._source.removes
        if self._there is None:
            state = compare.initial_state(self._session.state, self._events, shared=not self._target.shares)
            self._there = await self._sync._once(self._target.create, self._session, state)
        for at in self._match.missing:
            await self._sync._once(self._target.append, self._there, self._events[at], removes=removes)
        await self._look()

    async def _look(self) -> None:
        """Reads what is there."""
        stored = await self._sync._once(self._target.read, self._session)
        self._there = None if stored is None else stored.session
        self._stored_events, _, self._doubled_there = compare.stored_events(
            self._there.events if self._there else ()
        )
        self._match = compare.Match(self._events, self._stored_events)
        if self._before is None:
            self._before, self._existed = len(self._match.pairs), self._there is not None
        if len(self._match.missing) < self._left:
            self._sync._pace.progress()
        self._left = len(self._match.missing)

    async def _begin_anew(self) -> None:
        """Deletes a session that has what the source does not have."""
        if not self._sync._dry_run:
            await self._sync._once(self._target.delete, self._session)
        self._replaced, self._before, self._left = True, 0, len(self._events)
        self._there, self._match = None, compare.Match(self._events, [])

    @property
    def _in_conflict(self) -> bool:
        return bool(self._match.added and self._match.missing)

    def report(self, report: Report) -> bool:
        """Says what became of it. Returns whether the target has all of it."""
        report.events["partial"] += self._partial
        report.events["doubled"] += self._doubled + self._doubled_there
        if self._in_conflict:
            report.fail("conflict", self._session, "both sides have events that the other does not have")
            return False
        copied = (
            len(self._match.missing) if self._sync._dry_run else len(self._match.pairs) - (self._before or 0)
        )
        report.events["copied"] += copied
        report.sessions[self._outcome(copied)] += 1
        if not self._sync._dry_run:
            self._compare(report)
        return True

    def _outcome(self, copied: int) -> str:
        if not self._existed:
            return "created"
        if copied or self._replaced:
            return "updated"
        return "ahead" if self._match.added else "equal"

    def _compare(self, report: Report) -> None:
        """Notes what the target does not have as it is."""
        for what in self._found.extras:
            report.lose(what, self._session)
        if not self._match.in_order:
            report.lose("the order of events", self._session)
        for at, to in self._match.pairs:
            for path in compare.differences(
                compare.fields_of(self._events[at]), compare.fields_of(self._stored_events[to])
            ):
                report.lose(f"event {path}", self._session)
        if self._there is not None and not self._match.added:  # otherwise its state is that of later events
            self._compare_state(report, self._session.state, self._there.state)

    def _compare_state(self, report: Report, state: dict[str, Any], there: dict[str, Any]) -> None:
        for name in {**state, **there}:
            if compare.is_kept(name) and not (self._target.shares and compare.is_shared(name)):
                if name not in state or name not in there or not compare.same(state[name], there[name]):
                    report.lose(f"state {name}", self._session)
