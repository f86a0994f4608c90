"""`python -m seslite.adk.sync`: what it prints, and as a process with the services.py of a folder of agents,
ended and killed."""

import json
import pathlib
import signal
import subprocess
import sys

import google.auth
import pytest
from google.adk.cli import service_registry

from seslite import Store
from seslite.adk.sync.__main__ import main

pytest.importorskip("agentplatform")
from vertex_server import LocalVertex, Token, Vertex  # noqa: E402

HERE = pathlib.Path(__file__).parent
SERVICES = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import google.auth
from google.adk.cli.service_registry import get_service_registry
from vertex_server import LocalVertex, Token
google.auth.default = lambda **_: (Token(), "p")
get_service_registry().register_session_service("local", lambda uri, **_: LocalVertex("http" + uri.removeprefix("local")))
"""
KEY = ("app", "u", "s1")


@pytest.fixture
def server(tmp_path):
    """A server with a session of five events."""
    (tmp_path / "services.py").write_text(SERVICES)
    vertex = Vertex()
    vertex._create("s1", {"userId": "u", "sessionState": {"k": 1, "user:lang": "en"}})
    for number in range(5):
        add(vertex, number)
    try:
        yield vertex
    finally:
        vertex.close()


def add(vertex, number):
    raw = {"id": f"e{number}", "invocationId": "i", "author": "a", "actions": {"stateDelta": {"k": number}}}
    time = f"2026-01-01T00:00:0{number}Z"
    vertex._append(
        "s1", vertex.sessions["s1"], {"author": "a", "invocationId": "i", "timestamp": time, "rawEvent": raw}
    )


def uris(server, folder):
    return [f"local{server.base[4:]}", f"seslite:///{folder}/store.db"]


def process_of(folder, source, target, *options, **streams):
    """One that finds the scheme of the server in services.py."""
    named = [source, target, "--app=app", f"--agents-dir={folder}", *options]
    return subprocess.Popen([sys.executable, "-m", "seslite.adk.sync", *named], **streams)


@pytest.fixture
def command(monkeypatch, capsys):
    """The command in this process: its code and what it prints."""
    monkeypatch.setattr(google.auth, "default", lambda **_: (Token(), "p"))
    factory = {"local": lambda uri, **_: LocalVertex("http" + uri.removeprefix("local"))}
    registry = service_registry.get_service_registry()
    monkeypatch.setattr(registry, "_session_factories", {**registry._session_factories, **factory})

    def run(*arguments):
        code = main([*arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_copies_and_says_what_it_did(server, tmp_path, command):
    arguments = [*uris(server, tmp_path), "--app=app"]
    code, printed, errors = command(*arguments, "--dry-run")
    assert (code, errors) == (0, "") and "would be: sessions: 1 created; events copied: 5" in printed
    code, printed, _ = command(*arguments, "--json")
    assert code == 0 and json.loads(printed)["sessions"] == {"created": 1}
    with Store(tmp_path / "store.db") as store:
        assert [each.id for each in store.get(KEY).events] == [f"e{number}" for number in range(5)]
        assert store.get(KEY).state == {"k": 4, "user:lang": "en"}
        store.append(KEY, {"id": "mine", "author": "a"})
    add(server, 5)
    code, printed, _ = command(*arguments)
    assert code == 1 and "app/u/s1: both sides have events" in printed


def test_follows_until_it_is_ended(server, tmp_path):
    options = ["--follow", "--interval=0.1", "--json"]
    with process_of(
        tmp_path, *uris(server, tmp_path), *options, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert json.loads(process.stdout.readline())["events"]["copied"] == 5
            add(server, 5)
            assert json.loads(process.stdout.readline())["events"]["copied"] == 1
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert not (tmp_path / "store.db-wal").exists()


def test_a_process_that_is_killed_has_copied_nothing_twice(server, tmp_path, command):
    """From the store to the server, which kills the process when it has stored an event, before it
    answers."""
    there, here = uris(server, tmp_path)
    assert command(there, here, "--app=app")[0] == 0
    server.sessions.clear()
    processes, append = [], server._append

    def kill(name, stored, body):
        answer = append(name, stored, body)
        if body["rawEvent"]["id"] == "e2":
            processes[0].kill()
        return answer

    server._append = kill
    with process_of(tmp_path, here, there) as process:
        processes.append(process)
        assert process.wait(300) == -signal.SIGKILL
    assert len(server.sessions["s1"]["events"]) == 3
    assert command(here, there, "--app=app")[0] == 0
    assert [each["rawEvent"]["id"] for each in server.sessions["s1"]["events"]] == [
        f"e{number}" for number in range(5)
    ]
    assert server.sessions["s1"]["session"]["sessionState"] == {"k": 4, "user:lang": "en"}


def test_wrong_options_are_said_to_be_so(command):
    for arguments, said in (
        (["seslite:////no/where.db", "memory://"], "where.db"),
        (["memory://", "seslite://"], "name them"),
        (["agentengine://", "seslite://"], "cannot be empty"),
    ):
        code, _, errors = command(*arguments)
        assert code == 2 and said in errors
