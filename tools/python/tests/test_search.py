"""Searching events by words."""

import asyncio
import subprocess
import sys

import pytest
from common import HAS_OWN_SQLITE, KEY

import seslite
from seslite import Filter
from seslite.aio import AsyncStore

# seconds: later than the sessions are made, so that each event moves its session to the front
FAR = 4_000_000_000


def said(text, n):
    content = {"parts": [{"text": text}]}
    return {
        "id": f"e{n}",
        "author": "user",
        "invocationId": f"i{n}",
        "timestamp": FAR + n,
        "content": content,
    }


def ids(hits):
    return [hit.id for hit in hits]


@pytest.fixture
def searched(store, session):
    session.append(said("The train to Paris leaves at noon.", 1))
    session.append(said("Which train? To PARIS, or to Café Paris?", 2))
    store.create(("app", "other", "t")).append(said("我写中文, ängstlich paris", 3))
    store.create(("else", "user", "s")).append(said("paris", 4))
    return store


def test_the_scope_is_an_app_a_user_or_a_session(searched):
    assert ids(searched.search("paris", app="app")) == ["e3", "e2", "e1"]
    assert ids(searched.search("paris", app="app", user="user")) == ["e2", "e1"]
    assert ids(searched.search("paris", app="app", user="other", session="t")) == ["e3"]
    assert ids(searched.search("paris", app="none")) == []
    with pytest.raises(seslite.NotFoundError):
        next(searched.search("paris", app="app", user="user", session="none"))
    with pytest.raises(seslite.MisuseError):
        next(searched.search("paris", app="app", session="s"))


def test_the_options(searched, session):
    def found(words, **options):
        return ids(searched.search(words, app="app", **options))

    assert found("paris TRAIN") == ["e2", "e1"] and found("train cafe") == ["e2"] == found("cafe")
    assert found("noon cafe nowhere", any=True) == ["e2", "e1"] and found("noon nowhere") == []
    assert found("to paris", phrase=True) == ["e2", "e1"] and found("paris to", phrase=True) == []
    assert found("中文") == ["e3"]
    assert found("paris", since_us=(FAR + 2) * 1_000_000) == ["e3", "e2"]
    assert found("paris", before_us=(FAR + 2) * 1_000_000) == ["e1"]
    session.rewind(seslite.Point.invocation("i2"))
    assert found("train", live=True) == ["e1"] and found("train") == ["e2", "e1"]


def test_a_filter_selects_sessions(store, session):
    for n in range(1, 4):
        made = store.create(("app", "user", f"t{n}"), labels={"topic": "travel", "n": str(n)})
        made.append(said("paris", n))
    session.append(said("paris", 4))

    def found(**wanted):
        return ids(store.search("paris", app="app", user="user", filter=Filter(**wanted)))

    assert found() == ["e4", "e3", "e2", "e1"]
    assert (
        found(label="topic")
        == found(label="topic", label_value="travel")
        == found(id_prefix="t")
        == ["e3", "e2", "e1"]
    )
    assert found(label="n", label_value="2") == ["e2"] and found(label="topic", label_value="n") == []
    late = (FAR + 3) * 1_000_000
    assert found(updated_since_us=late) == ["e4", "e3"] and found(updated_before_us=late) == ["e2", "e1"]
    assert found(id_prefix="t", updated_since_us=late) == ["e3"]
    assert ids(store.search("paris", app="app", filter=Filter(label="topic"), limit=2)) == ["e3", "e2"]
    store.append_batch(("app", "user", "t1"), [said("paris", n) for n in range(10, 60)])
    assert found(label="n", label_value="1") == [*(f"e{n}" for n in reversed(range(10, 60))), "e1"]


def test_a_filter_that_does_not_fit_is_refused(searched):
    for wanted in ({"label_value": "travel"}, {"id_prefix": "s"}):
        with pytest.raises(seslite.MisuseError):
            next(searched.search("paris", app="app", filter=Filter(**wanted)))
    with pytest.raises(seslite.MisuseError):
        next(searched.search("paris", app="app", user="user", session="s", filter=Filter()))


def test_a_hit_says_where_it_is(searched):
    (hit,) = searched.search("PARIS", app="app", user="other", snippet_bytes=100)
    assert hit == (
        "other",
        "t",
        "e3",
        "user",
        1,
        (FAR + 3) * 1_000_000,
        "我写中文, ängstlich paris",
        16,
        None,
        0,
    )
    assert hit.snippet[hit.snippet_found :] == "paris" and isinstance(hit, seslite.Hit)
    assert searched.event_get(("app", hit.user, hit.session), hit.id).seq == hit.seq
    (hit,) = searched.search("angstlich", app="app", snippet_bytes=9)
    assert hit.snippet[hit.snippet_found :].startswith("ä") and len(hit.snippet.encode()) <= 9
    (hit,) = searched.search("angstlich", app="app")
    assert (hit.snippet, hit.snippet_found) == (None, 0)


def test_hits_are_read_page_by_page(store, session):
    session.append_batch([said("word", n) for n in range(50)])
    newest_first = [f"e{n}" for n in reversed(range(50))]
    assert ids(store.search("word", app="app")) == newest_first
    for limit in (1, 20, 33, 50, 5000):
        assert ids(store.search("word", app="app", limit=limit)) == newest_first[:limit]
    hits = store.search("word", app="app")
    assert next(hits).id == "e49"
    session.cut(seslite.Point.seq(10))
    assert ids(hits) == [*newest_first[1:20], *newest_first[40:]]  # the second page comes after the cut


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("", {}), ("...", {}), ("a\ud800", {}), (5, {}), ("a", {"limit": 0}), ("a", {"snippet_bytes": 65537}),
        ("a", {"snippet_bytes": -1}), ("a", {"since_us": 2**63}), ("a", {"user": "a\0b"}),
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_refused(store, words, options):
    with pytest.raises(seslite.InvalidError):
        next(store.search(words, app="app", **options))


def test_too_many_words_are_refused(store):
    with pytest.raises(seslite.LimitError):
        next(store.search("a " * 101, app="app"))
    with pytest.raises(TypeError):
        store.search("a", app="app", sincere=1)


def test_the_limits_within_which_a_page_is_read_count(searched):
    hits = searched.search("paris", app="app")
    with searched.limits() as limits:
        limits.cancel()
        with pytest.raises(seslite.CallInterruptedError):
            next(hits)


def test_a_search_is_awaited(tmp_path):
    async def case():
        async with await AsyncStore.open(tmp_path / "a.db", synchronous="normal") as store:
            await store.create(KEY)
            await store.append_batch(KEY, [said("word", n) for n in range(45)])
            assert [hit.seq async for hit in store.search("word", app="app", user="user")] == list(
                range(45, 0, -1)
            )
            assert [hit.id async for hit in store.search("word", app="app", limit=2)] == ["e44", "e43"]
            assert [hit async for hit in store.search("word", app="app", filter=Filter(label="none"))] == []
            with store.limits() as limits:
                limits.cancel()
                with pytest.raises(seslite.CallInterruptedError):
                    await anext(store.search("word", app="app"))
            with pytest.raises(seslite.InvalidError):
                await anext(store.search("", app="app"))

    asyncio.run(case())


def test_a_search_asks_the_index(searched):
    hits = searched.search("paris", app="app")
    assert hits.indexed is None and ids(hits) == ["e3", "e2", "e1"] and hits.indexed is False
    assert searched.index() == 4 and searched.index() == 0
    hits = searched.search("paris", app="app")
    assert ids(hits) == ["e3", "e2", "e1"] and hits.indexed is True
    searched.append(KEY, said("Paris again", 5))  # which the search adds
    assert searched.search("again", app="app").__next__().id == "e5" and searched.index() == 0
    assert searched.index(rebuild=True) == 5
    assert searched.index(drop=True) == 0
    hits = searched.search("paris", app="app")
    assert ids(hits) == ["e5", "e2", "e1", "e3"] and hits.indexed is False
    with pytest.raises(seslite.MisuseError):
        searched.index(rebuild=True, drop=True)


def test_the_index_tells_how_far_it_is(store, session):
    session.append_batch([said("word " * 20_000, n) for n in range(30)])  # more than a step
    told = []
    assert store.index(progress=lambda done, total: told.append((done, total))) == 30
    assert len(told) > 1 and told == sorted(told) and told[-1][0] == 30

    def stop(done, total):
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        store.index(rebuild=True, progress=stop)
    assert 0 < store.index() < 30  # what was added before stays


def test_an_index_is_awaited(tmp_path):
    async def case():
        async with await AsyncStore.open(tmp_path / "a.db", synchronous="normal") as store:
            await store.create(KEY)
            await store.append(KEY, said("word", 1))
            assert await store.index() == 1
            hits = store.search("word", app="app")
            assert hits.indexed is None and [hit.id async for hit in hits] == ["e1"] and hits.indexed is True

    asyncio.run(case())


WITHOUT_FTS5 = """
import ctypes, sys
import seslite
from seslite import _seslite

sqlite = ctypes.CDLL(_seslite.__file__)  # finds what the extension is linked with

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
def drop_modules(db, message, api):
    return sqlite.sqlite3_drop_modules(ctypes.c_void_p(db), None)

assert sqlite.sqlite3_auto_extension(drop_modules) == 0
with seslite.Store(sys.argv[1]) as store:
    store.create(("app", "user", "s")).append({"content": {"parts": [{"text": "Paris"}]}})
    try:
        store.index()
    except seslite.UnsupportedError as error:
        print(error)
    assert [hit.seq for hit in store.search("paris", app="app")] == [1]
"""


@pytest.mark.skipif(HAS_OWN_SQLITE, reason="no function of its own copy can be called from outside")
def test_without_fts5_there_is_no_index(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_FTS5, tmp_path / "a.db"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "FTS5" in ran.stdout


def test_a_hit_has_its_event(searched):
    (hit,) = searched.search("PARIS", app="app", user="other", json=True)
    assert hit.json == searched.event_get(("app", hit.user, hit.session), hit.id).json


def test_memory_is_found_listed_and_forgotten(store):
    talk, user = ("app", "user", "talk"), ("app", "user")
    store.create(talk)
    for name, text in (("a", "red tea"), ("b", "tea pot")):
        store.append(talk, {"id": name, "timestamp": 5, "content": {"parts": [{"text": text}]}})
    store.memory_add_session(talk, 1)
    assert (
        store.get(talk).remembered_seq == 1
        and store.count("app", filter=seslite.Filter(remembered=True)) == 1
    )
    noted = {"id": "n", "timestamp": 9, "content": {"parts": [{"text": "a pot of tea"}]}}
    assert [store.memory_add_events(user, [noted]) for _ in range(2)] == [1, 0]
    store.memory_add(user, "tea of a project", project="p")
    found = store.memory_search("pot tea", app="app", user="user")
    assert [(hit.id, hit.score, hit.session) for hit in found] == [
        ("n", 1.0, "memory:notes"),
        ("a", 0.5, "talk"),
    ]
    assert len(store.memory_list(app="app", user="user", project="p")) == 3
    assert [hit.id for hit in store.memory_list(app="app", user="user", limit=1)] == ["n"]
    store.memory_forget_events(("app", "user", "memory:notes"), [1])
    assert [hit.id for hit in store.memory_search("tea", app="app", user="user")] == ["a"]
    forgotten = store.memory_forget(user, receipt=True)
    assert forgotten.total == forgotten.erased.sessions == 2
    assert store.memory_list(app="app", user="user", project="p") == []
