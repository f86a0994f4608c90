"""Redacts an event for each field of google-adk's Event and EventActions, and for each kind of part, as a whole and by
pattern, and reads what is left with google-adk's own models. Prints what fails. Call: adk_redact.py COMMAND STORE"""
import base64
import enum
import json
import subprocess
import sys
import types
import typing
import warnings

warnings.simplefilter("ignore")
from google.adk.events import Event, EventActions
from google.genai.types import Content, Part
from pydantic import BaseModel

SECRET = "4711"
# Redaction keeps these, so that nothing secret is put there.
KEPT = {"id", "invocation_id", "author", "branch", "timestamp", "model_version", "error_code", "isolation_scope",
        "finish_reason", "usage_metadata", "avg_logprobs", "long_running_tool_ids", "transfer_to_agent",
        "rewind_before_invocation_id", "role", "name", "start_timestamp", "end_timestamp"}
DEEPEST = 6


def scalar(annotation, kept):
    if annotation is typing.Any:
        return f"any {SECRET} text"
    if not isinstance(annotation, type):
        return None
    if issubclass(annotation, enum.Enum):
        return list(annotation)[-1]
    for of, secret, plain in ((bool, True, True), (int, 14711, 3), (float, 4711.5, 1.5),
                              (str, f"some {SECRET} text", "plain"), (bytes, SECRET.encode(), b"x"),
                              (dict, {SECRET: [4711, SECRET]}, {})):
        if issubclass(annotation, of):
            return plain if kept else secret
    return None


def of_model(model, depth):
    """An object with as many of its fields as the class takes together."""
    values = {}
    for name, field in model.model_fields.items():
        value = make(field.annotation, depth + 1, name in KEPT)
        if value is not None:
            values[name] = value
    for _ in range(12):
        try:
            return model(**values)
        except Exception as error:
            bad = {at["loc"][0] for at in error.errors()} & set(values) if hasattr(error, "errors") else set()
            for name in bad:
                del values[name]
            if not bad:
                return None
    return None


def make(annotation, depth=0, kept=False):
    """A value of this type that says SECRET wherever it can. None if there is none."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if depth > DEEPEST:
        return None
    if origin in (typing.Annotated, typing.Union, types.UnionType):
        values = (make(one, depth, kept) for one in arguments if one is not type(None))
        return next((value for value in values if value is not None), None)
    if origin is typing.Literal:
        return arguments[0]
    if origin in (list, set, tuple):
        value = make(arguments[0], depth + 1, kept)
        return None if value is None else origin([value])
    if origin is dict:
        value = make(arguments[1], depth + 1, kept)
        return None if value is None else {SECRET if not kept else "key": value}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return of_model(annotation, depth)
    return scalar(annotation, kept)


def events():
    """Each case: its name, and the event as google-adk writes it."""
    for model, wrap in ((Event, lambda values: Event(author="a", **values)),
                        (EventActions, lambda values: Event(author="a", actions=EventActions(**values))),
                        (Part, lambda values: Event(author="a", content=Content(parts=[Part(**values)])))):
        for name, field in model.model_fields.items():
            value = make(field.annotation, 0, name in KEPT)
            if value is None or name in ("id", "timestamp", "actions", "rewind_before_invocation_id", "partial"):
                continue
            try:
                yield f"{model.__name__}.{name}", wrap({name: value})
            except (TypeError, ValueError):  # such as `author`, which each has, and a class that takes no value made here
                continue


def alone_in(name, event):
    """The same event, with the secret in one place at a time."""
    pieces = event.model_dump_json(exclude={"id", "timestamp"}, exclude_none=True, by_alias=True).split(SECRET)
    for at in range(1, len(pieces)):
        text = "1234".join(pieces[:at]) + SECRET + "1234".join(pieces[at:])
        yield name, Event.model_validate_json(text)


def run(command, store, *arguments, text=None):
    return subprocess.run([command, "-f", store, "--app", "a", "--user", "u", *arguments], input=text, text=True,
                          check=True, capture_output=True).stdout


def complaint(name, session, before, text):
    """What is wrong with the event that is left, or None."""
    try:
        after = Event.model_validate(json.loads(text))
    except Exception as error:
        return f"cannot be read: {str(error)[:300]}"
    if after.is_final_response() != before.is_final_response():
        return f"was {'' if before.is_final_response() else 'not '}final"
    # The usage, the names of calls and of keys and, with a pattern, those of artifacts stay.
    named = {"Event.usage_metadata", "EventActions.requested_tool_confirmations", "EventActions.requested_auth_configs",
             "EventActions.state_delta"} | ({"EventActions.artifact_delta"} if session != "whole" else set())
    says = SECRET in text or base64.b64encode(SECRET.encode()).decode().rstrip("=") in text
    return "says it still" if says and name not in named else None


def main(command, store):
    cases = list(events())
    # As a whole, a compaction is only redacted together with all events, which the command does not do.
    alone = [one for case in cases for one in alone_in(*case)]
    seqs = [str(seq) for seq, (name, _) in enumerate(cases, 1) if name != "EventActions.compaction"]
    failed = 0
    for session, what, cases in (("whole", ("--events", ",".join(seqs)), cases), ("pattern", ("--text", SECRET), cases),
                                 ("alone", ("--text", SECRET), alone)):
        # Ids and times of google-adk's own could say the secret.
        lines = "\n".join(event.model_copy(update={"id": f"e{seq}", "timestamp": 1.0}).model_dump_json(
            exclude_none=True, by_alias=True) for seq, (_, event) in enumerate(cases, 1))
        run(command, store, "create", session)
        run(command, store, "append", session, text=lines)
        run(command, store, "redact", session, *what, "--state", "--yes")
        left = run(command, store, "events", session, "--jsonl").splitlines()
        for (name, before), line in zip(cases, left):
            after = json.loads(line)
            text = json.dumps(after["event"])
            wrong = complaint(name, session, before, text) if session != "whole" or str(after["seq"]) in seqs else None
            if wrong:
                failed += 1
                print(f"{name}, {session}: {wrong}: {text}")
    print(f"{len(seqs)} fields, {len(alone)} of them alone, {failed} failures")
    return 1 if failed or len(seqs) < 40 or len(alone) < 200 else 0


sys.exit(main(*sys.argv[1:]))
