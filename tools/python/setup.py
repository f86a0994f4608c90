"""Says what pyproject.toml cannot: the extension, and the version, which is the header's."""

import pathlib
import sys

from setuptools import setup

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import build_ffi  # noqa: E402  (it stands beside this file, which is on no path in an isolated build)

build_ffi.fetch_sources()
setup(version=build_ffi.version(), cffi_modules=["build_ffi.py:builder"])
