"""One file used by Python and by programs in C and in Rust at the same time: each sees what the others
write."""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import time

import pytest
from common import KEY

HERE = pathlib.Path(__file__).parent
BUILD = HERE.parents[2] / "build"
COMMAND = os.environ.get("SESLITE_COMMAND", str(BUILD / "tools" / "seslite" / "seslite"))
CARGO = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or BUILD / "rust")
RUST = os.environ.get("SESLITE_RUST_PROGRAM", str(CARGO / "debug" / "examples" / "together"))
EVENTS = 200

needs_command = pytest.mark.skipif(not os.path.exists(COMMAND), reason="the command is not built: make")


def command(tmp_path, *arguments):
    ran = subprocess.run(
        [COMMAND, "-f", str(tmp_path / "store.db"), *arguments], capture_output=True, text=True, timeout=60
    )
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


@needs_command
def test_a_program_in_c_follows_what_python_writes(store, session, tmp_path):
    session.append(said(0))
    arguments = [COMMAND, "-f", str(tmp_path / "store.db"), "tail", "--follow", "--jsonl", "s"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as tail:
        seen = [tail.stdout.readline()]
        for number in range(1, 20):
            session.append(said(number))
        seen += [tail.stdout.readline() for _ in range(1, 20)]
        tail.terminate()
    assert [f'"e{number}"' in line and json.loads(line) is not None for number, line in enumerate(seen)] == [
        True
    ] * 20


@needs_command
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


@pytest.fixture(scope="module")
def c_program(tmp_path_factory):
    """tests/together.c, with the library of the checkout."""
    compiler, library = sysconfig.get_config_var("CC") or "cc", BUILD / "libseslite.a"
    if not library.exists() or not shutil.which(compiler.split()[0]):
        pytest.skip("the library in C is not built: make")
    program = tmp_path_factory.mktemp("c") / "together"
    sources = [f"-I{HERE.parents[2] / 'include'}", str(HERE / "together.c"), str(library)]
    subprocess.run(
        [*compiler.split(), "-pthread", "-o", str(program), *sources, "-lsqlite3", "-lm"], check=True
    )
    return str(program)


@pytest.mark.parametrize("third", ["C", "Rust"])
def test_three_programs_use_one_session_at_once(store, session, tmp_path, c_program, third):
    if third == "Rust" and not os.path.exists(RUST):
        pytest.skip("the program in Rust is not built: make client-rust, or SESLITE_RUST_PROGRAM=...")
    names, programs = ["python", "one", "two"], [c_program, c_program if third == "C" else RUST]
    arguments = [str(tmp_path / "store.db"), *KEY, str(EVENTS)]
    running = [
        subprocess.Popen([program, *arguments, name], stdout=subprocess.PIPE, text=True)
        for program, name in zip(programs, names[1:], strict=True)
    ]
    seen, end = dict.fromkeys(names, 0), time.monotonic() + 30
    try:
        with store.follow(KEY) as follower:
            for number in range(EVENTS):
                store.append(KEY, {"author": "python", "actions": {"stateDelta": {"python": number + 1}}})
            while min(seen.values()) < EVENTS and (event := follower.next(end - time.monotonic())):
                seen[event.author] += 1
        said = [json.loads(program.communicate(timeout=40)[0]) for program in running]
    finally:
        for program in running:
            program.kill()
            program.wait()
    assert [seen, *said] == [dict.fromkeys(names, EVENTS)] * 3
    assert {name: store.get(KEY).state[name] for name in names} == seen and store.check("log") == []
