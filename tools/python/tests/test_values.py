"""Keys, ranges, points, filters and errors are values: they cannot be changed, and they can be copied and
sent to other processes. Objects that own an object of the library cannot."""

import copy
import dataclasses
import pickle
import types

import pytest
from common import KEY

import seslite
from seslite import Filter, Key, Point, Range

VALUES = [
    KEY,
    Key("a", "ü"),
    seslite.NO_EVENTS,
    Range(newest=3, live=True),
    Range(first_seq=2),
    Point.now(),
    Point.seq(3),
    Point.event("e1"),
    Point.last_turn(),
    Filter(label="colour", updated_since_us=5),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_shown_copied_and_pickled_as_it_was_made(value):
    assert eval(repr(value), vars(seslite)) == value
    for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert same == value and hash(same) == hash(value) and same.c != value.c


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_cannot_be_changed(value):
    for name in (dataclasses.fields(value)[0].name, "c", "other"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(value, name, "t")


def test_copies_mean_what_they_say(store, session):
    for n in range(3):
        session.append({"id": f"e{n}", "actions": {"stateDelta": {"n": n}}})
    copied = pickle.loads(pickle.dumps((KEY, Range(newest=1), Point.event("e0"), Filter(id_prefix="s"))))
    assert [each.id for each in store.get(copied[0], copied[1]).events] == ["e2"]
    assert (
        store.state_as_of(KEY, copied[2]) == b'{"k":1,"n":0}' and store.count("app", "user", copied[3]) == 1
    )


@pytest.mark.parametrize(
    "key", ["aus", b"aus", None, 5, ("a",), ("a", "u", "s", "x"), {"a", "u", "s"}, {"a": 1, "u": 2, "s": 3}]
)
def test_a_session_is_named_by_a_key_or_a_tuple(store, key):
    store.create(("a", "u", "s"))
    for call in (
        store.get,
        store.delete,
        store.follow,
        lambda key: store.append(key, {}),
        lambda key: store.fork(KEY, key or ""),
    ):
        with pytest.raises(
            TypeError, match="a session is named by a Key, or by a tuple of app, user and session, not by"
        ):
            call(key)
    assert store.count("a") == 1 and store.get(["a", "u", "s"]).id == "s"


def test_what_owns_an_object_of_the_library_is_not_copied(store, session):
    for owner, what in (
        (store, "store"),
        (session, "session"),
        (store.list("app")[0], "session"),
        (session.track(), "view"),
        (store.events(KEY), "cursor"),
        (store.follow(KEY), "follower"),
        (seslite.Builder(store, "a"), "builder"),
    ):
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"a {what} cannot be copied or pickled"):
                make(owner)


def raised(call, *arguments):
    with pytest.raises(seslite.Error) as error:
        call(*arguments)
    return error.value


def test_errors_are_pickled_whole(store, session):
    session.append({"author": "x"})
    with store.follow(KEY, after_seq=0) as follower:
        session.cut(Point.seq(0))
        reset = raised(follower.next, 1)
    for error in (
        raised(store.get, ("app", "user", "none")),
        raised(session.append, '{"author":'),
        raised(store.append_batch, KEY, [{}, {"id": 5}]),
        seslite.errors.make(-99, "of a later library"),
        reset,
    ):
        for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(same) is type(error) and str(same) == str(error) and vars(same) == vars(error)
            assert (same.code, same.name, same.args) == (error.code, error.name, error.args)


def test_all_names_of_the_package_are_public():
    everything: dict = {}
    exec("from seslite import *", everything)
    del everything["__builtins__"]
    named = {
        name
        for name, value in vars(seslite).items()
        if name[0] != "_" and not isinstance(value, types.ModuleType)
    }
    assert set(everything) == named == set(seslite.__all__) and sorted(seslite.__all__) == seslite.__all__
