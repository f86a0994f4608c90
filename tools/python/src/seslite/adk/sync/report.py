"""What a pass has done, and what the other side cannot hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from google.adk.sessions.session import Session

MAX_LOST = 100  # differences that are told apart


class Lost(NamedTuple):
    """What differs on the other side, how often, and where it was seen first."""

    times: int
    app: str
    user: str
    session: str


class Problem(NamedTuple):
    """A session that was not copied, and why; without a session, why the pass ended early."""

    app: Optional[str]
    user: Optional[str]
    session: Optional[str]
    reason: str


class Report:
    """Counts of one pass.

    `sessions`: created, updated, equal; unchanged since the last pass, so not read; ahead, when the target
    has events that the source does not have; conflict, when each side has events that the other lacks;
    only_in_target; deleted; failed. `events`: copied; partial, which are not copied; doubled, of which the
    target or the source has more than one. `shared`: the app: and user: keys that were set, as (app, user,
    key). `lost`: by what differs.
    """

    def __init__(self, *, dry_run: bool = False) -> None:
        self.dry_run = dry_run
        self.sessions: Counter[str] = Counter()
        self.events: Counter[str] = Counter()
        self.shared: list[tuple[str, str, str]] = []
        self.lost: dict[str, Lost] = {}
        self.problems: list[Problem] = []
        self.retries = 0
        self.waited = 0.0

    def lose(self, what: str, session: Session) -> None:
        if what not in self.lost and len(self.lost) >= MAX_LOST:
            what = "other things"
        known = self.lost.get(what)
        self.lost[what] = known._replace(times=known.times + 1) if known else Lost(1, *_names(session))

    def fail(self, outcome: str, session: Session, reason: str) -> None:
        self.sessions[outcome] += 1
        self.problems.append(Problem(*_names(session), reason))

    @property
    def changed(self) -> bool:
        """Whether something was written, or would be."""
        outcomes = ("created", "updated", "deleted")
        return bool(self.shared or self.events["copied"] or any(self.sessions[each] for each in outcomes))

    def json(self) -> str:
        """The report as one line of JSON."""
        members: dict[str, Any] = {
            "dry_run": self.dry_run,
            "sessions": self.sessions,
            "events": self.events,
            "shared": [{"app": app, "user": user, "key": key} for app, user, key in self.shared],
            "lost": [{"what": what, **lost._asdict()} for what, lost in self.lost.items()],
            "problems": [each._asdict() for each in self.problems],
            "retries": self.retries,
            "waited_seconds": round(self.waited, 3),
        }
        return json.dumps(members, ensure_ascii=False)

    def lines(self) -> Iterator[str]:
        """The report for people. Texts of the services are written so that they cannot control a terminal."""
        outcomes = (
            ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in self.sessions.items()) or "none"
        )
        yield f"{'would be: ' if self.dry_run else ''}sessions: {outcomes}; events copied: {self.events['copied']}"
        for name in ("partial", "doubled"):
            if self.events[name]:
                yield f"  {self.events[name]} events are {name}"
        for app, user, key in self.shared:
            yield f"  set for {app}/{user}: {key!r}"
        for what, lost in self.lost.items():
            yield f"  not the same there: {what} ({lost.times} times, first in {lost.app}/{lost.user}/{lost.session})"
        for problem in self.problems:
            where = "/".join(each for each in problem[:3] if each is not None)
            yield f"  {where + ': ' if where else ''}{problem.reason}"
        if self.retries:
            yield f"  {self.retries} calls were repeated, after {self.waited:.0f} seconds of waiting"


def _names(session: Session) -> tuple[str, str, str]:
    return session.app_name, session.user_id, session.id
