"""Stores on a server: named by an address in place of a file, and otherwise the same."""

import io
import threading

import postgres
import pytest
from common import KEY, event

import seslite


@pytest.mark.skipif(postgres.is_built(), reason="the package has it")
def test_without_postgresql_it_says_what_to_do():
    for address in ("postgresql://user:secret@host/agents", "postgres://host/agents"):
        with pytest.raises(seslite.MisuseError, match="SESLITE_WITH_POSTGRES=1") as refused:
            seslite.Store(address)
        assert "secret" not in str(refused.value)


def test_what_is_about_servers_is_refused_for_files(tmp_path):
    for option in ({"max_connections": 4}, {"unprepared": True}, {"replica": "postgresql://host/agents"}):
        with pytest.raises(seslite.MisuseError):
            seslite.Store(tmp_path / "a.db", **option)
    assert not (tmp_path / "a.db").exists()


def test_a_store_on_a_server():
    address = postgres.fresh()
    with pytest.raises(seslite.NotFoundError) as missing:
        seslite.Store(address, must_exist=True)
    assert "secret" not in str(missing.value)
    with seslite.Store(address, max_connections=2) as store, seslite.Store(address, unprepared=True) as other:
        session = store.create(KEY, {"k": 1, "user:u": "ä"})
        other.append(KEY, event({"k": 2}))
        with pytest.raises(seslite.StaleError):
            session.append(event())
        session.refresh()
        assert session.state == {"k": 2, "user:u": "ä"} == other.get(KEY).state
        info = store.info()
        assert (
            info.engine == "postgresql"
            and "secret" not in info.path + repr(store)
            and info.journal_mode == ""
        )
        assert store.check() == []
        with pytest.raises(seslite.MisuseError, match="pg_dump"):
            store.backup("copy.db")
    with seslite.Store(address, read_only=True) as store, pytest.raises(seslite.ReadOnlyError):
        store.append(KEY, event())
    with pytest.raises(seslite.MisuseError):
        seslite.Store(address, synchronous="normal")


def test_lists_come_from_the_replica():
    primary, replica = postgres.fresh(), postgres.fresh()
    with seslite.Store(primary, replica=replica) as store:
        store.create(KEY)
        with pytest.raises(seslite.CantOpenError) as refused:
            store.list(KEY.app)
        assert "secret" not in str(refused.value)
        seslite.Store(replica).close()
        assert list(store.list(KEY.app)) == [] and store.get(KEY).id == KEY.session


def test_limits_hold_on_a_server():
    address, traces = postgres.fresh(), []
    with seslite.Store(address) as holder, seslite.Store(address, timeout=60, trace=traces.append) as store:
        session = store.create(KEY)
        holder.lease_take(KEY, "one")
        with store.limits(timeout=0.1), pytest.raises(seslite.BusyError):
            store.lease_take(KEY, "two", wait_ms=60_000)
        with store.limits() as limits:
            threading.Timer(0.1, limits.cancel).start()
            with pytest.raises(seslite.CallInterruptedError):
                store.lease_take(KEY, "two", wait_ms=60_000)
        assert [(each.call, each.code) for each in traces[-2:]] == [
            ("ses_lease_take", -8),
            ("ses_lease_take", -16),
        ]
        assert session.append(event()).seq == 1 == store.event_count(KEY).stored


def test_a_store_moves_to_a_server_and_back(store, session, tmp_path):
    session.append(event({"k": 2}))
    with seslite.Store(postgres.fresh()) as server, seslite.Store(tmp_path / "back.db") as back:
        lines = exported(store)
        server.import_lines(io.BytesIO(lines))
        back.import_lines(io.BytesIO(exported(server)))
        assert exported(server) == lines == exported(back)


def exported(store):
    pieces = []
    store.export(pieces.append)
    return b"".join(pieces)
