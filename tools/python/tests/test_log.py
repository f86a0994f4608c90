"""History, lists, deletion, leases and following: calls on the logs of sessions."""

import json

import pytest
from common import KEY, event

import seslite
from seslite import Filter, Key, Point

FAR = 200_000_000_000_000_000  # a time to come


def test_history_goes_back_and_forth(store, session):
    for n in range(3):
        session.append(
            event(
                {"n": n}, invocation=f"i{n}", id=f"e{n}", content={"role": "user", "parts": [{"text": "hi"}]}
            )
        )
    assert session.state_as_of(Point.seq(1)) == b'{"k":1,"n":0}' == store.state_as_of(KEY, Point.event("e0"))
    assert (
        session.state_as_of(Point.seq(1), shared=True) == b'{"app:a":[1,2],"user:u":"\xc3\xa4","k":1,"n":0}'
    )
    assert (
        session.rewind(Point.invocation("i1"), artifact_delta={"f": 1}).status == 0
        and session.state["n"] == 0
    )
    assert session.rewind(Point.invocation("i1")).unchanged
    session.redo()
    assert session.state["n"] == 2
    assert session.redo().unchanged
    assert store.rewind(KEY, Point.last_turn()).seq == 6 and store.redo(KEY, anyway=True).seq == 7
    session.refresh()
    fork = session.fork(("app", "user", "f"), Point.seq(2))
    assert fork.parent == (KEY, 2) and fork.stored == 2 and fork.state["n"] == 1
    assert store.fork(KEY, None, Point.seq(0)).stored == 0
    assert store.fork(KEY, ("app", "other", "f"), other_user=True, events=seslite.NO_EVENTS).user == "other"
    assert session.cut(Point.seq(3)).total == 4 and store.cut(KEY, Point.now()).total == 0
    assert (
        session.prune(keep=1).total == 2
        and session.state["n"] == 2
        and store.prune(KEY, last_seq=3).total == 1
    )
    assert store.prune(KEY, before_us=1, compacted=True, limit=5).total == 0
    session.refresh()
    assert session.base_seq == 3
    assert store.cut(KEY, None, version=session.version, secure=True).total == 0


def test_a_fork_expires_as_it_is_told(store):
    session = store.create(KEY, expires_us=FAR)
    assert session.fork(Key("app", "user", "f")).expires_us == store.fork(KEY).expires_us == FAR
    assert session.fork(expires_us=FAR + 1).expires_us == FAR + 1
    assert store.fork(KEY, expires_us=seslite.NEVER).expires_us is None


def test_the_order_by_the_store_s_clock(store):
    for name, seconds in (("ahead", 9e9), ("behind", 1.0)):
        store.append(store.create(Key("app", "user", name)).key, {"timestamp": seconds})
    assert [each.id for each in store.list("app")] == ["ahead", "behind"]
    page = store.list("app", order="changed")
    assert [each.id for each in page] == ["behind", "ahead"] and 1 < page.changed_us[1] <= page.changed_us[
        0
    ] < 9e15
    assert store.expire("app", sessions_per_user=1, by_change=True).total == 1
    assert [each.id for each in store.list("app")] == ["behind"]


def test_a_preview_of_each_session(store):
    def say(author, *parts):
        return {"author": author, "content": {"parts": list(parts)}}

    store.create(KEY)
    store.append(KEY, say("user", {"text": "h\u00e9llo"}))
    store.append(KEY, say("agent", {"text": "Hi."}, {"functionCall": {"id": "1", "name": "f"}}))
    store.create(Key("app", "user", "empty"))
    page = store.list("app", preview=True, order="created")
    assert page.previews == (
        seslite.Preview(last="Hi.", last_author="agent", last_seq=2, pending_calls=1, first="h\u00e9llo"),
        seslite.Preview(last=None, last_author=None, last_seq=None, pending_calls=0, first=None),
    )
    assert store.list("app", preview=2, order="created").previews[0].first == "h"
    assert store.list("app").previews == ()
    with pytest.raises(seslite.InvalidError):
        store.list("app", preview=4097)


def test_a_file_with_another_name_is_refused(tmp_path):
    seslite.Store(tmp_path / "a.db").close()
    (tmp_path / "b.db").hardlink_to(tmp_path / "a.db")
    with pytest.raises(seslite.CantOpenError):
        seslite.Store(tmp_path / "b.db")
    seslite.Store(tmp_path / "b.db", linked=True).close()


def test_lists_go_page_by_page(store):
    for n in range(5):
        store.create(
            Key("app", "user", f"s{n}"),
            {"n": n},
            labels={"even": "yes"} if n % 2 == 0 else None,
            created_us=n + 1,
        )
    store.create(Key("app2", "user2", "t"))
    page = store.list("app", "user", order="oldest", limit=2)
    assert [each.id for each in page] == ["s0", "s1"] and page.token
    assert [each.id for each in store.list("app", "user", order="oldest", limit=9, token=page.token)] == [
        "s2",
        "s3",
        "s4",
    ]
    assert [each.id for each in store.sessions("app")] == [f"s{n}" for n in range(5)]
    assert page[1].state == {"n": 1} and page[0].events[:] == []
    assert store.list("app", state=False)[0].state == {}
    evens = Filter(label="even", label_value="yes")
    assert [each.id for each in store.sessions("app", "user", filter=evens)] == [
        "s0",
        "s2",
        "s4",
    ] and store.count("app", filter=evens) == 3
    assert store.count("app", "user", Filter(id_prefix="s1")) == 1
    assert store.count("app", None, Filter(updated_since_us=2, updated_before_us=4)) == 2
    assert store.count("app", filter=Filter(without_label="even")) == 2
    assert store.count("app", filter=Filter(changed_since_us=0)) == 5
    assert store.count("app", filter=Filter(changed_before_us=0)) == 0
    store.set_archived(store.list("app")[0].key)
    assert [store.count("app", filter=Filter(archived=it)) for it in (None, False, True)] == [5, 4, 1]
    assert (
        list(store.apps()) == ["app", "app2"]
        and list(store.apps("app2")) == ["app2"]
        and list(store.users("app2")) == ["user2"]
    )
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
    assert store.delete_user("app", "user") == (1, False, 1, None)
    store.create(KEY, expires_us=FAR)
    assert store.expire("app", now_us=FAR + 1, dry_run=True).total == 1
    assert (
        store.expire("app", now_us=FAR + 1).total == 1
        and store.expire(idle_us=1, sessions_per_user=1, limit=5).total == 0
    )
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


def test_following_an_app_and_the_store(store):
    with store.follow_all("app") as app, store.follow_all() as everything:
        for key in (("app", "u1", "s"), ("other", "u2", "s")):
            store.create(key).close()
            store.append(key, {})
        assert app.next(10).seq == 1
        assert app.key == seslite.Key("app", "u1", "s")
        assert app.next(0) is None
        assert [everything.next(10) and everything.key.user for _ in range(2)] == ["u1", "u2"]
        with pytest.raises(seslite.MisuseError):
            app.place  # noqa: B018


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


def test_drafts(store, session):
    assert store.draft_get(KEY) is None and store.draft_clear(KEY) is False
    lease = store.lease_take(KEY, "one")
    store.draft_set(KEY, "Hel", lease=lease.token)
    store.draft_set(KEY, "Hello w\xf6r", lease=lease.token)
    draft = store.draft_get(KEY)
    assert draft.body == "Hello w\xf6r" and draft.updated_us > 0
    assert [each.kind for each in store.find("w\xf6r")] == ["draft"]
    for refused in (store.draft_set, lambda *of, lease: store.draft_clear(KEY, lease=lease)):
        with pytest.raises(seslite.LeasedError):
            refused(KEY, "x", lease=lease.token + 1)
    with pytest.raises(seslite.InvalidError):
        store.draft_set(KEY, "a\0b")
    session.append(event({}, id="with it"), takes_draft=True)
    assert store.draft_get(KEY) is None
    store.draft_set(KEY, "")
    assert store.draft_get(KEY).body == ""
    store.append(KEY, event({}, id="by key"))
    assert store.draft_clear(KEY) is True
    store.draft_set(KEY, "more")
    store.append_batch(KEY, [event({}, id="in a batch")], takes_draft=True)
    assert store.draft_get(KEY) is None


def test_inboxes(store, session):
    whose = {"app": KEY.app, "user": KEY.user, "session": KEY.session}
    assert store.inbox_take("worker") is None and store.inbox_list() == []
    assert store.inbox_add(KEY, "r1", {"text": "w\xf6r"}) is True
    assert store.inbox_add(KEY, "r1", {"text": "w\xf6r"}) is False
    with pytest.raises(seslite.ExistsError):
        store.inbox_add(KEY, "r1", "[]")
    assert store.inbox_add(("other", "user", "new"), "r2", "[1]", create=True)
    assert [(each.key.app, each.request) for each in store.inbox_list()] == [(KEY.app, "r1"), ("other", "r2")]
    assert [each.body for each in store.inbox_list(app="other", limit=1)] == ["[1]"]
    assert store.inbox_list(after=store.inbox_list()[1].place) == []
    assert [each.kind for each in store.find("w\xf6r")] == ["input"]
    taken, lease = store.inbox_take("worker", app=KEY.app, wait_ms=10)
    assert (taken.request, json.loads(taken.body), taken.key) == ("r1", {"text": "w\xf6r"}, KEY)
    assert store.inbox_take("another", **whose) is None
    store.append(taken.key, event({}, id="r1"), lease=lease.token)
    store.append(taken.key, event({}, id="answer"), lease=lease.token, answers="r1")
    assert store.inbox_list(**whose) == [] and store.inbox_add(KEY, "r1", "{}") is False
    assert store.inbox_remove(("other", "user", "new"), "r2") is True
    assert store.inbox_remove(("other", "user", "new"), "r2") is False
