"""What the services have in common: a store, which a path or a URI names."""

from __future__ import annotations

from typing import Any, Optional, TypeVar, Union, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit

from .. import Store, errors
from ..aio import AsyncStore
from ..store import SERVERS, StoreOptions
from . import ending

Self = TypeVar("Self", bound="OnStore")


def _path_of(uri: str) -> tuple[str, StoreOptions]:
    """The path and the options of a URI: seslite:///agents.db is relative to where the process runs,
    seslite:////var/agents.db is not, and seslite:// is a store in memory. Options:
    seslite:///agents.db?synchronous=normal. What follows "seslite+" is the address of a server:
    seslite+postgresql://user@host/database"""
    if uri.startswith(tuple("seslite+" + scheme for scheme in SERVERS)):
        return uri.removeprefix("seslite+"), {}
    parts = urlsplit(uri)
    if parts.scheme != "seslite" or parts.netloc:
        raise errors.InvalidError(
            f"not the URI of a store: {uri!r}; write seslite:///agents.db or seslite:////folder/agents.db"
        )
    options = {name: _option_of(name, text) for name, text in parse_qsl(parts.query, keep_blank_values=True)}
    return unquote(parts.path[1:]) or ":memory:", options  # type: ignore[return-value]


def _option_of(name: str, text: str) -> Any:
    """The value of an option in a URI."""
    kind = get_type_hints(StoreOptions).get(name)
    if kind is str:
        return text
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind is int or kind == float | None:
        try:
            return int(text) if kind is int else float(text)
        except ValueError:
            pass
    wanted: dict[Any, str] = {
        bool: "is true or false",
        int: "is a whole number",
        float | None: "is a number of seconds",
    }
    raise errors.InvalidError(f"{name}={text}: {name} {wanted.get(kind, 'is not an option of a URI')}")


class OnStore:
    """Part of a service."""

    def __init__(
        self,
        path: Union[str, Store, None],
        uri: Optional[str],
        agents_dir: Optional[str],
        threads: int,
        options: StoreOptions,
    ) -> None:
        if (path is None) == (uri is None):
            raise errors.MisuseError("give the service a path or a uri")
        if uri is not None:
            path, of_uri = _path_of(uri)
            options = {**of_uri, **options}
        assert path is not None
        self._is_owner = not isinstance(path, Store)
        if options and not self._is_owner:
            raise errors.MisuseError("a store that is open has its options")
        self._store = AsyncStore(path if isinstance(path, Store) else Store(path, **options), threads=threads)
        self._own_clock = bool(self.store._callbacks["clock"])
        if agents_dir is not None:
            ending.close_at_sigterm(self.store)

    @property
    def store(self) -> Store:
        """The store, for operations without an ADK call."""
        return self._store.store

    async def close(self) -> None:
        """Closes the store, unless it was given open."""
        if self._is_owner:
            await self._store.close()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
