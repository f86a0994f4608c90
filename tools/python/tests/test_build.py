"""What is built, and what is said where it cannot be."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest
from common import HAS_OWN_SQLITE

import seslite
from seslite import _seslite

FOLDER = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("compiler", ["/none/cc", "cc -no-such-option"])
def test_a_build_without_a_compiler_says_what_is_needed(compiler):
    program = "import build_ffi; build_ffi.declarations()"
    environment = {**os.environ, "CC": compiler}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=FOLDER, env=environment, capture_output=True, text=True
    )
    assert ran.returncode != 0 and "apt install gcc make python3-dev libsqlite3-dev" in ran.stderr
    assert compiler in ran.stderr and "Traceback" not in ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="ELF")
def test_the_extension_is_stripped():
    extension = pathlib.Path(_seslite.__file__).read_bytes()
    assert b".debug_info" not in extension and b".symtab" not in extension


def test_sqlite_is_the_one_that_was_asked_for(store):
    assert seslite.sqlite_version == store.info().sqlite_version
    if "SESLITE_HAS_OWN_SQLITE" in os.environ:
        assert HAS_OWN_SQLITE == (os.environ["SESLITE_HAS_OWN_SQLITE"] == "1")


@pytest.mark.parametrize("folder", ["/none", __file__])
def test_a_build_without_the_sources_of_sqlite_names_them(folder):
    program = "import build_ffi; build_ffi.builder()"
    environment = {**os.environ, "SESLITE_SQLITE": folder}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=FOLDER, env=environment, capture_output=True, text=True
    )
    assert (
        ran.returncode != 0
        and f"there is no {folder}/sqlite3.c" in ran.stderr
        and "Traceback" not in ran.stderr
    )


def test_the_package_is_described():
    described = importlib.metadata.metadata("seslite")
    assert described["License-Expression"] == "Apache-2.0" and described["Requires-Python"] == ">=3.10"
    assert "Typing :: Typed" in described.get_all("Classifier") and described["Keywords"]
    assert "](../" not in described.get_payload()  # a link that leads nowhere outside of the repository
