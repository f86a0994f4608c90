"""A PostgreSQL server of the tests' own, where the package has stores on one."""

import atexit
import functools
import itertools
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from seslite._ffi import lib

SCRIPT = pathlib.Path(__file__).parents[3] / "test" / "postgres" / "server.sh"
numbers = itertools.count(1)


def is_built():
    return hasattr(lib, "ses_open_postgres")


@functools.cache
def start():
    """The folder of a server that runs until the process ends; or why there is none."""
    if not is_built():
        return None, "the package was built without SESLITE_WITH_POSTGRES=1"
    if not SCRIPT.is_file() or not shutil.which("psql"):
        return None, "there is no server here: make deps POSTGRES=1 installs one"
    folder = tempfile.mkdtemp(prefix="ses")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    started = subprocess.run(["sh", SCRIPT, "start", folder], capture_output=True, text=True)
    if started.returncode != 0:
        return None, started.stderr.strip()
    atexit.register(subprocess.run, ["sh", SCRIPT, "stop", folder], capture_output=True)
    return folder, None


def fresh():
    """The address of a database without a store."""
    folder, missing = start()
    if missing:
        pytest.skip(missing)
    name = f"fresh{next(numbers)}"
    command = [
        "psql",
        "-X",
        "-q",
        "-h",
        folder,
        "-U",
        "seslite",
        "-d",
        "postgres",
        "-c",
        f"CREATE DATABASE {name}",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return f"postgresql://seslite:secret@/{name}?host={folder}"
