"""Stores on a server of MySQL or MariaDB."""

import pathlib
import shutil
import subprocess

import pytest
from common import KEY, event

import seslite
from seslite._ffi import lib

SCRIPT = pathlib.Path(__file__).parents[3] / "test" / "mysql" / "server.sh"
IS_BUILT = hasattr(lib, "ses_open_mysql")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a database without a store, on a server that runs until the tests end."""
    if not IS_BUILT:
        pytest.skip("the package was built without SESLITE_WITH_MYSQL=1")
    if not SCRIPT.is_file() or not shutil.which("mariadb"):
        pytest.skip("there is no server here: make deps MYSQL=1 installs one")
    folder = pathlib.Path("/tmp", tmp_path_factory.mktemp("mysql").name + f"-{id(IS_BUILT)}")
    started = subprocess.run(["sh", SCRIPT, "start", folder], capture_output=True, text=True)
    if started.returncode != 0:
        pytest.skip(started.stderr.strip())
    try:
        server, question, options = started.stdout.strip().partition("?")
        name = ["mariadb", "--no-defaults", f"--socket={folder / 'socket'}", "-useslite", "-psecret"]
        subprocess.run([*name, "-e", "CREATE DATABASE agents"], check=True, capture_output=True)
        yield server + "agents" + question + options
    finally:
        subprocess.run(["sh", SCRIPT, "stop", folder], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif(IS_BUILT, reason="the package has it")
def test_without_mysql_it_says_what_to_do():
    for place in ("mysql://user:secret@host/agents", "mariadb://host/agents"):
        with pytest.raises(seslite.MisuseError, match="SESLITE_WITH_MYSQL=1") as refused:
            seslite.Store(place)
        assert "secret" not in str(refused.value)


def test_a_store_on_mysql(address):
    with pytest.raises(seslite.NotFoundError) as missing:
        seslite.Store(address, must_exist=True)
    assert "secret" not in str(missing.value)
    for option in ({"unprepared": True}, {"replica": address}):
        with pytest.raises(seslite.MisuseError, match="PostgreSQL"):
            seslite.Store(address, **option)
    with seslite.Store(address, max_connections=2) as store, seslite.Store(address) as other:
        session = store.create(KEY, {"k": 1, "user:u": "ä\0"})
        other.append(KEY, event({"k": 2}))
        with pytest.raises(seslite.StaleError):
            session.append(event())
        session.refresh()
        assert session.state == {"k": 2, "user:u": "ä\0"} == other.get(KEY).state
        info = store.info()
        assert info.engine == "mysql" and "secret" not in info.path + repr(store)
