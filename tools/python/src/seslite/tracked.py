"""Tracked state: the state as a callback or a tool sees it, instruction templates, and the output of an
agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import _calls, _ffi, errors
from ._ffi import NULL, JsonIn, ffi, lib
from .artifacts import Artifacts, NewArtifact
from .upkeep import Caught
from .values import Appended, Labels

if TYPE_CHECKING:
    from .session import Session
    from .store import Store

ArtifactTexts = Callable[[str], "str | bytes | None"]


@ffi.def_extern(error=lib.SES_MISUSE)
def ses_py_artifact(context: Any, name: Any, text: Any, length: Any, _error: Any) -> int:
    caught, artifacts, pointer = ffi.from_handle(context)

    def give() -> int:
        found = artifacts(_ffi.required(name))
        if found is None:
            return lib.SES_NOTFOUND
        encoded = _ffi.text_in(found, "the artifact")
        text[0] = lib.ses_text_make(pointer, len(encoded))
        if text[0] == NULL:
            return lib.SES_NOMEM
        ffi.memmove(text[0], encoded, len(encoded))
        length[0] = len(encoded)
        return 0

    code = caught.run(give)
    return lib.SES_MISUSE if code is None else code


def _render(
    run: Any,
    function: Any,
    store: Store,
    template: str | bytes,
    artifacts: ArtifactTexts | None,
    adk_braces: bool,
    adk_spaces: bool,
) -> str:
    encoded = _ffi.text_in(template, "the template")
    made, length = ffi.new("char **"), ffi.new("size_t *")
    with Caught() as caught, store._pointer() as pointer:
        context = ffi.new_handle((caught, artifacts, pointer))
        options = _ffi.struct(
            "ses_render_options",
            flags=(lib.SES_RENDER_ADK_BRACES if adk_braces else 0)
            | (lib.SES_RENDER_ADK_SPACES if adk_spaces else 0),
            artifacts=lib.ses_py_artifact if artifacts else NULL,
            artifacts_context=context,
        )
        run(function, encoded, len(encoded), options, made, length)
    try:
        return ffi.unpack(made[0], length[0]).decode()
    finally:
        lib.ses_free(made[0])


def render(
    session: Session,
    template: str | bytes,
    *,
    artifacts: ArtifactTexts | None = None,
    adk_braces: bool = False,
    adk_spaces: bool = False,
) -> str:
    """Renders an instruction template with the state of a session. `artifacts` gives the text of an artifact,
    or None. Without it the artifacts of the store are read. With `adk_spaces`, white space of any script
    around a name is ignored, as google-adk does."""
    return _render(session._run, lib.ses_render, session.store, template, artifacts, adk_braces, adk_spaces)


class Tracked(_ffi.Handle):
    """A view. Reads find its own writes first; writes stay in it until it is appended. `view["key"]` reads
    and writes values as Python has them; get_json and set_json go by bytes."""

    __slots__ = ("_session",)
    _what = "view"

    def __init__(self, session: Session, *, read_only: bool = False, accumulate: bool = False) -> None:
        made = ffi.new("ses_tracked **")
        flags = (lib.SES_TRACK_READ_ONLY if read_only else 0) | (
            lib.SES_TRACK_ACCUMULATE if accumulate else 0
        )
        session._run(lib.ses_tracked_open, _ffi.struct("ses_track_options", flags=flags), made)
        self._session = session
        super().__init__(made[0], lib.ses_tracked_close, session._guard)

    def _borrowed(self, function: Any, name: str) -> bytes | None:
        with self._guard:
            return _ffi.borrowed(function, self._live(), _ffi.encode(name, "the state key"))

    @property
    def session(self) -> Session:
        """The session that it is a view on."""
        assert self._look(lib.ses_tracked_session) == self._session._pointer or self._session.closed
        return self._session

    # ----------------------------------------------------------------------------------------- writing

    def __setitem__(self, name: str, value: Any) -> None:
        self.set_json(name, _ffi.dumps(value))

    def __delitem__(self, name: str) -> None:
        self._run(lib.ses_tracked_remove, _ffi.encode(name, "the state key"))

    def set_json(self, name: str, json: str | bytes) -> None:
        """Writes one value as JSON text."""
        encoded = _ffi.text_in(json, "the value")
        self._run(lib.ses_tracked_set, _ffi.encode(name, "the state key"), encoded, len(encoded))

    def set_string(self, name: str, text: str | bytes) -> None:
        """Writes one value as a string."""
        encoded = _ffi.text_in(text, "the text")
        self._run(lib.ses_tracked_set_string, _ffi.encode(name, "the state key"), encoded, len(encoded))

    def set_int(self, name: str, value: int) -> None:
        """Writes one value as an integer of 64 bits."""
        if not -(2**63) <= value < 2**63:
            raise errors.StateRangeError(f"{name}: {value} does not fit into 64 bits; use set_json")
        self._run(lib.ses_tracked_set_int64, _ffi.encode(name, "the state key"), value)

    def set_float(self, name: str, value: float) -> None:
        """Writes one value as a number."""
        self._run(lib.ses_tracked_set_double, _ffi.encode(name, "the state key"), value)

    def set_bool(self, name: str, value: bool) -> None:
        """Writes one value as true or false."""
        self._run(lib.ses_tracked_set_bool, _ffi.encode(name, "the state key"), bool(value))

    def discard(self) -> None:
        """Drops the view's own writes, and its notes of what it read."""
        self._look(lib.ses_tracked_discard)

    # ----------------------------------------------------------------------------------------- reading

    def __getitem__(self, name: str) -> Any:
        json = self.get_json(name)
        if json is None:
            raise KeyError(name)
        return _ffi.loads(json)

    def get(self, name: str, default: Any = None) -> Any:
        """One value, parsed; `default` if there is no such key."""
        json = self.get_json(name)
        return default if json is None else _ffi.loads(json)

    def __contains__(self, name: object) -> bool:
        return bool(self._look(lib.ses_tracked_has, _ffi.encode(name, "the state key")))

    def get_json(self, name: str) -> bytes | None:
        """One value as JSON text, or None if there is no such key."""
        return self._borrowed(lib.ses_tracked_get, name)

    def get_string(self, name: str) -> str | None:
        """One string value, or None if there is no such key."""
        text = self._borrowed(lib.ses_tracked_get_string, name)
        return None if text is None else text.decode()

    def get_int(self, name: str) -> int | None:
        """One 64-bit integer value, or None if there is no such key."""
        return _calls.number(self._run, lib.ses_tracked_get_int64, "int64_t *", name)

    def get_float(self, name: str) -> float | None:
        """One number value, or None if there is no such key."""
        return _calls.number(self._run, lib.ses_tracked_get_double, "double *", name)

    def get_bool(self, name: str) -> bool | None:
        """One boolean value, or None if there is no such key."""
        value = _calls.number(self._run, lib.ses_tracked_get_bool, "int *", name)
        return None if value is None else bool(value)

    @property
    def changed(self) -> bool:
        """Whether it has writes of its own."""
        return bool(self._look(lib.ses_tracked_changed))

    def json(self) -> bytes:
        """Everything that the view shows."""
        with self._guard:
            return _ffi.owned(lib.ses_tracked_json, self._live()) or b""

    def delta(self) -> bytes:
        """Its own writes."""
        with self._guard:
            return _ffi.owned(lib.ses_tracked_delta, self._live()) or b""

    # --------------------------------------------------------------------------------------- appending

    def append(
        self,
        event: JsonIn,
        *,
        anyway: bool = False,
        expected: JsonIn = None,
        delta: JsonIn = None,
        lease: int = 0,
        takes_draft: bool = False,
        answers: str | None = None,
        title: str | None = None,
        labels: Labels | None = None,
        artifacts: Artifacts | Iterable[NewArtifact] | None = None,
        offload_bytes: int | None = None,
    ) -> Appended:
        """Appends an event together with the view's writes. See Session.append."""
        return _calls.append(
            self._run,
            lib.ses_tracked_append,
            self._session,
            event,
            anyway=anyway,
            expected=expected,
            delta=delta,
            lease=lease,
            takes_draft=takes_draft,
            answers=answers,
            title=title,
            labels=labels,
            artifacts=artifacts,
            offload_bytes=offload_bytes,
        )

    def append_output(
        self,
        event: JsonIn,
        agent: str,
        key: str | None,
        *,
        anyway: bool = False,
        expected: JsonIn = None,
        delta: JsonIn = None,
        lease: int = 0,
        takes_draft: bool = False,
        answers: str | None = None,
        title: str | None = None,
        labels: Labels | None = None,
        artifacts: Artifacts | Iterable[NewArtifact] | None = None,
        offload_bytes: int | None = None,
    ) -> Appended:
        """Appends an event, and saves the agent's final text under a state key; see Session.track."""
        return _calls.append(
            self._run,
            lib.ses_output_append,
            self._session,
            event,
            _ffi.encode(agent, "the agent"),
            NULL if key is None else _ffi.encode(key, "the state key"),
            anyway=anyway,
            expected=expected,
            delta=delta,
            lease=lease,
            takes_draft=takes_draft,
            answers=answers,
            title=title,
            labels=labels,
            artifacts=artifacts,
            offload_bytes=offload_bytes,
        )

    def render(
        self,
        template: str | bytes,
        *,
        artifacts: ArtifactTexts | None = None,
        adk_braces: bool = False,
        adk_spaces: bool = False,
    ) -> str:
        """Renders an instruction template with the state that the view shows."""
        return _render(
            self._run,
            lib.ses_tracked_render,
            self._session.store,
            template,
            artifacts,
            adk_braces,
            adk_spaces,
        )
