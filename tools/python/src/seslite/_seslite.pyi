"""The extension, as build_ffi.py makes it. What C gives has no type in Python: the callers give it one."""

from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class _Ffi:
    def def_extern(self, name: str = ..., error: int = ...) -> Callable[[_F], _F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _Ffi
lib: Any
