"""What goes in and out of a store, and its upkeep."""

import io
import json

import pytest
from common import KEY, event

import seslite
from seslite import Key


def test_a_store_tells_of_itself(store, session, tmp_path):
    info = store.info()
    assert (info.engine, info.schema_version, info.read_only, info.journal_mode) == (
        "sqlite",
        seslite.SCHEMA_VERSION,
        False,
        "wal",
    )
    assert store.stats()["commits"] >= 1 and "file_bytes" in store.stats() and store.space()[0] > 0
    assert store.maintain() is False and len(store.make_id()) == 36 and store.quote('a"\n') == b'"a\\"\\n"'
    seen = []
    store.backup(tmp_path / "copy.db", progress=lambda done, total: seen.append((done, total)))
    assert seen
    with pytest.raises(seslite.ExistsError):
        store.backup(tmp_path / "copy.db")
    store.backup(tmp_path / "copy.db", replace=True, compact=True)
    with seslite.Store(tmp_path / "copy.db", read_only=True) as copy:
        assert copy.state_json(KEY) == store.state_json(KEY) and copy.info().read_only
        with pytest.raises(seslite.ReadOnlyError):
            copy.create(("a", "b", "c"))
    with store.copy_to_memory() as memory:
        memory.delete(KEY)
        assert memory.count("app") == 0 and store.count("app") == 1
    assert store.check("log", progress=lambda done, total: None) == []


def test_a_check_names_problems(store, session, tmp_path):
    import sqlite3

    session.append(event({"k": 2}))
    store.close()
    with sqlite3.connect(tmp_path / "store.db") as damaged:
        damaged.execute("UPDATE session_state SET value = '3'")
    damaged.close()
    with seslite.Store(tmp_path / "store.db") as again:
        (problem, *_) = again.check()
        assert problem.kind == "state" and problem.session == "s" and problem.message
        with pytest.raises(seslite.InvalidError):
            again.check("deeply")


def test_json_lines_make_the_same_store(store, session, tmp_path):
    session.append(event({"k": 2}))
    lines, told = io.BytesIO(), []
    store.export(lines, progress=lambda sessions, events: told.append((sessions, events)))
    assert told[-1] == (1, 1)
    with seslite.Store(tmp_path / "other.db") as other:
        lines.seek(0)
        items = []
        counts = other.import_lines(lines, report=items.append)
        assert (counts["made"], counts["events"], items[0].outcome, items[0].session) == (1, 1, "new", "s")
        assert other.get(KEY).events_json() == session.events_json() and other.state_json(
            KEY
        ) == store.state_json(KEY)
        other.append(KEY, event())
        lines.seek(0)
        with pytest.raises(seslite.ExistsError):
            other.import_lines(lines.read)
        lines.seek(0)
        assert other.import_lines(lines, skip=True, report=items.append)["refused"] == 1
        assert isinstance(items[-1].error, seslite.ExistsError)
        lines.seek(0)
        assert other.import_lines(lines, app="moved", user="u2", rename=True, dry_run=True)["made"] == 1
    pieces = []
    store.export(pieces.append, app="app", user="user", session="s", only_sessions=True)
    assert b"".join(pieces).count(b"\n") >= 3


def test_an_export_goes_on_after_damage(store, session, tmp_path):
    import sqlite3

    session.append(event())
    with store.create(("app", "user", "torn")) as torn:
        torn.append(event())
        torn.artifact_save("a", b"")
    store.artifact_save(KEY, "new", b"")
    store.close()
    with sqlite3.connect(tmp_path / "store.db") as damaged:
        ((trigger,),) = damaged.execute(
            "SELECT sql FROM sqlite_schema WHERE name = 'guard_events_update'"
        ).fetchall()
        damaged.executescript(
            "DROP TRIGGER guard_events_update; UPDATE artifacts SET kind = 9 WHERE name = 'new'; UPDATE events SET body = '[]'"
            f" WHERE session_id = (SELECT id FROM sessions WHERE name = 'torn'); {trigger}"
        )
    damaged.close()
    with seslite.Store(tmp_path / "store.db") as again:
        lines, left_out = io.BytesIO(), []
        with pytest.raises(seslite.CorruptError):
            again.export(io.BytesIO())
        with pytest.raises(seslite.MisuseError):
            again.export(io.BytesIO(), skip=True)
        again.export(lines, skip=True, left_out=left_out.append)
        assert [type(each) for each in left_out] == [seslite.UnsupportedError, seslite.CorruptError]
        assert (
            "new" in left_out[0].message and "torn" in left_out[1].message and b"torn" not in lines.getvalue()
        )
        assert [each.kind for each in again.artifacts(KEY)] == ["9"]
        assert {"newer"} < {each.kind for each in again.check()}
        left_out.clear()
        again.export(lines, session="s", user="user", app="app", left_out=left_out.append)
        assert [type(each) for each in left_out] == [seslite.UnsupportedError]

        def refuse(why):
            raise LookupError(why.message)

        with pytest.raises(LookupError, match="new"):
            again.export(io.BytesIO(), skip=True, left_out=refuse)


def test_a_loaded_session_follows_what_is_given(store):
    key, given = Key("app", "user", "old"), {"created_us": 1, "update": True, "origin": 4711}
    assert store.load(key, title="one", **given).outcome == "new"
    with pytest.raises(seslite.ExistsError):
        store.load(key, title="two", **given)
    assert store.load(key, title="two", follow=True, **given).outcome == "updated"
    assert store.get(key).title == "two"
    lines = io.BytesIO()
    store.export(lines)
    assert b'"origin":4711' in lines.getvalue()
    text = store.get(key).json()
    store.set_title(key, "three")
    assert (
        store.load_json(text, update=True, follow=True).outcome == "updated" and store.get(key).title is None
    )


def test_a_session_as_it_was_is_loaded(store):
    key = Key("app", "user", "old")
    events = (
        seslite.LoadedEvent(
            json.dumps(event({"n": n}, id=f"e{n}", timestamp=n + 1)), seq=n * 2 + 5, updated_us=None
        )
        for n in range(3)
    )
    loaded = store.load(
        key, events, initial_state={"a": 1}, state={"a": 1, "b": 2, "n": 2}, created_us=1, updated_us=9_000_000, version=20, last_seq=12,
        title="T", labels={"l": "v"}, parent=(Key("app", "user", "p"), 3), base_seq=4, base=[seslite.BaseValue("a", 1, 0), seslite.BaseValue("b", b"2", 3)],
    )  # fmt: skip
    assert loaded == ("new", 3, 20, "old")
    session = store.get(key)
    assert ([each.seq for each in session.events], session.base_seq, session.last_seq) == ([5, 7, 9], 4, 12)
    assert (session.title, session.labels, session.parent, session.version) == (
        "T",
        {"l": "v"},
        (Key("app", "user", "p"), 3),
        20,
    )
    assert store.load(key, [{"id": "x", "author": ""}], rename=True).session == "old~2"
    assert store.load(key, ['{"id":"x"}'], replace=True, dry_run=True).outcome == "replaced"
    with pytest.raises(seslite.ExistsError):
        store.load(key)


def test_the_json_of_a_session_is_loaded(store):
    session = store.create(("app", "user", "s"), {"user:u": 1, "k": 1.5})
    session.append(event({"k": 2}, id="e"))
    text = session.json()
    assert store.load_json(text, ("copy", "carol", "s")) == ("new", 1, 1, "s")
    assert store.load_json(text, ("copy", "carol", "s")).outcome == "equal"
    assert store.get(("copy", "carol", "s")).state == {"k": 2}
    assert store.load_json(text, ("copy", "carol", "t"), shared=True).outcome == "new"
    assert store.get(("copy", "carol", "t")).state == {"user:u": 1, "k": 2}
    assert store.load_json(text, rename=True, dry_run=True).session == "s~2"
    with pytest.raises(seslite.InvalidError):
        store.load_json({"id": "s"})
