"""The tokens that models have used."""

import asyncio
from datetime import timedelta, timezone

import pytest
from common import KEY

import seslite
from seslite.aio import AsyncStore

DAY = 86_400


def call(n, model="m1", **counts):
    usage = {name + "TokenCount": count for name, count in counts.items()}
    return {
        "id": f"e{n}",
        "invocationId": f"i{n}",
        "timestamp": n,
        "modelVersion": model,
        "usageMetadata": usage,
    }


@pytest.fixture
def used(store, session):
    session.append(call(1, prompt=10, candidates=5, total=15))
    session.append(call(DAY - 1, "m2", prompt=100, cachedContent=60, thoughts=3, toolUsePrompt=2, total=105))
    session.append({"id": "said", "timestamp": DAY})
    store.create(("app", "other", "t")).append(call(DAY, prompt=-1))
    return store


def test_rows_by_what_is_asked(used):
    rows = list(used.usage("user", "model", app="app"))
    assert [(row.user, row.model, row.calls, row.prompt) for row in rows] == [
        ("other", "m1", 1, 0),
        ("user", "m1", 1, 10),
        ("user", "m2", 1, 100),
    ]
    assert (rows[0].app, rows[0].session, rows[0].day, rows[0].invocation, rows[0].odd) == (
        None,
        None,
        None,
        None,
        1,
    )
    last = rows[2]
    assert (last.cached, last.candidates, last.thoughts, last.tool_use, last.total) == (60, 0, 3, 2, 105)
    assert last.first_us == last.last_us == (DAY - 1) * 1_000_000
    assert [row.invocation for row in used.usage("invocation", app="app", user="user")] == [
        "i1",
        f"i{DAY - 1}",
    ]
    assert [row.app for row in used.usage("app")] == ["app"]
    assert list(used.usage("model", app="none")) == []


def test_the_scope_and_the_time(used):
    assert used.usage_sum() == used.usage_sum(app="app")
    assert used.usage_sum().calls == 3 and used.usage_sum(app="app", user="user", session="s").calls == 2
    assert used.usage_sum(since_us=2_000_000, before_us=DAY * 1_000_000).calls == 1
    assert used.usage_sum(app="app", filter=seslite.Filter(updated_since_us=DAY * 1_000_000)).calls == 3
    assert used.usage_sum(app="app", filter=seslite.Filter(label="none")).calls == 0
    assert used.usage_sum(app="app", user="user", filter=seslite.Filter(id_prefix="s")).calls == 2
    with pytest.raises(seslite.NotFoundError):
        used.usage_sum(app="app", user="user", session="none")
    with pytest.raises(seslite.MisuseError):
        used.usage_sum(user="user")
    with pytest.raises(seslite.InvalidError, match="week"):
        next(used.usage("week"))


def test_days_begin_in_a_zone(used):
    def days(zone):
        return [(row.day, row.calls) for row in used.usage("day", zone=zone)]

    assert days(None) == [("1970-01-01", 2), ("1970-01-02", 1)] == days(timezone.utc)
    assert days(timezone(timedelta(hours=1))) == [("1970-01-01", 1), ("1970-01-02", 2)]
    assert days(timezone(timedelta(hours=-1))) == [("1969-12-31", 1), ("1970-01-01", 2)]


def test_the_ends_of_time(store, session):
    session.append({"timestamp": "0000-01-01T00:00:00Z", "usageMetadata": {}})
    session.append({"timestamp": "9999-12-31T23:59:59Z", "usageMetadata": {}})
    rows = store.usage("day", zone=timezone(timedelta(hours=1)))
    assert [row.day for row in rows] == ["0000-01-01", "9999-12-31"]


def test_a_zone_that_raises(used):
    class Broken(type(timezone.utc).__mro__[1]):
        def utcoffset(self, moment):
            raise KeyError("no offset")

        fromutc = utcoffset

    with pytest.raises(KeyError, match="no offset"):
        list(used.usage("day", zone=Broken()))


def test_many_rows_come_on_pages(store, session):
    for n in range(1, 1203):
        session.append(call(n, total=1))
    rows = list(store.usage("invocation"))
    assert len(rows) == 1202 == len({row.invocation for row in rows}) == store.usage_sum().total


def test_a_tally(used, session):
    seen = []
    before = list(used.usage("session", "model", "day"))
    assert used.tally(progress=lambda done, total: seen.append((done, total))) == 4 and seen[-1] == (4, 4)
    assert used.tally() == 0 and list(used.usage("session", "model", "day")) == before
    session.append(call(9, prompt=1))
    assert used.usage_sum().calls == 4
    assert used.tally(rebuild=True) == 5 and used.tally(drop=True) == 0
    assert used.usage_sum().calls == 4
    with pytest.raises(seslite.MisuseError):
        used.tally(rebuild=True, drop=True)


def test_with_asyncio(tmp_path):
    async def run():
        async with await AsyncStore.open(tmp_path / "a.db", synchronous="normal") as store:
            await store.create(KEY)
            await store.append(KEY, call(1, prompt=3))
            assert await store.tally() == 1
            assert [row.prompt async for row in store.usage("user")] == [3]
            return (await store.usage_sum()).prompt

    assert asyncio.run(run()) == 3
