"""An artifact service of google-adk on a seslite store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional, Union

from google.adk.artifacts import artifact_util
from google.adk.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService, ensure_part
from google.adk.errors.input_validation_error import InputValidationError
from google.genai import types
from typing_extensions import Unpack, override

from .. import ArtifactInfo, Key, NewArtifact, Store, errors
from .._ffi import loads
from ..store import StoreOptions
from . import events as adk_events
from .on_store import OnStore


@contextmanager
def _validation() -> Iterator[None]:
    """What the store refuses is the caller's InputValidationError."""
    try:
        yield
    except errors.InvalidError as error:
        raise InputValidationError(str(error)) from error


def _key_of(app: str, user: str, session: Optional[str]) -> Key:
    """Whose artifacts are meant. The ADK's services refuse ids that lead out of a folder."""
    validate = getattr(artifact_util, "validate_path_segment", None)  # which google-adk 1.39 does not have
    for value, name in ((app, "app_name"), (user, "user_id"), (session, "session_id")):
        if validate is not None and value is not None:
            validate(value, name)
    with _validation():
        return Key(app, user, session)


def _check_name(name: str) -> None:
    """To the store a name is never a path. But a tool may write an artifact to a file of its name, so as by
    FileArtifactService one that leads out of a folder is not saved."""
    path = name.removeprefix("user:").strip().replace("\\", "/")
    if path.startswith("/") or re.match("[A-Za-z]:", path) or ".." in path.split("/"):
        raise InputValidationError(f"the artifact's name leads out of a folder: {name!r}")


def _check_reference(key: Key, uri: str) -> None:
    """The store refuses references out of the scope itself, but not in the ADK's words."""
    validate = getattr(
        artifact_util, "validate_artifact_reference_scope", None
    )  # which google-adk 1.39 does not have
    parsed = artifact_util.parse_artifact_uri(uri)
    if validate is not None and parsed is not None:
        validate(app_name=key.app, user_id=key.user, session_id=key.session, parsed_uri=parsed)


def _new_of(
    key: Key, name: str, part: types.Part, metadata: Optional[dict[str, Any]], created_us: Optional[int]
) -> NewArtifact:
    """An artifact as the store saves it."""
    text = adk_events.state_text(metadata, "the custom metadata") if metadata else None
    new = NewArtifact(name, b"", metadata=text, created_us=created_us)
    if part.inline_data is not None:
        blob = part.inline_data
        if blob.data is None:
            raise InputValidationError("Artifact inline_data must contain data.")
        return new._replace(
            data=blob.data, mime_type=blob.mime_type or None, display_name=blob.display_name or None
        )
    if part.text is not None:
        return new._replace(data=part.text, mime_type="text/plain")
    if part.file_data is None:
        raise InputValidationError("Not supported artifact type.")
    file = part.file_data
    if not file.file_uri:
        raise InputValidationError("Artifact file_data must have a file_uri.")
    new = new._replace(data=file.file_uri, kind="uri", display_name=file.display_name or None)
    if artifact_util.is_artifact_ref(part):
        _check_reference(key, file.file_uri)
        return new  # its type is that of the other artifact
    return new._replace(mime_type=file.mime_type or None)


def _part_of(info: ArtifactInfo, data: bytes) -> types.Part:
    if info.kind == "text":
        return types.Part(text=data.decode())
    if info.kind == "uri":
        named = {"mime_type": info.mime_type, "display_name": info.display_name}
        return types.Part(file_data=types.FileData(file_uri=data.decode(), **named))
    return types.Part(
        inline_data=types.Blob(data=data, mime_type=info.mime_type, display_name=info.display_name)
    )


def _version_of(info: ArtifactInfo) -> ArtifactVersion:
    return ArtifactVersion(
        version=info.version,
        canonical_uri=info.uri,
        custom_metadata=loads(info.metadata) if info.metadata else {},
        create_time=info.created_us / 1e6,
        mime_type=info.mime_type or ("text/plain" if info.kind == "text" else None),
    )


def _now_us() -> int:
    """The time that the ADK gives to a version."""
    return round(ArtifactVersion(version=0, canonical_uri="").create_time * 1e6)


class SesliteArtifactService(OnStore, BaseArtifactService):
    """Keeps the artifacts of google-adk in a store. `path` is what seslite.Store takes, or a store that is
    open, which can be that of a SesliteSessionService: then they share one file, and deleting a session
    deletes its artifacts.

    The other parameters are those of SesliteSessionService. A part is kept with its text, its inline data or
    its file data. An artifact that is saved without a session is the user's, and is listed with "user:" in
    front of its name.
    """

    def __init__(
        self,
        path: Union[str, Store, None] = None,
        *,
        uri: Optional[str] = None,
        agents_dir: Optional[str] = None,
        threads: int = 8,
        **options: Unpack[StoreOptions],
    ) -> None:
        super().__init__(path, uri, agents_dir, threads, options)

    @override
    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: Union[types.Part, dict[str, Any]],
        session_id: Optional[str] = None,
        custom_metadata: Optional[dict[str, Any]] = None,
    ) -> int:
        key, part = _key_of(app_name, user_id, session_id), ensure_part(artifact)
        _check_name(filename)
        with _validation():
            new = _new_of(key, filename, part, custom_metadata, None if self._own_clock else _now_us())
            # In the ADK an artifact may be saved before its session is.
            return await self._store.artifact_save(key, anyway=True, **new._asdict())

    @override
    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: Optional[str] = None,
        version: Optional[int] = None,
    ) -> Optional[types.Part]:
        key = _key_of(app_name, user_id, session_id)
        with _validation():
            return await self._store.read(self._load, key, filename, version)

    def _load(self, key: Key, name: str, version: Optional[int]) -> Optional[types.Part]:
        if version is not None and version < 0:
            return None
        try:
            with self.store.artifact_open(key, name, version=version) as artifact:
                return _part_of(artifact.info, artifact.readall())
        except errors.NotFoundError:
            return None

    @override
    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: Optional[str] = None
    ) -> list[str]:
        key = _key_of(app_name, user_id, session_id)
        with _validation():
            return [each.name for each in await self._store.artifacts(key)]

    @override
    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: Optional[str] = None
    ) -> None:
        key = _key_of(app_name, user_id, session_id)
        with _validation():
            await self._store.artifact_delete(key, filename)

    @override
    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: Optional[str] = None
    ) -> list[int]:
        found = await self.list_artifact_versions(
            app_name=app_name, user_id=user_id, filename=filename, session_id=session_id
        )
        return [each.version for each in found]

    @override
    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: Optional[str] = None
    ) -> list[ArtifactVersion]:
        key = _key_of(app_name, user_id, session_id)
        with _validation():
            return [_version_of(each) for each in await self._store.artifact_versions(key, filename)]

    @override
    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: Optional[str] = None,
        version: Optional[int] = None,
    ) -> Optional[ArtifactVersion]:
        key = _key_of(app_name, user_id, session_id)
        if version is not None and version < 0:
            return None
        with _validation():
            try:
                return _version_of(
                    await self._store.artifact_info(key, filename, version=version, stored=True)
                )
            except errors.NotFoundError:
                return None
