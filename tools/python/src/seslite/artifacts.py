"""Artifacts: the files, images and reports of a session or of a user."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict, Union

from . import _ffi, errors
from ._ffi import NULL, JsonIn, ffi, lib
from .upkeep import Caught
from .values import Deleted, KeyLike, key_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .session import Session
    from .store import Store

KINDS = {"bytes": lib.SES_ARTIFACT_BYTES, "text": lib.SES_ARTIFACT_TEXT, "uri": lib.SES_ARTIFACT_URI}
KIND_NAMES = {number: name for name, number in KINDS.items()}
FAILED = lib.SES_MISUSE  # what a callback returns that raised; its own exception is what the caller gets


class Readable(Protocol):
    """A file that is open for reading bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""


ArtifactData = Union[str, bytes, bytearray, memoryview, Readable, Iterable[bytes]]
"""A str is a text. The others are bytes: at once, from a file, or piece by piece."""


class ArtifactInfo(NamedTuple):
    """One version of an artifact."""

    name: str
    """With its prefix `user:`, if it is the user's."""
    version: int
    created_us: int
    size: int
    kind: str
    """ "bytes"; "text"; or "uri", whose bytes are the address of a file or of another artifact."""
    mime_type: str | None
    display_name: str | None
    metadata: bytes | None
    """A JSON object, byte for byte as it was given."""
    hash: str
    """SHA-256 of the bytes, in hexadecimal."""
    uri: str
    """The address of this version: artifact://apps/..."""


def _info_of(info: Any) -> ArtifactInfo:
    """A copy of what C lends."""
    return ArtifactInfo(
        _ffi.required(info.name),
        info.version,
        info.created_us,
        info.size,
        KIND_NAMES.get(info.kind, str(info.kind)),  # a number is the kind of a later version
        _ffi.string(info.mime_type),
        _ffi.string(info.display_name),
        None if info.metadata == NULL else ffi.unpack(info.metadata, info.metadata_len),
        _ffi.required(info.hash),
        _ffi.required(info.uri),
    )


# -------------------------------------------------------------------------------------------------- saving


class ArtifactOptions(TypedDict, total=False):
    """The options of saving: the fields of NewArtifact."""

    kind: str | None
    mime_type: str | None
    display_name: str | None
    metadata: JsonIn
    size: int | None
    created_us: int | None
    max_bytes: int


class NewArtifact(NamedTuple):
    """An artifact that is to be saved."""

    name: str
    data: ArtifactData
    kind: str | None = None
    """ "bytes", "text" or "uri"; None: "text" if `data` is a str, otherwise "bytes"."""
    mime_type: str | None = None
    display_name: str | None = None
    metadata: JsonIn = None
    """A JSON object."""
    size: int | None = None
    """How many bytes there must be, or the call is an InvalidError. None: any number."""
    created_us: int | None = None
    """The time of the version, for imports. None: the store's clock."""
    max_bytes: int = 0
    """More bytes are a LimitError. 0: 64 MiB."""


def _reader(source: Any) -> Callable[[int], Any]:
    """How the bytes of a file, or of pieces, are read."""
    if hasattr(source, "read"):
        return source.read
    pieces, rest = iter(source), memoryview(b"")

    def read(size: int) -> memoryview:
        nonlocal rest
        while not rest:
            piece = next(pieces, None)
            if piece is None:
                break
            rest = memoryview(piece).cast("B")
        found, rest = rest[:size], rest[size:]
        return found

    return read


def _save(
    run: Callable[..., int], function: Any, new: NewArtifact, *results: Any, anyway: bool = False
) -> None:
    """A call that saves an artifact."""
    keep: list[Any] = []
    kind = new.kind or ("text" if isinstance(new.data, str) else "bytes")
    if kind not in KINDS:
        raise errors.InvalidError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    metadata, metadata_len = _ffi.json_member(new.metadata, "the metadata", keep)
    options = _ffi.struct(
        "ses_artifact_save_options",
        flags=lib.SES_ARTIFACT_WITHOUT_SESSION if anyway else 0,
        kind=KINDS[kind],
        mime_type=_ffi.c_text(new.mime_type, "the MIME type", keep),
        display_name=_ffi.c_text(new.display_name, "the name to display", keep),
        metadata=metadata,
        metadata_len=metadata_len,
        created_us=_ffi.int64(new.created_us, keep),
        max_bytes=new.max_bytes,
    )
    name, length = _ffi.encode(new.name, "the artifact's name"), lib.SES_NUL if new.size is None else new.size
    if length < 0:
        raise errors.InvalidError(f"the artifact's size is negative: {length}")
    with Caught() as caught:
        data: Any = NULL
        if isinstance(new.data, (str, bytes, bytearray, memoryview)):
            data = ffi.from_buffer(
                _ffi.text_in(new.data, "the artifact") if isinstance(new.data, str) else new.data
            )
            if new.size not in (None, len(data)):
                raise errors.InvalidError(f"the artifact has {len(data)} bytes in place of {new.size}")
            length = len(data)
        else:
            context = ffi.new_handle((caught, _reader(new.data), None))
            options.read, options.read_context = lib.ses_py_read, context
        run(function, name, data, length, options, *results)


class Artifacts(_ffi.Handle):
    """Artifacts for appends to one session: each append saves them in its transaction, and names their
    versions in the event's `actions.artifactDelta`. After an append that failed, give the same list to the
    next try: nothing is read again."""

    __slots__ = ()
    _what = "list of artifacts"

    def __init__(self, store: Store, key: KeyLike) -> None:
        made = ffi.new("ses_artifacts **")
        store._run_key(key_of(key), lib.ses_artifacts_open, made)
        super().__init__(made[0], lib.ses_artifacts_close)

    def add(self, name: str, data: ArtifactData, **options: Unpack[ArtifactOptions]) -> None:
        """Adds an artifact; see NewArtifact. More than 4 MiB are written at once, where nobody sees them."""
        _save(self._run, lib.ses_artifacts_add, NewArtifact(name, data, **options))

    def offload(self, size: int) -> None:
        """Makes an artifact of each inline data of the event with more than `size` bytes. Its part refers to
        the artifact."""
        self._run(lib.ses_artifacts_offload, size)

    @property
    def versions(self) -> list[int]:
        """The versions that the added artifacts got by the last append that succeeded."""
        with self._guard:
            pointer, found = self._live(), list[int]()
            while (version := lib.ses_artifacts_version(pointer, len(found))) >= 0:
                found.append(version)
            return found


def attached(
    source: Session | tuple[Store, KeyLike],
    artifacts: Artifacts | Iterable[NewArtifact] | None,
    offload_bytes: int | None,
) -> AbstractContextManager[Any]:
    """What an append is given: a list of the library, or None."""
    if artifacts is None and offload_bytes is None:
        return nullcontext()
    return _attached(source, artifacts, offload_bytes)


@contextmanager
def _attached(
    source: Session | tuple[Store, KeyLike],
    artifacts: Artifacts | Iterable[NewArtifact] | None,
    offload_bytes: int | None,
) -> Iterator[Any]:
    if isinstance(artifacts, Artifacts):
        if offload_bytes is not None:
            artifacts.offload(offload_bytes)
        with artifacts._guard:
            yield artifacts._live()
        return
    store, key = source if isinstance(source, tuple) else (source.store, source.key)
    with Artifacts(store, key) as made:
        for new in artifacts or ():
            _save(made._run, lib.ses_artifacts_add, new)
        if offload_bytes is not None:
            made.offload(offload_bytes)
        with made._guard:
            yield made._live()


# ------------------------------------------------------------------------------------------------- reading


class _Opened(_ffi.Handle):
    __slots__ = ()
    _what = "artifact"


class Artifact(_ffi.Unique, io.RawIOBase):
    """An open artifact: a file of bytes that is read and sought without a buffer. `info` says which version
    it is.

    Read large portions, or through io.BufferedReader: each read is a call. When all bytes were read in order,
    the last read raises CorruptError if they do not have their hash. Use it in one thread at a time, and
    close it.
    """

    _what = "artifact"

    def __init__(self, pointer: Any) -> None:
        self._opened = _Opened(pointer, _ffi.limited(lib.ses_artifact_close))
        self._position = 0
        self.info = _info_of(lib.ses_artifact_info_of(pointer))

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Reads bytes into a buffer, and returns their number, which is less than fit only at the end."""
        count = ffi.new("size_t *")
        with ffi.from_buffer("char[]", buffer, require_writable=True) as into:
            self._opened._run(lib.ses_artifact_read, self._position, into, len(into), count)
        self._position += count[0]
        return count[0]

    def readall(self) -> bytes:
        """The rest of the bytes."""
        rest = bytearray(max(0, self.info.size - self._position))
        del rest[self.readinto(rest) :]
        return bytes(rest)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Moves to a position, which it returns."""
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.info.size}
        if whence not in begin or begin[whence] + offset < 0:
            raise errors.InvalidError(f"there is no position {offset} from {whence}")
        self._position = begin[whence] + offset
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position

    def close(self) -> None:
        """Closes it."""
        super().close()
        self._opened.close()

    def __repr__(self) -> str:
        return f"<seslite.Artifact {self.info.name!r}, version {self.info.version}{', closed' if self.closed else ''}>"


def _open(run: Callable[..., int], function: Any, name: str, version: int | None, stored: bool) -> Artifact:
    keep: list[Any] = []
    options = _ffi.struct(
        "ses_artifact_open_options",
        flags=lib.SES_ARTIFACT_OPEN_STORED if stored else 0,
        version=_ffi.int64(version, keep),
    )
    made = ffi.new("ses_artifact **")
    run(function, _ffi.encode(name, "the artifact's name"), options, made)
    return Artifact(made[0])


def _listed(run: Callable[..., int], function: Any, *name: bytes) -> Iterator[ArtifactInfo]:
    """A list, page by page: of names, or of the versions of one."""
    after, first_version = NULL, 0
    while True:
        options = _ffi.struct("ses_artifact_list_options", after=after, first_version=first_version)
        made = ffi.new("ses_artifact_list **")
        run(function, *name, options, made)
        page = ffi.gc(made[0], lib.ses_artifact_list_close)
        found = [
            _info_of(lib.ses_artifact_list_at(page, at)) for at in range(lib.ses_artifact_list_count(page))
        ]
        yield from found
        if not lib.ses_artifact_list_more(page):
            return
        if name:
            first_version = found[-1].version + 1
        else:
            after = ffi.new("char[]", found[-1].name.encode())


def _inline(run: Callable[..., int], function: Any, event: JsonIn, size: int) -> bytes | None:
    options = _ffi.struct("ses_artifact_inline_options", bytes=size)
    return _ffi.taken(run, function, *_ffi.json_in(event, "the event"), options)


def _delete(run: Callable[..., int], function: Any, name: str, secure: bool) -> Deleted:
    count = ffi.new("int64_t *")
    options = _ffi.struct("ses_delete_options", flags=lib.SES_SECURE if secure else 0)
    code = run(function, _ffi.encode(name, "the artifact's name"), options, count)
    return Deleted(count[0], code == lib.SES_MORE)


# --------------------------------------------------------------------------------------------- both forms


class OfSession:
    """Part of Session."""

    __slots__ = ()
    _run: Any

    def artifact_save(
        self, name: str, data: ArtifactData, *, anyway: bool = False, **options: Unpack[ArtifactOptions]
    ) -> int:
        """Saves the next version of an artifact, and returns its number: a str as a text; or bytes, at once,
        from an open file, or piece by piece. `options` are the other fields of NewArtifact. An artifact whose
        name begins with "user:" belongs to the user, whose sessions all see it. With `anyway` the session
        need not exist."""
        version = ffi.new("int64_t *")
        _save(self._run, lib.ses_artifact_save, NewArtifact(name, data, **options), version, anyway=anyway)
        return version[0]

    def artifact_open(self, name: str, *, version: int | None = None, stored: bool = False) -> Artifact:
        """Opens a version for reading; None: the newest. A reference to another artifact opens that one, and
        the tombstone of a rewind counts as absent, unless `stored` is set. NotFoundError: there is no such
        artifact."""
        return _open(self._run, lib.ses_artifact_open, name, version, stored)

    def artifact_read(self, name: str, *, version: int | None = None, stored: bool = False) -> bytes:
        """The bytes of a version; see artifact_open."""
        with self.artifact_open(name, version=version, stored=stored) as artifact:
            return artifact.readall()

    def artifact_info(self, name: str, *, version: int | None = None, stored: bool = False) -> ArtifactInfo:
        """What is known of a version; see artifact_open."""
        with self.artifact_open(name, version=version, stored=stored) as artifact:
            return artifact.info

    def artifacts(self) -> Iterator[ArtifactInfo]:
        """The artifacts of the session and of its user, each with its newest version, in the order of their
        names."""
        return _listed(self._run, lib.ses_artifact_names)

    def artifact_versions(self, name: str) -> Iterator[ArtifactInfo]:
        """The versions of one artifact, the oldest first."""
        return _listed(self._run, lib.ses_artifact_versions, _ffi.encode(name, "the artifact's name"))

    def artifact_delete(self, name: str, *, secure: bool = False) -> Deleted:
        """Deletes all versions of an artifact. It is not an error if there are none."""
        return _delete(self._run, lib.ses_artifact_delete, name, secure)

    def artifact_inline(self, event: JsonIn, *, size: int = 0) -> bytes | None:
        """The JSON of an event of the session with the bytes of artifacts in place of references to them, for
        programs that do not read artifacts: this undoes `offload_bytes` of append. `size` bytes of artifacts
        at most; 0: any number. None: all references stay, or there are none."""
        return _inline(self._run, lib.ses_artifact_inline, event, size)


class OfStore:
    """Part of Store. A key without a session means the user's artifacts."""

    _by_key: Any

    def artifact_save(
        self,
        key: KeyLike,
        name: str,
        data: ArtifactData,
        *,
        anyway: bool = False,
        **options: Unpack[ArtifactOptions],
    ) -> int:
        """Saves the next version of an artifact, and returns its number. See Session.artifact_save. Without a
        session in the key it is the user's, and "user:" is put in front of its name."""
        version = ffi.new("int64_t *")
        _save(
            self._by_key(key),
            lib.ses_artifact_save_by_key,
            NewArtifact(name, data, **options),
            version,
            anyway=anyway,
        )
        return version[0]

    def artifact_open(
        self, key: KeyLike, name: str, *, version: int | None = None, stored: bool = False
    ) -> Artifact:
        """Opens a version for reading. See Session.artifact_open."""
        return _open(self._by_key(key), lib.ses_artifact_open_by_key, name, version, stored)

    def artifact_read(
        self, key: KeyLike, name: str, *, version: int | None = None, stored: bool = False
    ) -> bytes:
        """The bytes of a version. See Session.artifact_open."""
        with self.artifact_open(key, name, version=version, stored=stored) as artifact:
            return artifact.readall()

    def artifact_info(
        self, key: KeyLike, name: str, *, version: int | None = None, stored: bool = False
    ) -> ArtifactInfo:
        """What is known of a version. See Session.artifact_open."""
        with self.artifact_open(key, name, version=version, stored=stored) as artifact:
            return artifact.info

    def artifacts(self, key: KeyLike) -> Iterator[ArtifactInfo]:
        """The artifacts of a session and of its user, each with its newest version, in the order of their
        names. Without a session in the key: only the user's."""
        return _listed(self._by_key(key), lib.ses_artifact_names_by_key)

    def artifact_versions(self, key: KeyLike, name: str) -> Iterator[ArtifactInfo]:
        """The versions of one artifact, the oldest first."""
        return _listed(
            self._by_key(key), lib.ses_artifact_versions_by_key, _ffi.encode(name, "the artifact's name")
        )

    def artifact_delete(self, key: KeyLike, name: str, *, secure: bool = False) -> Deleted:
        """Deletes all versions of an artifact. It is not an error if there are none."""
        return _delete(self._by_key(key), lib.ses_artifact_delete_by_key, name, secure)

    def artifact_inline(self, key: KeyLike, event: JsonIn, *, size: int = 0) -> bytes | None:
        """The JSON of an event with the bytes of artifacts in place of references to them. See
        Session.artifact_inline. The session need not exist."""
        return _inline(self._by_key(key), lib.ses_artifact_inline_by_key, event, size)
