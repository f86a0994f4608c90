"""Says what pyproject.toml cannot: the extension, and the version, which is the header's."""

import pathlib
import sys
import sysconfig

from setuptools import setup

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import build_ffi  # noqa: E402  (next to this file, which is not on the path in an isolated build)

# cffi uses the limited API of 3.10, so that one wheel serves this Python and newer ones; it does not exist
# without a GIL.
LIMITED = {} if sysconfig.get_config_var("Py_GIL_DISABLED") else {"bdist_wheel": {"py_limited_api": "cp310"}}

build_ffi.fetch_sources()
setup(version=build_ffi.version(), cffi_modules=["build_ffi.py:builder"], options=LIMITED)
