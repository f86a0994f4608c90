"""Bad input raises our error with the library's words or ours, and never reaches further."""

import math

import pytest
from common import KEY

import seslite
from seslite import Key, Range


@pytest.mark.parametrize("name", ["a\0b", "\0", "x" * 513, "", "\ud800"])
def test_ids_that_are_none_are_refused(store, name):
    for parts in ((name, "u", "s"), ("a", name, "s"), ("a", "u", name)):
        with pytest.raises(seslite.InvalidError) as refused:
            store.get_or_create(parts)
        assert str(refused.value)
    with pytest.raises(seslite.InvalidError):
        store.shared_state_json(name)
    with pytest.raises(seslite.InvalidError):
        store.lease_take(KEY, name)
    assert store.count("a") == 0


def test_a_nul_is_named_before_the_call(store, session):
    with pytest.raises(seslite.InvalidError, match="the session's id holds a NUL at character 1"):
        store.get(("a", "u", "s\0ecret"))
    for call in (
        lambda: session.state_get("k\0x"),
        lambda: session.set_title("t\0"),
        lambda: session.set_labels({"l\0": "v"}),
        lambda: session.track().set_int("k\0x", 1),
        lambda: seslite.Builder(store, "a\0"),
        lambda: seslite.Store("a\0.db"),
        lambda: store.list("a", token="t\0"),
        lambda: store.backup("x\0"),
    ):
        with pytest.raises(seslite.InvalidError, match="NUL"):
            call()


@pytest.mark.parametrize("value", [5, b"a", None, ["a"], 1.5])
def test_ids_are_texts(store, value):
    with pytest.raises(seslite.InvalidError, match="must be a str"):
        Key(value, "u", "s")


def test_lone_surrogates_live_in_json_only_as_escapes(store, session):
    session.append({"author": "x", "actions": {"stateDelta": {"k": "\ud800"}}})
    assert session.state_get("k") == b'"\\ud800"' and session.state["k"] == "\ud800"
    with pytest.raises(seslite.StateRangeError):
        session.state_get_string("k")
    with pytest.raises(seslite.InvalidError, match="lone surrogate at character 11"):
        session.append('{"author":"\ud800"}')
    with pytest.raises(seslite.InvalidError):
        session.append({"author": "\ud800"})  # a field that the library reads
    with pytest.raises(seslite.InvalidError):
        session.append({"actions": {"stateDelta": {"\ud800": 1}}})
    assert session.stored == 1


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, {1, 2}, object(), len, b"x", {"deep": [math.nan]}]
)
def test_what_json_cannot_hold_is_refused(store, session, value):
    with pytest.raises(seslite.InvalidError, match="cannot be written as JSON"):
        session.append({"x": value})
    with pytest.raises(seslite.InvalidError, match="cannot be written as JSON"):
        session.track()["k"] = value
    with pytest.raises(seslite.Error):
        store.create(("app", "user", "other"), {"k": value})
    assert session.stored == 0 and store.count("app") == 1


def test_nan_as_text_is_no_json(session):
    with pytest.raises(seslite.JsonError) as refused:
        session.append(b'{"x":NaN}')
    assert refused.value.offset == 5


def test_a_loop_of_objects_is_refused(session):
    loop: dict = {}
    loop["x"] = loop
    with pytest.raises(seslite.InvalidError):
        session.append(loop)
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(seslite.InvalidError):
        session.append({"x": deep})


def test_integers_of_any_size_are_exact(store, session):
    big = 10**4000 + 7
    session.append({"author": "x", "actions": {"stateDelta": {"big": big, "neg": -(2**63) - 1}}})
    assert (
        session.state["big"] == big
        and store.get(KEY).events[0].load()["actions"]["stateDelta"]["neg"] == -(2**63) - 1
    )
    with pytest.raises(seslite.StateRangeError):
        session.state_get_int("big")
    with pytest.raises(seslite.InvalidError):
        session.append({"x": 10**5000})  # Python does not write more than 4300 digits
    session.append(b'{"author":"x","actions":{"stateDelta":{"huge":' + b"9" * 5000 + b"}}}")
    assert session.state_get("huge") == b"9" * 5000
    with pytest.raises(seslite.StateRangeError, match="read its text"):
        session.state  # noqa: B018


def test_numbers_that_c_cannot_hold_are_refused(store, session):
    for call in (
        lambda: Range(newest=2**63),
        lambda: Range(since_us=1.5),
        lambda: store.create(("app", "user"), created_us=2**64),
        lambda: store.list("app", limit=-1),
        lambda: store.append(KEY, {}, version=2**80),
        lambda: seslite.Point.seq("1"),
        lambda: seslite.Store(":memory:", max_readers=2**40),
        lambda: session.track().set_int("k", 2**63),
    ):
        with pytest.raises((seslite.InvalidError, seslite.StateRangeError)):
            call()


@pytest.mark.parametrize(
    "value",
    [None, 5, "", "null", "[]", "{", b"\xff", b'{"a":1} x', '{"actions":{"stateDelta":[]}}', '{"id":5}', []],
)
def test_what_is_no_event_is_refused(session, value):
    with pytest.raises(ValueError) as refused:
        session.append(value)
    assert isinstance(refused.value, seslite.Error) and session.stored == 0


def test_options_have_names(store, tmp_path):
    for name in ("synchronous", "journal", "checkpoint"):
        with pytest.raises(seslite.InvalidError, match=name):
            seslite.Store(tmp_path / "x.db", **{name: "maybe"})
    with pytest.raises(TypeError):
        seslite.Store(tmp_path / "x.db", colour="red")
    assert not (tmp_path / "x.db").exists()


def test_files_that_are_no_store_are_refused(tmp_path):
    (tmp_path / "text").write_text("no database, but long enough to be looked at" * 99)
    with pytest.raises(seslite.NotAStoreError):
        seslite.Store(tmp_path / "text")
    with pytest.raises(seslite.NotFoundError):
        seslite.Store(tmp_path / "none", must_exist=True)
    with pytest.raises(seslite.CantOpenError):
        seslite.Store(tmp_path / "no" / "folder")


def test_calls_after_close_are_refused(store, session):
    view, cursor, follower, page = session.track(), store.events(KEY), store.follow(KEY), store.list("app")
    session.append({"author": "x", "actions": {"stateDelta": {"k": 2}}})
    store.close()
    store.close()
    assert store.closed
    for call in (
        lambda: store.get(KEY),
        lambda: store.create(KEY),
        lambda: store.info(),
        lambda: store.interrupt(),
        lambda: store.list("app"),
        lambda: store.export(print),
        lambda: store.follow(KEY),
        lambda: session.append({}),
        lambda: session.refresh(),
        lambda: view.append({}),
        lambda: next(cursor),
        lambda: follower.next(0),
        lambda: seslite.Builder(store, "a"),
        lambda: seslite.read_event(store, "{}"),
    ):
        with pytest.raises(seslite.MisuseError):
            call()
    # What was read can still be read.
    assert session.state["k"] == 2 and len(session.events) == 1 and page[0].state["k"] == 1
    session.close()
    session.close()
    for call in (
        lambda: session.id,
        lambda: session.events[0],
        lambda: session.append({}),
        lambda: view.get_json("k"),
        lambda: view["k"],
    ):
        with pytest.raises(seslite.MisuseError, match="closed"):
            call()
    assert repr(store) == "<seslite.Store, closed>" and repr(session) == "<seslite.Session, closed>"
