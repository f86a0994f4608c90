"""Handles, threads, processes, callbacks and memory."""

import gc
import io
import itertools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import warnings

import pytest
from common import HAS_OWN_SQLITE, KEY

import seslite


@pytest.fixture
def quick_gc():
    """gc.collect() without what was there before: with google-adk that is a lot."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def test_handles_are_dropped_in_any_order(tmp_path, quick_gc):
    def make(name):
        store = seslite.Store(tmp_path / name, synchronous="normal")
        session = store.create(KEY, {"k": 1})
        session.append({"author": "x"})
        return {
            "store": store,
            "session": session,
            "view": session.track(),
            "cursor": store.events(KEY),
            "follower": store.follow(KEY),
            "page": store.list("app"),
            "builder": seslite.Builder(store, "a"),
            "events": session.events,
        }

    chance = random.Random(7)
    for number in range(20):
        things = make(f"{number}.db")
        names = list(things)
        chance.shuffle(names)
        for name in names:
            thing = things.pop(name)
            if chance.random() < 0.5 and hasattr(thing, "close"):
                thing.close()
            del thing
            if chance.random() < 0.3:
                gc.collect()


def test_a_store_that_is_dropped_is_closed(tmp_path):
    store = seslite.Store(tmp_path / "a.db")
    session = store.create(KEY)
    del store
    gc.collect()
    session.append({"author": "x"})  # the session keeps it open
    del session
    gc.collect()
    assert not (tmp_path / "a.db-wal").exists()


def test_the_end_of_the_process_closes_stores(tmp_path):
    program = "import seslite; s = seslite.Store('a.db'); s.create(('a', 'u', 's')); keep = s"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert (tmp_path / "a.db").exists() and not (tmp_path / "a.db-wal").exists()


def test_many_threads_use_one_store(store):
    failed = []

    def work(number):
        try:
            session = store.create(("app", "user", f"s{number}"))
            for n in range(50):
                session.append({"author": "x", "actions": {"stateDelta": {"n": n, "user:last": number}}})
                if n % 10 == 0:
                    store.get(
                        ("app", "user", f"s{(number + 1) % 8}"), seslite.Range(newest=3)
                    ) if number else store.list("app")
        except seslite.NotFoundError:
            pass
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and store.check() == []


def test_a_session_belongs_to_one_thread_at_a_time(store, session):
    refused, shown, go = [], [], threading.Event()

    def other():
        shown.append(repr(session))
        try:
            session.append({"author": "y"})
        except seslite.MisuseError as error:
            refused.append(str(error))
        go.set()

    def slow(name):  # a callback within a call on the session
        threading.Thread(target=other).start()
        assert go.wait(10)
        return name

    assert seslite.render(session, "{artifact.a}", artifacts=slow) == "a"
    assert refused == ["another thread is using this session: it belongs to one thread at a time"]
    other()  # later in any thread
    assert session.stored == 1
    assert shown == [
        "<seslite.Session, not usable here>",
        "<seslite.Session ('app', 'user', 's') at version 0>",
    ]


def test_closing_ends_waits_and_waits_for_calls(tmp_path):
    for _ in range(20):
        store = seslite.Store(tmp_path / "a.db", synchronous="normal")
        session, _ = store.get_or_create(KEY)
        taken = store.lease_take(KEY, "one")
        ended = []

        def waits(store=store, ended=ended):
            try:
                store.lease_take(KEY, "two", wait_ms=60_000)
            except (seslite.CallInterruptedError, seslite.MisuseError) as error:
                ended.append(error)

        def follows(store=store, ended=ended):
            try:
                for _ in store.follow(KEY, new=True):
                    pass
            except (seslite.CallInterruptedError, seslite.MisuseError) as error:
                ended.append(error)

        def writes(store=store, ended=ended):
            try:
                for _ in itertools.count():
                    store.append(KEY, {"author": "x"})
            except seslite.MisuseError as error:
                ended.append(error)

        threads = [threading.Thread(target=each) for each in (waits, follows, writes)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        store.close()
        for thread in threads:
            thread.join(10)
        assert len(ended) == 3 and taken.token and session.stored >= 0


def test_a_forked_child_is_refused_with_words(store, session, tmp_path):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = []
        for call in (
            lambda: store.get(KEY),
            lambda: session.append({}),
            lambda: session.state,
            lambda: seslite.Store(tmp_path / "store.db"),
        ):
            try:
                call()
                said.append("nothing")
            except seslite.MisuseError as error:
                said.append("fork" in str(error) and "ok" or str(error))
        seslite.Store(tmp_path / "childs.db").create(KEY)  # a store of its own is fine
        session.close()
        store.close()
        del session, store
        gc.collect()
        os.write(writing, "|".join(said).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reading, 4096).decode() == "ok|ok|ok|ok"
    os.close(reading), os.close(writing)
    session.append({"author": "x"})  # the parent goes on
    assert store.check() == []


def in_child(path, number):
    with seslite.Store(path) as store:
        session, _ = store.get_or_create(("app", "user", f"c{number}"))
        for _ in range(20):
            session.append({"author": "child"})


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_children_of_multiprocessing_open_their_own(tmp_path, method):
    context = multiprocessing.get_context(method)
    children = [context.Process(target=in_child, args=(tmp_path / "a.db", number)) for number in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    with seslite.Store(tmp_path / "a.db") as store:
        assert sum(each.stored for each in store.sessions("app")) == 60 and store.check() == []


class Oops(Exception):
    pass


def test_an_exception_in_an_iterator_or_a_callback_comes_through(store, session, tmp_path):
    session.append_batch([{"author": "x"}] * 5)
    before = session.version

    def broken(*_):
        raise Oops

    def events():
        yield {"author": "x"}
        raise Oops

    for call in (
        lambda: session.append_batch(each if number else broken() for number, each in enumerate([{}, {}])),
        lambda: store.load(("app", "user", "l"), events()),
        lambda: store.load(("app", "user", "l"), [{"x": 1}, object()]),
        lambda: store.export(broken),
        lambda: store.export(io.BytesIO(), progress=broken),
        lambda: store.import_lines(broken),
        lambda: store.backup(tmp_path / "b.db", progress=broken),
        lambda: store.check(progress=broken),
        lambda: seslite.render(session, "{artifact.x}", artifacts=broken),
    ):
        with pytest.raises((Oops, seslite.InvalidError)):
            call()
    with pytest.raises(Oops), store.events(KEY) as cursor:
        for _ in cursor:
            raise Oops
    with pytest.raises(Oops), store.lease(KEY, "one"):
        raise Oops
    session.refresh()
    assert session.version == before and store.count("app") == 1 and store.lease_take(KEY, "two", wait_ms=-1)
    assert not (tmp_path / "b.db").exists()
    with pytest.raises(KeyboardInterrupt):
        store.export(lambda _: (_ for _ in ()).throw(KeyboardInterrupt))


def test_a_callback_cannot_close_the_store(store, session):
    with pytest.raises(seslite.MisuseError, match="callback"):
        store.export(lambda _: store.close())
    assert not store.closed and store.get(KEY).id == "s"
    store.close()


def test_control_c_ends_a_wait(tmp_path):
    program = """
        import _thread, seslite, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start programs in the background without it
        store = seslite.Store(":memory:"); store.create(("a", "u", "s"))
        threading.Timer(0.2, _thread.interrupt_main).start()
        try:
            store.follow(("a", "u", "s")).next()
        except KeyboardInterrupt:
            print("ended")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=30
    )
    assert ran.stdout == "ended\n"


def test_control_c_at_any_moment_leaves_nothing_held(tmp_path):
    store = seslite.Store(tmp_path / "a.db", synchronous="normal")
    session, follower, chance = store.create(KEY), store.follow(KEY), random.Random(7)

    def interrupt(*_):
        raise KeyboardInterrupt

    before, hits = signal.signal(signal.SIGALRM, interrupt), 0
    try:
        while hits < 3000:
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(5e-5, 3e-4))
                while True:
                    assert session.version == 0 and store.count("app") == 1 and follower.next(0) is None
            except KeyboardInterrupt:
                hits += 1
    finally:
        signal.signal(signal.SIGALRM, before)
    for handle in (follower, session, store):
        handle.close()
    assert not (tmp_path / "a.db-wal").exists()


@pytest.fixture
def another_sqlite(monkeypatch):
    """Python's sqlite3 as if it had a copy of its own; without warnings for it, if that is what is asked
    for."""
    import _ctypes  # which stands here for a module that brings its own
    import sqlite3

    monkeypatch.setitem(sys.modules, "_sqlite3", _ctypes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield sqlite3, _ctypes.__file__


def test_another_copy_of_sqlite_is_warned_of(tmp_path, another_sqlite, monkeypatch):
    seslite.Store(":memory:").close()
    seslite.Store(tmp_path / "a.db").close()
    connection = another_sqlite[0].connect(tmp_path / "a.db")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    with pytest.warns(seslite.TwoSqlitesWarning, match="sqlite3 has a copy.*a.db") as told:
        seslite.Store(tmp_path / "a.db").close()
    assert told[0].filename == __file__
    connection.close()
    with seslite.Store(tmp_path / "a.db"):
        seslite.Store(tmp_path / "a.db").close()
    monkeypatch.setitem(sys.modules, "apsw", sys.modules.pop("_sqlite3"))
    with pytest.warns(seslite.TwoSqlitesWarning, match="apsw has a copy.*a.db"):
        seslite.Store(tmp_path / "a.db").close()


def test_another_copy_of_sqlite_that_comes_later_is_warned_of(tmp_path, another_sqlite, monkeypatch):
    sqlite3, module = another_sqlite
    path = tmp_path / "a.db"
    copy = sys.modules.pop("_sqlite3")
    with seslite.Store(path):
        sys.modules["_sqlite3"] = copy
        for database in (path, str(path), os.fsencode(path), f"file:{path}?mode=ro", os.path.relpath(path)):
            with pytest.raises(seslite.TwoSqlitesWarning, match="sqlite3 has a copy.*a.db"):
                sqlite3.connect(database, uri=True)
        for name in ("apsw", "pysqlite3._sqlite3"):
            with pytest.raises(seslite.TwoSqlitesWarning, match=f"{name.split('.')[0]} has a copy.*a.db"):
                sys.audit("import", name, module, None, None, None)
        for database in (":memory:", "", tmp_path / "other.db"):
            sqlite3.connect(database).close()
    sqlite3.connect(path).close()
    sys.audit("import", "apsw", module, None, None, None)


@pytest.mark.skipif(HAS_OWN_SQLITE, reason="the package has a copy of its own")
def test_the_same_copy_of_sqlite_is_not_warned_of(tmp_path):
    import sqlite3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with seslite.Store(tmp_path / "a.db"):
            sqlite3.connect(tmp_path / "a.db").close()  # Python's uses the system's, as we do


def resident():
    """The memory of this process, in bytes."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_100_000_calls_leave_no_memory_behind():
    with seslite.Store(":memory:") as store:
        session = store.create(KEY, {"k": "x" * 100})
        session.append({"author": "x", "content": {"parts": [{"text": "y" * 200}]}})

        def calls(count):
            for n in range(count // 10):
                handle = store.get(KEY)
                assert handle.state_json() and handle.events[0].json and handle.title is None
                with handle.track() as view:
                    view["k"] = n
                with pytest_raises():
                    store.get(("app", "user", "none"))
                assert store.state_get(KEY, "k")
                store.append(KEY, b'{"partial":true}')
                store.list("app")[0].id
                seslite.Builder(store, "a").text("x").json()
                with store.events(KEY) as cursor:
                    next(cursor)
                with store.follow(KEY) as follower:
                    follower.next(0)

        calls(10_000)
        gc.collect()
        before = resident()
        tracemalloc.start()
        calls(1_000)
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        calls(9_000)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - first
        tracemalloc.stop()
        calls(80_000)
        gc.collect()
        assert grown < 20_000
        assert resident() - before < 8 << 20


class pytest_raises:
    """As pytest.raises(NotFoundError), which keeps more."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is seslite.NotFoundError
