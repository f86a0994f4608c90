"""Redacting events, and receipts."""

import re

import pytest
from common import KEY

import seslite
from seslite import Key, Point

SECRET = "sk-4711"


@pytest.fixture
def told(store, session):
    for number in range(2):
        session.append(
            {
                "author": "user",
                "content": {"parts": [{"text": f"ä my key is {SECRET}, {SECRET}"}]},
                "actions": {"stateDelta": {f"k{number}": SECRET}},
            }
        )
    return session


def texts(session):
    return [event.load()["content"]["parts"][0]["text"] for event in session.events]


def test_by_number(store, told):
    counted = store.redact(KEY, [1], dry_run=True)
    assert counted.events == 1 and counted.state_left == 1 and SECRET in texts(told)[0]
    erased = told.redact([1, 1])
    assert erased.events == 1 and erased.forks_left == 0 == erased.derived_left and not erased.more
    assert texts(told)[0] == "[redacted]" and SECRET in texts(told)[1]
    assert store.redact(KEY, [1, 2], state=True, secure=True, text="gone").state_keys == 2
    told.refresh()
    assert texts(told) == ["gone", "gone"] and told.state["k1"] == "gone"
    assert store.redact(KEY, [1, 2], state=True, text="gone").events == 0


@pytest.mark.parametrize("find", [SECRET, re.compile("sk-[0-9]+")])
def test_what_is_found(store, told, find):
    erased = store.redact(KEY, find=find, state=True, text="***")
    assert erased.events == 2 and erased.state_keys == 2
    told.refresh()
    assert texts(told) == ["ä my key is ***, ***"] * 2 and told.state["k0"] == "***"


def test_a_content_and_a_version(store, told):
    with pytest.raises(seslite.StaleError):
        store.redact(KEY, [1], version=0)
    told.redact([1], content={"parts": [{"text": "harmless"}]})
    assert texts(told)[0] == "harmless"


def test_forks_and_receipts(store, told):
    store.fork(KEY, Key("app", "user", "fork"), Point.seq(1)).close()
    assert store.redact(KEY, [1], dry_run=True).forks_left == 1
    assert store.redact(KEY, [1], forks=True).sessions == 1
    assert store.cut(KEY, Point.seq(1), receipt=True).erased.events == 1
    assert store.prune(KEY, keep=0, receipt=True).erased.forks_left == 1
    assert store.expire(receipt=True).erased.forks_left is None
    deleted = store.delete(KEY, receipt=True)
    assert deleted.total == 1 and deleted.erased.sessions == 1 and deleted.erased.forks_left == 1
    assert store.delete_user("app", "user", receipt=True).erased.events == 1
    assert store.delete_app("app", receipt=True).erased.sessions == 0 and store.delete(KEY).erased is None


def test_refusals(store, told):
    for wrong in ([3], [0], [-1], [2**70], ["1"]):
        with pytest.raises(seslite.Error):
            store.redact(KEY, wrong)

    class Broken:
        def finditer(self, *_):
            raise LookupError("own")

    with pytest.raises(LookupError, match="own"):
        store.redact(KEY, find=Broken())
    told.refresh()
    assert SECRET in texts(told)[0]


def test_finding(store, told):
    store.set_title(KEY, f"about {SECRET}")
    found = list(store.find(SECRET))
    assert [(each.kind, each.name, each.seq) for each in found] == [
        ("title", None, None),
        ("value", "k0", None),
        ("value", "k1", None),
        ("event", None, 1),
        ("event", None, 2),
    ]
    assert found[0][1:4] == ("app", "user", "s") and (found[0].text, found[0].text_found) == (
        f"about {SECRET}",
        6,
    )
    assert all(each.text[each.text_found :].startswith(SECRET) for each in found)
    assert list(store.find(re.compile("SK-[0-9]+", re.I), app="app", user="user", session="s")) == found
    assert list(store.find(SECRET.upper(), ignore_case=True, limit=2)) == found[:2]
    assert list(store.find("nothing", app="app")) == []
    with pytest.raises(seslite.errors.NotFoundError):
        list(store.find("x", app="app", user="user", session="none"))
    with pytest.raises(seslite.errors.InvalidError):
        list(store.find(""))


def test_names(store, session):
    session.append({"author": "a", "actions": {"stateDelta": {f"of {SECRET}": 1, "n": 2}}})
    assert store.redact(KEY, find=SECRET, state=True).names_left == 1
    erased = store.redact(KEY, find=SECRET, state=True, names=True)
    assert (erased.names, erased.names_left) == (1, 0)
    state = store.get(KEY).state
    assert state["n"] == 2 and f"of {SECRET}" not in state
