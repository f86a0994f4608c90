"""Every call of the library can be reached, and does in Python what it does in C."""

import io
import json
import pathlib
import re

import pytest
from common import KEY

import seslite
from seslite import Filter, Key, Point, Range

FAR = 200_000_000_000_000_000  # a time to come
HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(seslite.__file__).parent


def event(delta=None, invocation="i1", **fields):
    return {"author": "user", "invocationId": invocation, **fields, "actions": {"stateDelta": delta or {}}}


def test_every_call_of_the_headers_is_used():
    headers = "".join((HERE.parent / "csrc" / name).read_text("utf-8") for name in ("seslite.h", "seslite_agent.h"))
    declared = set(re.findall(r"^SES_API [^;(]*?\b(ses_\w+)\(", headers, re.M))
    used = set(re.findall(r"lib\.(ses_\w+)", "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))))
    # Codes have exceptions with names.
    assert declared - used == {"ses_code_name"}
    assert len(declared) > 120


def test_every_code_has_an_exception():
    from seslite._ffi import ffi, lib

    for code in range(-22, 0):
        kind = seslite.errors.by_code(code)
        assert kind.name == ffi.string(lib.ses_code_name(code)).decode() and kind.code == code
        assert issubclass(kind, seslite.Error)
    assert seslite.errors.make(-99, "m").code == -99


def test_the_version_is_the_header_s():
    assert re.fullmatch(r"\d+\.\d+\.\d+", seslite.__version__)
    assert seslite.REMOVED == "__ADK_SENTINEL_REMOVED__"


def test_a_session_tells_what_it_is(store, session):
    assert (session.app, session.user, session.id) == ("app", "user", "s") and session.key == KEY
    assert (session.version, session.last_seq, session.stored, session.base_seq) == (0, 0, 0, 0)
    assert session.created_us == session.updated_us > 1e15 and session.expires_us is None and session.parent is None
    assert session.title is None and session.labels == {} and session.label("x") is None
    made = store.create(Key("app", "user"), title="T", labels={"b": "2", "a": "1"}, create_us=5, expires_us=FAR)
    assert (made.title, made.labels, made.label("a"), made.created_us, made.expires_us) == ("T", {"a": "1", "b": "2"}, "1", 5, FAR)
    assert len(made.id) == 36
    made.set_title("U"), made.set_labels({"a": None, "c": "ü"}), made.set_expiry(None)
    assert (made.title, made.labels, made.expires_us) == ("U", {"b": "2", "c": "ü"}, None)
    store.set_title(made.key, None), store.set_labels(made.key, {"b": None}), store.set_expiry(made.key, FAR)
    made.refresh()
    assert (made.title, made.labels, made.expires_us) == (None, {"c": "ü"}, FAR)
    assert "at version 0" in repr(session)


def test_json_goes_through_with_its_bytes(store, session):
    text = b' {"id":"e1","timestamp":1,"author":"user","x":[9007199254740993,1.10,-0.0,1e400,"a\\u0000b","\\ud800"]} '
    appended = session.append(text)
    assert (appended.status, appended.seq, appended.version, appended.time_us, appended.made_id) == (0, 1, 1, 1_000_000, "")
    assert session.events[0].json == text == store.get(KEY).events_json()[0]
    assert session.append(text.decode()).duplicate
    assert session.append({"partial": True}).partial
    assert session.events[0].load()["x"][0] == 9007199254740993


def test_state_is_read_in_each_form(store, session):
    assert session.state_json() == b'{"app:a":[1,2],"user:u":"\xc3\xa4","k":1}' == store.state_json(KEY)
    assert session.state == {"app:a": [1, 2], "user:u": "ä", "k": 1}
    assert session.state_get("k") == b"1" == store.state_get(KEY, "k") and session.state_get("x") is None is store.state_get(
        KEY, "x"
    )
    assert session.state_get_string("user:u") == "ä" and session.state_get_string("x") is None
    session.append(event({"b": True, "f": 2.5, "big": 2**64, "temp:t": "now"}))
    assert (session.state_get_int("k"), session.state_get_float("f"), session.state_get_bool("b")) == (1, 2.5, True)
    assert session.state_get_int("x") is None and session.state_get_string("temp:t") == "now"
    with pytest.raises(seslite.StateTypeError):
        session.state_get_int("f")
    with pytest.raises(seslite.StateRangeError):
        session.state_get_int("big")
    assert dict(session.state_items())["big"] == b"18446744073709551616"
    assert session.state_initial() == b'{"k":1,"user:u":"\xc3\xa4","app:a":[1,2]}' == store.state_initial(KEY)
    assert store.shared_state_json("app") == b'{"a":[1,2]}' and store.shared_state_get("app", "user", "u") == b'"\xc3\xa4"'
    store.shared_state_change("app", "user", {"u": 2}, expected={"u": "ä"})
    with pytest.raises(seslite.StaleError):
        store.shared_state_change("app", "user", {"u": 3}, expected={"u": 9})
    assert store.shared_state_json("app", "user") == b'{"u":2}' and store.shared_state_get("app", None, "x") is None


def test_a_stale_handle_tells_the_version(store, session):
    other = store.get(KEY)
    other.append(event({"k": 2}))
    with pytest.raises(seslite.StaleError) as stale:
        session.append(event())
    assert stale.value.version == 1 and stale.value.code == -7 and "refresh" in stale.value.message
    with pytest.raises(seslite.StaleError) as stale:
        store.append(KEY, event(), version=0)
    assert stale.value.key == KEY and stale.value.version == 1
    session.refresh()
    assert session.state["k"] == 2
    assert session.append_batch([event(), event({"k": 3})])[1].seq == 3
    assert other.append(event(), anyway=True).seq == 4
    assert [each.seq for each in store.append_batch(KEY, [event()], version=4)] == [5] and store.append_batch(KEY, []) == []
    with pytest.raises(seslite.InvalidError) as refused:
        store.append_batch(KEY, [event(), {"id": 5}])
    assert refused.value.index == 1
    assert store.append(KEY, event(), expected={"user:u": "ä"}, delta={"user:u": 1}).seq == 6


def test_events_are_a_sequence(store, session):
    for n in range(5):
        session.append(event(id=f"e{n}", timestamp=n + 1, branch="b" if n else None))
    assert [each.id for each in session.events] == ["e0", "e1", "e2", "e3", "e4"] and len(session.events) == 5
    assert session.events[-1].id == "e4" and [each.id for each in session.events[1:3]] == ["e1", "e2"]
    assert session.events[0].branch is None and session.events[1].branch == "b"
    for bad in (5, -6):
        with pytest.raises(IndexError):
            session.events[bad]

    def read(**chosen):
        return [each.id for each in store.get(KEY, Range(**chosen)).events]

    assert read(newest=2) == ["e3", "e4"] and read(newest=0) == read(none=True) == [] and read(since_us=4_000_000) == ["e3", "e4"]
    assert read(first_seq=2, last_seq=3) == ["e1", "e2"] and read(live=True, newest=1) == ["e4"]
    with store.events(KEY, Range(first_seq=2), backward=True) as cursor:
        assert [each.id for each in cursor] == ["e4", "e3", "e2", "e1"]
    assert json.loads(session.json())["id"] == "s"


def test_invocations_hold_temp_state(session):
    assert session.invocation_id is None
    name = session.invocation_begin()
    assert name.startswith("e-") and session.invocation_id == name
    session.append(event({"temp:t": 1}, invocation=name))
    assert session.state_get("temp:t") == b"1"
    session.invocation_end()
    assert session.state_get("temp:t") is None
    assert session.invocation_begin("mine") == "mine"


def test_history_goes_back_and_forth(store, session):
    for n in range(3):
        session.append(event({"n": n}, invocation=f"i{n}", id=f"e{n}", content={"role": "user", "parts": [{"text": "hi"}]}))
    assert session.state_as_of(Point.seq(1)) == b'{"k":1,"n":0}' == store.state_as_of(KEY, Point.event("e0"))
    assert session.state_as_of(Point.seq(1), shared=True) == b'{"app:a":[1,2],"user:u":"\xc3\xa4","k":1,"n":0}'
    assert session.rewind(Point.invocation("i1"), artifact_delta={"f": 1}).status == 0 and session.state["n"] == 0
    assert session.rewind(Point.invocation("i1")).unchanged
    session.redo()
    assert session.state["n"] == 2
    assert store.rewind(KEY, Point.last_turn()).seq == 6 and store.redo(KEY, anyway=True).seq == 7
    session.refresh()
    fork = session.fork(("app", "user", "f"), Point.seq(2))
    assert fork.parent == (KEY, 2) and fork.stored == 2 and fork.state["n"] == 1
    assert store.fork(KEY, None, Point.seq(0)).stored == 0
    assert store.fork(KEY, ("app", "other", "f"), other_user=True, events=seslite.NO_EVENTS).user == "other"
    assert session.cut(Point.seq(3)).total == 4 and store.cut(KEY, Point.now()).total == 0
    assert session.prune(keep=1).total == 2 and session.state["n"] == 2 and store.prune(KEY, last_seq=3).total == 1
    assert store.prune(KEY, before_us=1, compacted=True, limit=5).total == 0
    session.refresh()
    assert session.base_seq == 3
    assert store.cut(KEY, None, version=session.version, secure=True).total == 0


def test_lists_go_page_by_page(store):
    for n in range(5):
        store.create(Key("app", "user", f"s{n}"), {"n": n}, labels={"even": "yes"} if n % 2 == 0 else None, create_us=n + 1)
    store.create(Key("app2", "user2", "t"))
    page = store.list("app", "user", order="oldest", limit=2)
    assert [each.id for each in page] == ["s0", "s1"] and page.token
    assert [each.id for each in store.list("app", "user", order="oldest", limit=9, token=page.token)] == ["s2", "s3", "s4"]
    assert [each.id for each in store.sessions("app")] == [f"s{n}" for n in range(5)]
    assert page[1].state == {"n": 1} and page[0].events[:] == []
    assert store.list("app", state=False)[0].state == {}
    evens = Filter(label="even", label_value="yes")
    assert [each.id for each in store.sessions("app", "user", filter=evens)] == ["s0", "s2", "s4"] and store.count(
        "app", filter=evens
    ) == 3
    assert store.count("app", "user", Filter(id_prefix="s1")) == 1
    assert store.count("app", None, Filter(updated_since_us=2, updated_before_us=4)) == 2
    assert list(store.apps()) == ["app", "app2"] and list(store.apps("app2")) == ["app2"] and list(store.users("app2")) == ["user2"]
    with pytest.raises(seslite.InvalidError):
        store.list("app", order="best")
    with pytest.raises(seslite.InvalidError):
        store.list("app", token="made up")
    del page  # the sessions of a page keep it
    kept = store.list("app", "user")[3]
    assert kept.id == "s1" and kept.state == {"n": 1}
    kept.close()


def test_deleting_counts(store, session):
    assert store.delete(KEY).total == 1 and store.delete(KEY, secure=True).total == 0
    store.create(KEY)
    assert store.delete_user("app", "user") == (1, False, 1)
    store.create(KEY, expires_us=FAR)
    assert store.expire("app", now_us=FAR + 1).total == 1 and store.expire(idle_us=1, sessions_per_user=1, limit=5).total == 0
    store.create(KEY)
    assert store.delete_app("app", limit=1)[:2] == (1, True)
    while store.delete_app("app").more:
        pass
    assert list(store.apps()) == []


def test_leases_keep_turns(store, session):
    lease = store.lease_take(KEY, "one", duration_us=10_000_000)
    assert lease.token >= 1 and store.lease_renew(KEY, lease.token).until_us > lease.until_us
    with pytest.raises(seslite.BusyError):
        store.lease_take(KEY, "two", wait_ms=-1)
    assert session.append(event(), lease=lease.token).seq == 1
    store.lease_release(KEY, lease.token)
    with store.lease(KEY, "two") as second:
        assert second.token > lease.token
        with pytest.raises(seslite.LeasedError):
            session.append(event(), lease=lease.token)
    assert store.lease_take(KEY, "three", wait_ms=-1)


def test_following_gives_each_event_once(store, session):
    session.append(event(id="e1"))
    with store.follow(KEY) as follower:
        assert follower.next(0).id == "e1" and follower.next(0.05) is None
        place = follower.place
        assert follower.session == "s" and place == session.place
        session.append(event(id="e2"))
        assert follower.next().id == "e2"
        follower.wake()
        assert list(follower) == []
        session.cut(Point.seq(1))
        with pytest.raises(seslite.ResetError) as reset:
            follower.next(1)
        assert reset.value.session == "s" and reset.value.code == 8
    with store.follow(("app", "user", None), new=True) as everything:
        assert everything.next(0) is None
        session.refresh()
        session.append(event(id="e3"))
        assert everything.next(5).id == "e3"
    with store.follow(KEY, place=place) as follower, pytest.raises(seslite.ResetError):
        follower.next(0)
    with store.follow(KEY, after_seq=0) as follower:
        assert follower.next(0).id == "e1"
    with pytest.raises(seslite.MisuseError):
        follower.next(0)


def test_a_store_tells_of_itself(store, session, tmp_path):
    info = store.info()
    assert (info.engine, info.schema_version, info.read_only, info.journal_mode) == ("sqlite", seslite.SCHEMA_VERSION, False, "wal")
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
        assert other.get(KEY).events_json() == session.events_json() and other.state_json(KEY) == store.state_json(KEY)
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


def test_a_session_as_it_was_is_loaded(store):
    key = Key("app", "user", "old")
    events = (
        seslite.LoadedEvent(json.dumps(event({"n": n}, id=f"e{n}", timestamp=n + 1)), seq=n * 2 + 5, updated_us=None)
        for n in range(3)
    )
    loaded = store.load(
        key, events, initial_state={"a": 1}, state={"a": 1, "b": 2, "n": 2}, created_us=1, updated_us=9_000_000, version=20, last_seq=12,
        title="T", labels={"l": "v"}, parent=(Key("app", "user", "p"), 3), base_seq=4, base=[seslite.BaseValue("a", 1, 0), seslite.BaseValue("b", b"2", 3)],
    )  # fmt: skip
    assert loaded == ("new", 3, 20, "old")
    session = store.get(key)
    assert ([each.seq for each in session.events], session.base_seq, session.last_seq) == ([5, 7, 9], 4, 12)
    assert (session.title, session.labels, session.parent, session.version) == ("T", {"l": "v"}, (Key("app", "user", "p"), 3), 20)
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


def test_events_are_built_and_read(store):
    builder = seslite.Builder(store, "agent", "i1")
    builder.thought("hm").text("let me see").call("f", {"x": 1}, id="c1").part({"inlineData": {}}).delta({"k": 1})
    builder.field("customMetadata", {"a": 1}).field_string("branch", "b").action("escalate", True).action_string(
        "transferToAgent", "t"
    )
    content = seslite.read_event(store, builder.json())
    assert (content.text, content.is_final, content.calls) == ("let me see", False, [seslite.Function("c1", "f", b'{"x":1}')])
    assert [(part.text, part.thought) for part in content.parts] == [
        ("hm", True),
        ("let me see", False),
        (None, False),
        (None, False),
    ]
    assert (
        content.state_delta == b'{"k":1}'
        and b"transferToAgent" in content.actions
        and content.usage is None
        and content.compaction is None
    )
    answer = (
        seslite.Builder(store, "agent", "i1")
        .response_to(content.calls[0], {"ok": 1})
        .response("g", id="c2")
        .interrupted(content.calls[0])
    )
    responses = seslite.read_event(store, answer.json()).responses
    assert [each.json for each in responses] == [b'{"ok":1}', b"{}", b'{"error":"interrupted"}'] and responses[0].id == "c1"
    whole = seslite.read_event(
        store,
        seslite.Builder(store, "a")
        .content({"parts": [{"text": "x"}]})
        .field("errorCode", '"E"')
        .field_string("errorMessage", "m")
        .json(),
    )
    assert (whole.json, whole.error_code, whole.error_message, whole.is_final) == (b'{"parts":[{"text":"x"}]}', "E", "m", True)
    read = seslite.read_event(
        store,
        {
            "usageMetadata": {"promptTokenCount": 5},
            "actions": {"compaction": {"startTimestamp": 1, "endTimestamp": 2, "compactedContent": {"parts": []}}},
        },
    )
    assert read.usage == (5, -1, -1, -1, -1) and read.compaction == (1_000_000, 2_000_000, b'{"parts":[]}')
    builder.close()
    with pytest.raises(seslite.MisuseError):
        builder.text("x")


def test_context_and_pending_calls_are_read(store, session):
    session.append({"author": "user", "invocationId": "i1", "content": {"role": "user", "parts": [{"text": "hi"}]}})
    session.append(seslite.Builder(store, "agent", "i1").call("f", id="c1").json())
    session.append(event({"only": "state"}))
    assert [each.content for each in seslite.read_context(session)][0] == b'{"role":"user","parts":[{"text":"hi"}]}'
    assert len(seslite.read_context((store, KEY), visible=True)) == 2
    (pending,) = seslite.pending_calls(session)
    assert (pending.call.name, pending.event.author, pending.long_running) == ("f", "agent", False)
    session.append(seslite.Builder(store, pending.event.author, "i1").interrupted(pending.call).json())
    assert seslite.pending_calls((store, KEY)) == []


def test_a_view_tracks_state(store, session):
    with session.track() as view:
        view["k"] = {"deep": [1, None]}
        view.set_json("raw", b"1.10")
        view.set_string("text", "ä\0b")
        view.set_int("int", 2**63 - 1)
        view.set_float("float", 0.1)
        view.set_bool("bool", True)
        del view["user:u"]
        assert (
            view["k"] == {"deep": [1, None]} and view.get("x", 5) == 5 and "raw" in view and "user:u" not in view and view.changed
        )
        assert (view.get_json("raw"), view.get_string("text"), view.get_int("int"), view.get_float("float"), view.get_bool("bool")) == (
            b"1.10", "ä\0b", 2**63 - 1, 0.1, True,
        )  # fmt: skip
        assert view.get_int("x") is None and view.get_string("x") is None and view.get_bool("x") is None and view.session is session
        with pytest.raises(KeyError):
            view["x"]
        assert json.loads(view.delta())["raw"] == 1.1 and b'"raw":1.10' in view.json()
        assert view.render("{raw} {text} {x?}|{artifact.f}", artifacts=lambda name: f"<{name}>") == "1.10 ä\0b |<f>"
        view.append(event({"k": 0}))
        assert not view.changed and session.state["k"] == {"deep": [1, None]} and "user:u" not in session.state
        view["x"] = 1
        view.discard()
        assert not view.changed
        final = seslite.Builder(store, "agent").text("the end").json()
        assert (
            seslite.output_delta(store, final, "agent", "out") == b'{"out":"the end"}'
            and seslite.output_delta(store, final, "other", "out") is None
        )
        view.append_output(final, "agent", "out")
    assert seslite.render(session, "{out}{{literal}}") == "the end{{literal}}"
    assert seslite.render(session, "{{out}}", adk_braces=True) == "the end"
    with pytest.raises(seslite.NotFoundError, match="missing"):
        seslite.render(session, "{missing}")
    with session.track(read_only=True) as view, pytest.raises(seslite.ReadOnlyError):
        view["k"] = 1


def test_a_clock_and_ids_can_be_given(tmp_path):
    names = iter(f"id{n}" for n in range(9))
    with seslite.Store(tmp_path / "a.db", clock=lambda: 77, make_id=lambda: next(names)) as store:
        session = store.create(("a", "u"))
        assert (session.id, session.created_us) == ("id0", 77)
        assert session.append({"author": "x"})[3:] == (77, 77, "id1")
