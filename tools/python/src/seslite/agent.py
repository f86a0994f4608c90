"""What an agent framework needs besides the store: building and reading events, the context of a model,
pending calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _calls, _ffi, errors
from ._ffi import NULL, JsonIn, ffi, lib
from .artifacts import Artifacts, NewArtifact, attached
from .upkeep import Caught
from .values import Appended, Event, KeyLike, Labels, event_of, key_of

if TYPE_CHECKING:
    from .session import Session
    from .store import Store


class Function(NamedTuple):
    """A function call or response. `json`: the arguments, or the response."""

    id: str | None
    name: str | None
    json: bytes | None


class Part(NamedTuple):
    """A part of a content."""

    json: bytes
    text: str | None
    thought: bool
    call: Function | None
    response: Function | None


class Usage(NamedTuple):
    """The tokens that a model call used. -1: it does not say."""

    prompt: int
    cached: int
    candidates: int
    thoughts: int
    tool_use: int
    total: int


class Compaction(NamedTuple):
    """A summary that stands for the events of a time."""

    start_us: int
    end_us: int
    content: bytes


def _decoded(text: bytes | None) -> str | None:
    return None if text is None else text.decode()


def _function_of(function: Any) -> Function | None:
    if function == NULL:
        return None
    return Function(
        _decoded(_ffi.span(function.id)), _decoded(_ffi.span(function.name)), _ffi.span(function.json)
    )


def _function_in(function: Function) -> tuple[Any, list[Any]]:
    """A function as C has it, and what it lives from."""
    made, keep = ffi.new("ses_function *"), []
    for name in ("id", "name", "json"):
        value = getattr(function, name)
        if value is not None:
            buffer = ffi.from_buffer("char[]", _ffi.text_in(value, name))
            keep.append(buffer)
            member = getattr(made, name)
            member.text, member.len = buffer, len(buffer)
    return made, keep


class Content(NamedTuple):
    """What an event says. Made by read_event()."""

    text: str | None
    json: bytes | None
    parts: list[Part]
    calls: list[Function]
    responses: list[Function]
    is_final: bool
    actions: bytes | None
    state_delta: bytes | None
    error_code: str | None
    error_message: str | None
    usage: Usage | None
    compaction: Compaction | None


def read_event(store: Store, event: JsonIn) -> Content:
    """Reads the JSON of an event, in either of the ADKs' spellings."""
    text, length = _ffi.json_in(event, "the event")
    made = ffi.new("ses_content **")
    with store._pointer() as pointer:
        _ffi.call(lib.ses_content_open, pointer, text, length, made)
    content = ffi.gc(made[0], lib.ses_content_close)
    said, size = NULL, ffi.new("size_t *")
    said = lib.ses_content_text(content, size)
    usage, compaction = lib.ses_content_usage(content), lib.ses_content_compaction(content)
    return Content(
        None if said == NULL else ffi.unpack(said, size[0]).decode(),
        _ffi.span(lib.ses_content_json(content)),
        [_part_of(lib.ses_content_part(content, at)) for at in range(lib.ses_content_part_count(content))],
        [
            _function_of(lib.ses_content_call(content, at))  # type: ignore[misc]
            for at in range(lib.ses_content_call_count(content))
        ],
        [
            _function_of(lib.ses_content_response(content, at))  # type: ignore[misc]
            for at in range(lib.ses_content_response_count(content))
        ],
        bool(lib.ses_content_is_final(content)),
        _ffi.span(lib.ses_content_actions(content)),
        _ffi.span(lib.ses_content_state_delta(content)),
        _decoded(_ffi.span(lib.ses_content_error_code(content))),
        _decoded(_ffi.span(lib.ses_content_error_message(content))),
        None if usage == NULL else Usage(*(getattr(usage, name) for name in Usage._fields)),
        None
        if compaction == NULL
        else Compaction(compaction.start_us, compaction.end_us, _ffi.span(compaction.content) or b""),
    )


def _part_of(part: Any) -> Part:
    return Part(
        _ffi.span(part.json) or b"",
        _decoded(_ffi.span(part.text)),
        bool(part.thought),
        _function_of(part.call),
        _function_of(part.response),
    )


class Builder(_ffi.Handle):
    """Makes the JSON of one event as the ADK writes it. Its calls return the builder, so that they can be
    chained."""

    __slots__ = ()
    _what = "builder"

    def __init__(self, store: Store, author: str, invocation_id: str | None = None) -> None:
        made = ffi.new("ses_builder **")
        names = (
            _ffi.encode(author, "the author"),
            NULL if invocation_id is None else _ffi.encode(invocation_id, "the invocation"),
        )
        store._run(lib.ses_builder_open, *names, made)
        super().__init__(made[0], lib.ses_builder_close)

    def _add(self, function: Any, *arguments: Any) -> Builder:
        with self._guard:
            _ffi.call(function, self._live(), *arguments)
        return self

    def text(self, text: str | bytes) -> Builder:
        """Adds a part that is text."""
        encoded = _ffi.text_in(text, "the text")
        return self._add(lib.ses_builder_text, encoded, len(encoded))

    def thought(self, text: str | bytes) -> Builder:
        """Adds a part that is a thought of the model."""
        encoded = _ffi.text_in(text, "the text")
        return self._add(lib.ses_builder_thought, encoded, len(encoded))

    def call(self, name: str, args: JsonIn = None, id: str | None = None) -> Builder:
        """Adds a function call."""
        return self._add(lib.ses_builder_call, *self._names(id, name), *_ffi.json_in(args, "the arguments"))

    def response(self, name: str, response: JsonIn = None, id: str | None = None) -> Builder:
        """Adds a function response."""
        return self._add(
            lib.ses_builder_response, *self._names(id, name), *_ffi.json_in(response, "the response")
        )

    def _names(self, id: str | None, name: str) -> tuple[Any, bytes]:
        return NULL if id is None else _ffi.encode(id, "the id"), _ffi.encode(name, "the name")

    def response_to(self, call: Function, response: JsonIn = None) -> Builder:
        """The response to a call that was read."""
        function, _keep = _function_in(call)
        return self._add(lib.ses_builder_response_to, function, *_ffi.json_in(response, "the response"))

    def interrupted(self, call: Function) -> Builder:
        """The response {"error":"interrupted"} to a pending call."""
        function, _keep = _function_in(call)
        return self._add(lib.ses_builder_interrupted, function)

    def part(self, part: JsonIn) -> Builder:
        """Adds a part as JSON."""
        return self._add(lib.ses_builder_part, *_ffi.json_in(part, "the part"))

    def content(self, content: JsonIn) -> Builder:
        """The whole content, in place of parts."""
        return self._add(lib.ses_builder_content, *_ffi.json_in(content, "the content"))

    def delta(self, delta: JsonIn) -> Builder:
        """Adds keys to the state delta."""
        return self._add(lib.ses_builder_delta, *_ffi.json_in(delta, "the delta"))

    def field(self, name: str, json: JsonIn) -> Builder:
        """Sets a field of the event to a JSON value."""
        return self._add(lib.ses_builder_field, _ffi.encode(name, "the field"), *_ffi.json_in(json, name))

    def field_string(self, name: str, text: str | bytes) -> Builder:
        """Sets a field of the event to a text."""
        encoded = _ffi.text_in(text, name)
        return self._add(lib.ses_builder_field_string, _ffi.encode(name, "the field"), encoded, len(encoded))

    def action(self, name: str, json: JsonIn) -> Builder:
        """Sets a field of the event's actions to a JSON value."""
        return self._add(lib.ses_builder_action, _ffi.encode(name, "the field"), *_ffi.json_in(json, name))

    def action_string(self, name: str, text: str | bytes) -> Builder:
        """Sets a field of the event's actions to a text."""
        encoded = _ffi.text_in(text, name)
        return self._add(lib.ses_builder_action_string, _ffi.encode(name, "the field"), encoded, len(encoded))

    def json(self) -> bytes:
        """The event."""
        length = ffi.new("size_t *")
        with self._guard:
            text = lib.ses_builder_json(self._live(), length)
            if text == NULL:
                raise MemoryError("out of memory")
            return ffi.unpack(text, length[0])

    def append(
        self,
        source: Session | tuple[Store, KeyLike],
        *,
        version: int | None = None,
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
        """Appends the event, through a handle or to a store and a key; see Session.append and Store.append.
        If it has no id, the builder is given one first: so the call can be repeated after any failure, and
        the event is stored once."""
        keep: list[Any] = []
        with attached(source, artifacts, offload_bytes) as made:
            options = _calls.append_options(
                keep,
                version=version,
                anyway=anyway,
                expected=expected,
                delta=delta,
                lease=lease,
                takes_draft=takes_draft,
                answers=answers,
                title=title,
                labels=labels,
                artifacts=made,
            )
            if isinstance(source, tuple):
                store, named = source[0], key_of(source[1])
                with store._pointer() as pointer, self._guard:
                    run = partial(_ffi.call, key=named)
                    return _calls.appended(
                        run, lib.ses_builder_append_by_key, self._live(), pointer, named.c, options
                    )
            with source._guard, self._guard:
                return _calls.appended(
                    _ffi.call, lib.ses_builder_append, self._live(), source._live(), options
                )


class ContextEvent(NamedTuple):
    """An event of a context, and what a model is to be sent for it."""

    event: Event
    content: bytes | None


def _opened(
    source: Session | tuple[Store, KeyLike], by_handle: Any, by_key: Any, kind: str, options: Any
) -> Any:
    """Opens what is read of a session, by a handle or by a store and a key."""
    made = ffi.new(kind)
    if isinstance(source, tuple):
        store, key = source
        store._run_key(key_of(key), by_key, options, made)
    else:
        source._run(by_handle, options, made)
    return made[0]


class LeftOut(NamedTuple):
    """What the budget of a context left out: events, and turns with such events. `over_budget`: what always
    stays is larger than the budget."""

    events: int
    turns: int
    over_budget: bool


class Context(list[ContextEvent]):
    """The part of a session's log that a model should be sent."""

    left_out: LeftOut


TokenCounter = Callable[[ContextEvent], int]


@ffi.def_extern(error=lib.SES_MISUSE)
def ses_py_count(context: Any, event: Any, content: Any, size: int, tokens: Any, _error: Any) -> int:
    caught, counter = ffi.from_handle(context)

    def count() -> int:
        tokens[0] = counter(ContextEvent(event_of(event), ffi.unpack(content, size)))
        return 0

    code = caught.run(count)
    return lib.SES_MISUSE if code is None else code


def read_context(
    source: Session | tuple[Store, KeyLike],
    *,
    visible: bool = False,
    log_order: bool = False,
    inline_bytes: int = 0,
    max_bytes: int = 0,
    max_tokens: int = 0,
    max_turns: int = 0,
    count: TokenCounter | None = None,
    first_turn: bool = False,
) -> Context:
    """The part of a session's log that a model should be sent, in the order in which to send it: live events,
    with compactions in place of what they cover. `visible` leaves out events of which a model sees nothing.
    `log_order` keeps the order of the log where there are compactions, which is otherwise by time. Up to
    `inline_bytes` of artifacts are put back into the contents, those of the newest events first; see
    `offload_bytes` of Session.append.

    With `max_bytes`, `max_tokens` or `max_turns`, the context holds whole turns, from the newest back to the
    one that no longer fits. The newest turn and all summaries stay, and calls and their responses stay
    together. With `first_turn` the first turn stays, too. `count` counts the tokens of the content of an
    event, and must not use the session; without it, four bytes are a token."""
    flags = (
        (lib.SES_CONTEXT_VISIBLE if visible else 0)
        | (lib.SES_CONTEXT_LOG_ORDER if log_order else 0)
        | (lib.SES_CONTEXT_FIRST_TURN if first_turn else 0)
    )
    with Caught() as caught:
        handle = ffi.new_handle((caught, count))
        options = _ffi.struct(
            "ses_context_options",
            flags=flags,
            inline_bytes=inline_bytes,
            max_bytes=max_bytes,
            max_tokens=max_tokens,
            count=lib.ses_py_count if count else NULL,
            count_context=handle,
            max_turns=max_turns,
        )
        opened = _opened(source, lib.ses_context_open, lib.ses_context_open_by_key, "ses_context **", options)
    context = ffi.gc(opened, lib.ses_context_close)
    made = Context(
        ContextEvent(
            event_of(lib.ses_context_event(context, at)), _ffi.span(lib.ses_context_content(context, at))
        )
        for at in range(lib.ses_context_count(context))
    )
    left = lib.ses_context_left_out(context)
    made.left_out = LeftOut(left.events, left.turns, bool(left.over_budget))
    return made


class PendingCall(NamedTuple):
    """A function call without a response."""

    call: Function
    event: Event
    long_running: bool


def pending_calls(source: Session | tuple[Store, KeyLike]) -> list[PendingCall]:
    """The function calls of a session's live events without a later response."""
    opened = _opened(
        source, lib.ses_pending_open, lib.ses_pending_open_by_key, "ses_pending **", _ffi.plain()
    )
    pending = ffi.gc(opened, lib.ses_pending_close)
    return list(_pending_of(pending))


def _pending_of(pending: Any) -> Iterator[PendingCall]:
    for at in range(lib.ses_pending_count(pending)):
        call = _function_of(lib.ses_pending_call(pending, at))
        assert call is not None
        yield PendingCall(
            call,
            event_of(lib.ses_pending_event(pending, at)),
            bool(lib.ses_pending_is_long_running(pending, at)),
        )


Answerer = Callable[[PendingCall], JsonIn]


@ffi.def_extern(error=lib.SES_MISUSE)
def ses_py_answer(
    context: Any, call: Any, event: Any, long_running: int, text: Any, length: Any, _error: Any
) -> int:
    caught, answer, pointer = ffi.from_handle(context)

    def give() -> int:
        function = _function_of(call)
        assert function is not None
        response = answer(PendingCall(function, event_of(event), bool(long_running)))
        if response is None:
            return lib.SES_ABSENT
        encoded, size = _ffi.json_in(response, "the response")
        text[0] = lib.ses_text_make(pointer, size)
        if text[0] == NULL:
            return lib.SES_NOMEM
        ffi.memmove(text[0], encoded, size)
        length[0] = size
        return 0

    code = caught.run(give)
    return lib.SES_MISUSE if code is None else code


def answer_pending_calls(
    source: Session | tuple[Store, KeyLike],
    answer: Answerer | None = None,
    *,
    responses: Iterable[Function] | None = None,
    lease: int = 0,
) -> int:
    """Answers the function calls of a session that have no response, each once, and returns how many it
    answered.

    Without `answer` and `responses`, every call that is not long-running gets the response
    {"error":"interrupted"}. `responses` are those that the caller already has, by the id of the call, or
    without an id by its name. `answer` is given each other call, and returns the response, a JSON object, or
    None to leave the call pending; it must not use the session.
    """
    given = None if responses is None else list(responses)
    if given == [] and answer is None:
        return 0  # to C, no responses would be none that the caller has chosen
    made = [_function_in(response) for response in given or ()]
    array = ffi.new("ses_function[]", [function[0] for function, _keep in made])
    store, answered = source[0] if isinstance(source, tuple) else source.store, ffi.new("int64_t *")
    with Caught() as caught, store._pointer() as pointer:
        context = ffi.new_handle((caught, answer, pointer))
        options = _ffi.struct(
            "ses_answer_options",
            answer=lib.ses_py_answer if answer else NULL,
            answer_context=context,
            responses=array,
            response_count=len(made),
            lease=lease,
        )
        if isinstance(source, tuple):
            store._run_key(key_of(source[1]), lib.ses_pending_answer_by_key, options, answered)
        else:
            source._run(lib.ses_pending_answer, options, answered)
    return answered[0]


def text_cut(text: str, limit: int) -> str:
    """The longest beginning of a text that has at most `limit` bytes of UTF-8 and whole characters: for a
    title, say."""
    if limit < 0:
        raise errors.InvalidError("limit is negative")
    encoded = _ffi.text_in(text, "the text")
    return encoded[: lib.ses_text_cut(encoded, len(encoded), limit, NULL)].decode()


def output_delta(store: Store, event: JsonIn, agent: str, key: str) -> bytes | None:
    """The delta that saves an agent's final text under a state key, or None if there is nothing to save."""
    text, length = _ffi.json_in(event, "the event")
    return store._owned(
        lib.ses_output_delta, text, length, _ffi.encode(agent, "the agent"), _ffi.encode(key, "the state key")
    )
