"""`adk api_server` and `adk web` with our URI, over HTTP on localhost: services.yaml makes it known, and the
process's end closes it."""

import json
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from seslite import Store

HERE = pathlib.Path(__file__).parent
SERVICES = """services:
  - scheme: seslite
    type: session
    class: seslite.adk.SesliteSessionService
  - scheme: seslite
    type: artifact
    class: seslite.adk.SesliteArtifactService
  - scheme: seslite
    type: memory
    class: seslite.adk.SesliteMemoryService
"""
AGENT = """
from scripted import make_app
app, _ = make_app()
root_agent = app.root_agent
"""


def ask(base, path, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


@pytest.fixture
def server(tmp_path, request):
    """A server on a folder with one agent, and the file of its store. The parameter is the ADK's command."""
    agents = tmp_path / "agents"
    (agents / "app").mkdir(parents=True)
    (agents / "services.yaml").write_text(SERVICES)
    (agents / "app" / "__init__.py").write_text("from . import agent\n")
    (agents / "app" / "agent.py").write_text(AGENT)
    shutil.copy(HERE / "scripted.py", agents / "scripted.py")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    adk = pathlib.Path(sys.executable).with_name("adk")
    command = [
        str(adk),
        request.param,
        "--host=127.0.0.1",
        f"--port={port}",
        "--session_service_uri=seslite:///agents.db",
        "--artifact_service_uri=seslite:///agents.db",
        "--memory_service_uri=seslite:///agents.db",
        str(agents),
    ]
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                ask(base, "/list-apps")
                break
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None, (tmp_path / "log").read_text()[-3000:]
                time.sleep(0.25)
        yield base, tmp_path / "agents.db", process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def ended(process, number, file):
    """Ends a server by a signal, after which the file is whole: the last connection has emptied its log."""
    process.send_signal(number)
    process.wait(30)
    assert not file.with_name("agents.db-wal").exists()
    with Store(file) as store:
        assert store.check("log") == []
    return process.returncode


@pytest.mark.parametrize("server", ["api_server"], indirect=True)
def test_a_conversation_over_http(server):
    base, file, process = server
    sessions = "/apps/app/users/alice/sessions"
    assert ask(base, f"{sessions}/s1", {"first": 1, "user:lang": "en"}, "POST")["state"] == {
        "user:lang": "en",
        "first": 1,
    }
    assert [each["id"] for each in ask(base, sessions)] == ["s1"]
    run = {
        "appName": "app",
        "userId": "alice",
        "sessionId": "s1",
        "newMessage": {"role": "user", "parts": [{"text": "tool topic birds"}]},
    }
    events = ask(base, "/run", run)
    assert [event["author"] for event in events] == ["root"] * 3
    session = ask(base, f"{sessions}/s1")
    assert session["state"]["topic"] == "birds" and session["state"]["user:count"] == 1
    assert len(session["events"]) == 4
    ask(base, "/run", {**run, "newMessage": {"role": "user", "parts": [{"text": "draw plan sunny"}]}})
    artifacts = f"{sessions}/s1/artifacts"
    assert ask(base, artifacts) == ["plan"] and ask(base, f"{artifacts}/plan")["text"] == "sunny"
    ask(base, "/apps/app/users/alice/memory", {"sessionId": "s1"}, "PATCH")
    with Store(file) as store:  # another process reads what the server wrote, while it runs
        assert (
            store.get(("app", "alice", "s1")).stored == 8
            and store.get(("app", "alice", "s1")).remembered_seq == 8
        )
        assert store.artifact_read(("app", "alice", "s1"), "plan") == b"sunny"
    ask(base, f"{sessions}/s2", {}, "POST")
    ask(base, f"{sessions}/s2", method="DELETE")
    with pytest.raises(urllib.error.HTTPError) as missing:
        ask(base, f"{sessions}/s2")
    assert missing.value.code == 404
    with pytest.raises(urllib.error.HTTPError) as again:
        ask(base, f"{sessions}/s1", {}, "POST")
    assert again.value.code == 409
    assert ended(process, signal.SIGTERM, file) == -signal.SIGTERM


@pytest.mark.parametrize("server", ["web"], indirect=True)
def test_adk_web_keeps_its_sessions_in_the_store(server):
    base, file, process = server
    assert ask(base, "/list-apps") == ["app"]
    with urllib.request.urlopen(base + "/dev-ui/", timeout=60) as page:
        assert b"<html" in page.read()
    ask(base, "/apps/app/users/user/sessions", {"state": {"k": 1}}, "POST")
    with Store(file) as store:
        assert [each.state for each in store.sessions("app")] == [{"k": 1}]
    ended(process, signal.SIGINT, file)


def test_the_readme_has_the_same_services_yaml():
    assert f"```yaml\n{SERVICES}```" in (HERE.parents[1] / "README.md").read_text("utf-8")
