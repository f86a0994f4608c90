"""Limits of calls, and the trace of calls."""

import copy
import gc
import io
import math
import pathlib
import re
import sys
import threading
import time
import weakref

import pytest
from common import KEY, event

import seslite
from seslite import Point
from seslite._ffi import lib

HEADERS = "".join(
    path.read_text("utf-8") for path in (pathlib.Path(__file__).parents[1] / "csrc").glob("*.h")
)
FAR = 200_000_000_000_000_000  # a time to come


@pytest.fixture
def traces():
    return []


@pytest.fixture
def store(tmp_path, traces):
    with seslite.Store(tmp_path / "store.db", synchronous="normal", trace=traces.append) as opened:
        yield opened


@pytest.fixture
def waiting(store, session):
    """Begins a call in a thread that waits for a lease until its limits end it, and gives the thread and what
    was raised."""
    store.lease_take(KEY, "one")

    def begin(limits):
        raised, begun = [], threading.Event()

        def wait():
            with limits:
                begun.set()
                with pytest.raises(seslite.Error) as error:
                    store.lease_take(KEY, "two", wait_ms=60_000)
                raised.append(type(error.value))

        thread = threading.Thread(target=wait)
        thread.start()
        assert begun.wait(10)
        return thread, raised

    return begin


def limited_calls():
    """The calls of the headers that the package is built with, and uses, whose options have limits."""
    structs = re.findall(r"typedef struct (\w+) \{(.*?)\n\} \w+;", HEADERS, re.S)
    options = {name for name, members in structs if "ses_cancel *cancel;" in members}
    assert len(options) > 15
    declared = re.findall(r"^SES_API int (ses_\w+)\(([^;]*?)\);", HEADERS, re.M | re.S)
    built = [(name, parameters) for name, parameters in declared if hasattr(lib, name)]
    limited = {
        name for name, parameters in built if options & set(re.findall(r"const (\w+) \*options", parameters))
    }
    sources = "".join(path.read_text("utf-8") for path in pathlib.Path(seslite.__file__).parent.rglob("*.py"))
    return {name for name in limited if re.search(rf"\b{name}\b", sources)}


def test_every_call_has_the_limits(store, session, traces, tmp_path):
    session.append(event(id="e1"))
    view, builder, lease = (
        session.track(),
        seslite.Builder(store, "user").text("hi"),
        store.lease_take(KEY, "one"),
    )
    exported = io.BytesIO()
    store.export(exported)
    text, other = session.json(), ("app", "user", "new")
    session.artifact_save("kept", b"")
    address = session.artifact_info("kept").uri
    referring = {"content": {"parts": [{"fileData": {"fileUri": address, "mimeType": "image/png"}}]}}
    calls = [
        lambda: store.create(other), lambda: store.get_or_create(other), lambda: store.get(KEY), lambda: session.refresh(),
        lambda: store.get(KEY, seslite.Range(newest=1)), lambda: session.live(), lambda: session.append({}),
        lambda: session.append({}, title="T"), lambda: session.append_batch([{}]), lambda: store.append(KEY, {}),
        lambda: store.append_batch(KEY, [{}]), lambda: view.append({}), lambda: view.append_output({}, "a", "k"),
        lambda: builder.append(session), lambda: builder.append((store, KEY)), lambda: store.state_json(KEY),
        lambda: store.state_get(KEY, "k"), lambda: store.shared_state_json("app"), lambda: store.shared_state_get("app", None, "a"),
        lambda: store.shared_state_change("app", None, {"a": 2}), lambda: session.state_initial(), lambda: store.state_initial(KEY),
        lambda: session.state_as_of(), lambda: store.state_as_of(KEY), lambda: next(store.events(KEY)),
        lambda: store.event_get(KEY, "e1"), lambda: store.event_count(KEY), lambda: store.list("app"), lambda: store.count("app"),
        lambda: next(store.apps()), lambda: next(store.users("app")), lambda: store.delete(KEY),
        lambda: store.delete_user("app", "user"), lambda: store.space(),
        lambda: store.delete_app("app"), lambda: session.set_title("T"), lambda: store.set_title(KEY, "T"),
        lambda: session.set_labels({"a": "1"}), lambda: store.set_labels(KEY, {"a": "1"}), lambda: session.set_expiry(FAR),
        lambda: session.set_archived(), lambda: store.set_archived(KEY), lambda: store.set_expiry(KEY, FAR), lambda: session.rewind(Point.seq(0)), lambda: store.rewind(KEY, Point.seq(0)),
        lambda: session.redo(), lambda: store.redo(KEY), lambda: session.cut(Point.seq(0)), lambda: store.cut(KEY, Point.seq(0)),
        lambda: session.pop(Point.seq(0)), lambda: store.pop(KEY, Point.seq(0)), lambda: session.fork(other),
        lambda: store.fork(KEY, other), lambda: session.prune(keep=0), lambda: store.prune(KEY, keep=0),
        lambda: session.redact([1]), lambda: store.redact(KEY, [1]), lambda: store.expire("app"), lambda: store.maintain(),
        lambda: store.lease_take(KEY, "one"), lambda: store.lease_renew(KEY, lease.token),
        lambda: store.lease_release(KEY, lease.token), lambda: store.follow(KEY).next(0), lambda: store.load(other, [{}]),
        lambda: store.load_json(text, other), lambda: store.export(io.BytesIO()),
        lambda: store.import_lines(io.BytesIO(exported.getvalue()), update=True), lambda: store.backup(tmp_path / "b.db"),
        lambda: store.check(), lambda: seslite.read_context(session), lambda: seslite.read_context((store, KEY)),
        lambda: seslite.pending_calls(session), lambda: seslite.pending_calls((store, KEY)),
        lambda: seslite.answer_pending_calls(session), lambda: seslite.answer_pending_calls((store, KEY)),
        lambda: session.artifact_save("a", b""), lambda: store.artifact_save(KEY, "a", b""), lambda: session.artifact_open("a"),
        lambda: store.artifact_open(KEY, "a"), lambda: next(session.artifacts()), lambda: next(store.artifacts(KEY)),
        lambda: next(session.artifact_versions("a")), lambda: next(store.artifact_versions(KEY, "a")),
        lambda: session.artifact_delete("a"), lambda: store.artifact_delete(KEY, "a"),
        lambda: seslite.Artifacts(store, KEY).add("a", b"1" * 5_000_000), lambda: next(store.search("hi", app="app")),
        lambda: next(iter(store.find("hi"))),
        lambda: session.artifact_inline(referring), lambda: store.artifact_inline(KEY, referring),
        lambda: store.index(), lambda: next(store.usage("model")), lambda: store.tally(),
        lambda: store.draft_set(KEY, "Hel"), lambda: store.draft_get(KEY), lambda: store.draft_clear(KEY),
        lambda: store.inbox_add(KEY, "r1", "{}"), lambda: store.inbox_take("one", app="app"), lambda: store.inbox_list(app="app"),
        lambda: store.inbox_remove(KEY, "r1"), lambda: store.memory_add_session(KEY), lambda: store.memory_add(KEY, "nuts"),
        lambda: store.memory_add_events(KEY, [referring | {"content": {"parts": [{"text": "nuts"}]}}]),
        lambda: store.memory_search("nuts", app="app", user="user"), lambda: store.memory_list(app="app", user="user"),
        lambda: store.memory_forget(KEY), lambda: store.memory_forget_events(KEY, [1]),
        lambda: store.family(KEY),
    ]  # fmt: skip
    before = store.stats()["commits"]
    traces.clear()
    with store.limits(60) as limits:
        limits.cancel()
        for call in calls:
            with pytest.raises(seslite.CallInterruptedError):
                call()
        with store.limits(60), pytest.raises(seslite.CallInterruptedError):
            store.get(KEY)
        with store.limits(60, shield=True):
            assert store.get(KEY).version == 1
        limits.reset()
        assert store.get(KEY).version == 1 and not limits.cancelled
    assert store.stats()["commits"] == before and not (tmp_path / "b.db").exists()
    made_of_others = {
        "ses_builder_append",
        "ses_builder_append_by_key",
        "ses_pending_answer",
        "ses_pending_answer_by_key",
    }
    assert limited_calls() - {each.call for each in traces if each.code == -16} == made_of_others


def test_a_call_that_waits_ends_when_its_time_is_over(tmp_path, store, session):
    held = store.lease_take(KEY, "one")
    begun = time.monotonic()
    with store.limits(0.05), pytest.raises(seslite.BusyError):
        store.lease_take(KEY, "two", wait_ms=60_000)
    with seslite.Store(tmp_path / "store.db", timeout=0.05) as limited:
        with pytest.raises(seslite.BusyError):
            limited.lease_take(KEY, "two", wait_ms=60_000)
        for longer in (2, math.inf, 1e300):
            with limited.limits(longer), pytest.raises(seslite.BusyError):
                limited.lease_take(KEY, "two", wait_ms=100)
    assert 0.4 <= time.monotonic() - begun < 10
    store.lease_release(KEY, held.token)
    with store.limits(0.05), store.lease(KEY, "two", wait_ms=60_000):
        pass


def test_a_call_that_works_ends_when_its_time_is_over(store, session):
    store.load(("app", "user", "long"), ({"id": f"e{n}"} for n in range(20_000)))
    with store.limits(0.02), pytest.raises(seslite.CallInterruptedError):
        store.export(lambda piece: time.sleep(0.03))


def test_a_timeout_is_a_time(store, tmp_path):
    for wrong in (0, -1, math.nan, "1", -math.inf):
        with pytest.raises(seslite.InvalidError, match="timeout is a number of seconds above 0"):
            store.limits(wrong)
        with pytest.raises(seslite.InvalidError):
            seslite.Store(tmp_path / "a.db", timeout=wrong)
    assert not (tmp_path / "a.db").exists()


def test_any_thread_ends_the_calls_of_others(store, waiting):
    limits = store.limits()
    threads = [waiting(limits) for _ in range(3)]
    time.sleep(0.05)
    assert [raised for _, raised in threads] == [[], [], []]
    limits.cancel()
    for thread, raised in threads:
        thread.join(10)
        assert raised == [seslite.CallInterruptedError]
    assert store.get(KEY).id == "s"  # this thread has not entered it


def test_an_outer_block_ends_what_was_made_within(store, waiting):
    with store.limits(0.05) as outer, store.limits() as inner:
        thread, raised = waiting(inner)
        thread.join(10)
        assert raised == [seslite.BusyError]  # after the outer one's time
        with store.limits(60) as inmost:
            thread, raised = waiting(inmost)
            time.sleep(0.1)
            assert raised == []
            outer.cancel()
            thread.join(10)
            assert raised == [seslite.CallInterruptedError] and inner.cancelled and inmost.cancelled
        assert store.limits().cancelled and not store.limits(shield=True).cancelled
    assert store.get(KEY)
    del inner, inmost
    gc.collect()
    assert outer._inner == {}


def test_a_block_that_is_cancelled_gives_its_lease_back(store, session):
    with store.limits() as limits, store.lease(KEY, "one"):
        limits.cancel()
    assert store.lease_take(KEY, "two", wait_ms=-1)


def test_blocks_may_end_in_any_order(store, session):
    def within():
        with store.limits() as limits:
            limits.cancel()
            yield

    generator = within()
    next(generator)
    with pytest.raises(seslite.CallInterruptedError):
        store.get(KEY)
    with store.limits(shield=True):
        generator.close()
        assert store.get(KEY)
    assert store.get(KEY)
    generator = within()
    next(generator)
    thread = threading.Thread(target=generator.close)
    thread.start()
    thread.join()
    with store.limits(shield=True):
        assert store.get(KEY)
    seslite._ffi.entered.set(())


def test_cursors_and_followers_keep_their_limits(store, session):
    session.append_batch([{}] * 3)
    with store.limits() as limits:
        cursor, follower = store.events(KEY), store.follow(KEY, new=True)
    gone = weakref.ref(limits)
    assert [each.seq for each in cursor] == [1, 2, 3] and follower.next(0) is None
    threading.Timer(0.05, limits.cancel).start()
    with pytest.raises(seslite.CallInterruptedError):
        follower.next(60)
    limits.reset()
    session.append({})
    assert follower.next(10).seq == 4
    del limits
    gc.collect()
    assert gone()  # the handles have it
    cursor.close()
    follower.close()
    del cursor, follower
    gc.collect()
    assert gone() is None


def test_limits_belong_to_one_object_and_may_outlive_the_store(tmp_path):
    store = seslite.Store(":memory:")
    limits = store.limits(1)
    with pytest.raises(TypeError):
        copy.copy(limits)
    store.close()
    limits.cancel(), limits.reset()
    with pytest.raises(seslite.MisuseError, match="closed"):
        store.limits()


def test_calls_are_traced(store, session, traces):
    traces.clear()
    session.append(event(), title="T")
    with pytest.raises(seslite.NotFoundError):
        store.get(("app", "user", "none"))
    append, get = traces
    assert (append.call, append.code, get.call, get.code) == ("ses_append", 0, "ses_get", -5)
    assert 0 <= append.waited < 10 and 0 < append.worked < 10 and append.bytes_in > 50
    store.get(KEY)
    assert traces[-1].bytes_out > 50
    held = store.lease_take(KEY, "one")
    with store.limits(0.05), pytest.raises(seslite.BusyError):
        store.lease_take(KEY, "two", wait_ms=60_000)
    assert traces[-1].code == -8 and 0.04 < traces[-1].waited < 10
    store.lease_release(KEY, held.token)
    count = len(traces)
    store.copy_to_memory().get(KEY)
    assert "ses_get" in [each.call for each in traces[count:]]


def test_what_a_trace_raises_goes_to_the_hook(monkeypatch):
    told, wrong = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda said: told.append((said.exc_type, str(said.exc_value))))

    def trace(trace):
        wrong and wrong[0]()

    with seslite.Store(":memory:", trace=trace) as store:
        session = store.create(KEY)
        wrong.append(lambda: 1 / 0)
        assert session.append({}).seq == 1
        wrong[:] = [lambda: store.get(KEY)]
        assert session.append({}).seq == 2
        wrong[:] = [lambda: session.append({})]
        assert session.append({}).seq == 3
        wrong[:] = [store.close]
        assert session.append({}).seq == 4 and not store.closed
        wrong[:] = [lambda: (_ for _ in ()).throw(KeyboardInterrupt)]
        assert session.append({}).seq == 5
        wrong.clear()
        assert store.get(KEY).version == 5
    kinds = [
        ZeroDivisionError,
        seslite.MisuseError,
        seslite.MisuseError,
        seslite.MisuseError,
        KeyboardInterrupt,
    ]
    assert [kind for kind, _ in told] == kinds
    assert "must not call the library" in told[1][1] == told[2][1] == told[3][1]


def test_threads_are_traced_at_once(tmp_path):
    traced, together = [], threading.Barrier(4)

    def trace(trace):
        traced.append((threading.get_ident(), trace.call))

    def work(number):
        together.wait(10)
        for _ in range(50):
            store.append(("app", "user", f"s{number}"), {})

    with seslite.Store(tmp_path / "a.db", synchronous="normal", trace=trace) as store:
        for number in range(4):
            store.create(("app", "user", f"s{number}"))
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    appends = [thread for thread, call in traced if call == "ses_append_by_key"]
    assert len(appends) == 200 and len(set(appends)) == 4
