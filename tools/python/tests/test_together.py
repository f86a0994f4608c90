"""One file used by Python and by a program in C at the same time: each sees what the other writes."""

import json
import os
import pathlib
import subprocess

import pytest
from common import KEY

COMMAND = os.environ.get("SESLITE_COMMAND", str(pathlib.Path(__file__).parents[3] / "build" / "tools" / "seslite" / "seslite"))
pytestmark = pytest.mark.skipif(not os.path.exists(COMMAND), reason="the command is not built: make")


def command(tmp_path, *arguments):
    ran = subprocess.run([COMMAND, "-f", str(tmp_path / "store.db"), *arguments], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def said(number):
    content = {"role": "user", "parts": [{"text": f"message {number}"}]}
    return {
        "id": f"e{number}",
        "author": "user",
        "invocationId": f"i{number}",
        "content": content,
        "actions": {"stateDelta": {"n": number}},
    }


def test_a_program_in_c_follows_what_python_writes(store, session, tmp_path):
    session.append(said(0))
    arguments = [COMMAND, "-f", str(tmp_path / "store.db"), "tail", "--follow", "--jsonl", "s"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as tail:
        seen = [tail.stdout.readline()]
        for number in range(1, 20):
            session.append(said(number))
        seen += [tail.stdout.readline() for _ in range(1, 20)]
        tail.terminate()
    assert [f'"e{number}"' in line and json.loads(line) is not None for number, line in enumerate(seen)] == [True] * 20


def test_python_follows_what_a_program_in_c_writes(store, session, tmp_path):
    for number in range(3):
        session.append(said(number))
    with store.follow(KEY, new=True) as follower:
        command(tmp_path, "rewind", "s")
        rewind = follower.next(10)
    assert rewind.load()["actions"]["rewindBeforeInvocationId"] == "i2"
    session.refresh()
    assert session.state["n"] == 1
    command(tmp_path, "--session", "s", "title", "A title")
    session.refresh()
    assert session.title == "A title" and store.check() == []
    command(tmp_path, "check")
