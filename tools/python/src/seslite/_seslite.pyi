"""The extension that build_ffi.py builds. C results have no Python types: the callers declare them."""

from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class _Ffi:
    def def_extern(self, name: str = ..., error: int = ...) -> Callable[[_F], _F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _Ffi
lib: Any
