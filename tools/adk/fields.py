#!/usr/bin/env python3
"""Writes lib/model/adk/fields.c: the fields of google-adk's Event, and of every class in it.

    python3 tools/adk/fields.py > lib/model/adk/fields.c

It needs the newest google-adk that is supported. The models say what a field holds. The few things that they do not
say are below: which fields a redaction keeps, and which ones it has to look into.
"""
import enum
import types
import typing
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")

from google.adk.events import Event  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from pydantic.alias_generators import to_camel  # noqa: E402

# The fields that a redaction does not treat by their kind alone.
ERASURE = {
    "KEEP": """
        Event.id Event.invocationId Event.author Event.branch Event.timestamp Event.partial Event.turnComplete
        Event.interrupted Event.finishReason Event.errorCode Event.longRunningToolIds Event.modelVersion
        Event.usageMetadata Event.isolationScope Event.avgLogprobs
        EventActions.skipSummarization EventActions.transferToAgent EventActions.escalate EventActions.endOfAgent
        EventActions.rewindBeforeInvocationId EventCompaction.startTimestamp EventCompaction.endTimestamp
        Content.role FunctionCall.id FunctionCall.name FunctionResponse.id FunctionResponse.name
        FunctionResponse.scheduling ExecutableCode.id ExecutableCode.language CodeExecutionResult.id
        CodeExecutionResult.outcome""",
    "WALK": """
        Event.actions EventActions.compaction EventCompaction.compactedContent
        Part.functionCall Part.functionResponse Part.executableCode Part.codeExecutionResult""",
    "DROP": """
        Part.audioTranscription Part.fileData Part.inlineData Part.mediaProcessing Part.mediaResolution
        Part.partMetadata Part.speechMetadata Part.thoughtSignature Part.toolCall Part.toolResponse
        Part.videoMetadata FunctionCall.partialArgs FunctionResponse.parts""",
    "CONTENT": "Event.content",
    "PARTS": "Content.parts",
    "STATE": "EventActions.stateDelta",
    "ARTIFACTS": "EventActions.artifactDelta",
    "ARGUMENTS": "FunctionCall.args FunctionResponse.response",
}

# Fields that the oldest supported version declares more strictly, or that the API knows by another name.
KINDS = {"EventActions.requestedAuthConfigs": ("OPAQUE", "MAP")}
REQUIRED = {"Event.author"}
# CacheMetadata has these and cache_name, which stays a text, together or not at all.
REQUIRED |= {"CacheMetadata.expire_time", "CacheMetadata.invocations_used"}
OTHER_NAMES = {"CitationMetadata": {"citationSources": "citations"}}
# Classes whose fields have these names in JSON, although the others are in camelCase.
SNAKE = {"CacheMetadata"}


def erasure_of(path):
    for name, paths in ERASURE.items():
        if path in paths.split():
            return name
    return "BY_KIND"


def scalar_of(annotation):
    """The kind of a value, and its class if it is an object."""
    if annotation is typing.Any:
        return "JSON", None
    if typing.get_origin(annotation) is typing.Literal:
        return "WORD", None
    if typing.get_origin(annotation) is dict:
        return ("JSON" if typing.get_args(annotation)[1] is typing.Any else "OPAQUE"), None
    if not isinstance(annotation, type):
        return "OPAQUE", None
    if issubclass(annotation, BaseModel):
        return "OBJECT", annotation
    for kind, of in (("WORD", enum.Enum), ("BOOL", bool), ("NUMBER", (int, float)), ("TEXT", str), ("BYTES", bytes),
                     ("JSON", dict)):
        if issubclass(annotation, of):
            return kind, None
    return "OPAQUE", None


def read(annotation):
    """Kind, form, class, and whether null is allowed."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return read(arguments[0])
    if origin in (typing.Union, types.UnionType):
        rest = [one for one in arguments if one is not type(None)]
        nullable = len(rest) < len(arguments)
        if len(rest) == 1:
            kind, form, model, inner = read(rest[0])
            return kind, form, model, nullable or inner
        plain = all(scalar_of(one)[0] in ("TEXT", "JSON", "BOOL", "NUMBER") or typing.get_origin(one) is list
                    for one in rest)
        return "JSON" if plain and (str in rest or typing.Any in rest) else "OPAQUE", "ONE", None, nullable
    if origin in (list, set, tuple, frozenset):
        kind, model = scalar_of(arguments[0])
        return kind, "LIST", model, False
    if origin is dict and arguments[1] is not typing.Any:
        kind, model = scalar_of(arguments[1])
        return kind, "MAP", model, False
    kind, model = scalar_of(annotation)
    return kind, "ONE", model, annotation is typing.Any


def fields_of(model):
    """Each field: name, kind, form, class, whether it may be null, and whether it must be there."""
    fields = {}
    for name, field in model.model_fields.items():
        name = name if model.__name__ in SNAKE else to_camel(name)
        kind, form, of, nullable = read(field.annotation)
        path = f"{model.__name__}.{name}"
        kind, form = KINDS.get(path, (kind, form))
        fields[name] = (kind, form, of, nullable, field.is_required() or path in REQUIRED)
    for other, name in OTHER_NAMES.get(model.__name__, {}).items():
        fields[other] = fields[name]
    return fields


def models():
    """The classes, each after those of its fields."""
    found = []

    def visit(model):
        for _, _, of, _, _ in fields_of(model).values():
            if of and of not in found:
                visit(of)
        if model not in found:
            found.append(model)

    visit(Event)
    return found


MACROS = """\
#define ADK_PLAIN(name, kind) {#name, ADK_##kind, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL}
#define ADK_FIELD(name, kind, form, flags, erasure) \\
    {#name, ADK_##kind, ADK_##form, flags, ADK_##erasure, NULL}
#define ADK_INNER(name, of, form, flags, erasure) \\
    {#name, ADK_OBJECT, ADK_##form, flags, ADK_##erasure, &adk_##of}
#define ADK_CLASS(name, ignores, ...) \\
    static const struct adk_model adk_##name = { \\
        (const struct adk_field[]){__VA_ARGS__, {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}}, ignores}
"""


def entry(model, name, field):
    kind, form, of, nullable, required = field
    flags = " | ".join(flag for flag, on in (("ADK_NULL", nullable), ("ADK_REQUIRED", required)) if on) or "0"
    erasure = erasure_of(f"{model.__name__}.{name}")
    if of:
        return f"ADK_INNER({name}, {of.__name__}, {form}, {flags}, {erasure})"
    if (form, flags, erasure) == ("ONE", "ADK_NULL", "BY_KIND"):
        return f"ADK_PLAIN({name}, {kind})"
    return f"ADK_FIELD({name}, {kind}, {form}, {flags}, {erasure})"


def fill(entries):
    """Lines of at most 110 columns."""
    lines = [""]
    for one in entries:
        if lines[-1] and len(lines[-1]) + len(one) > 103:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + one + ","
    return ("\n    ".join(lines))[:-1]


def main():
    print("/*\n"
          f" * Made by tools/adk/fields.py from the classes of google-adk {version('google-adk')} and google-genai"
          f" {version('google-genai')}.\n"
          " * All of them accept both spellings of a name. `citationSources` is the API's own name for `citations`.\n"
          ' */\n#include "model/adk/fields.h"\n\n/* clang-format off */\n' + MACROS)
    for model in models():
        ignores = "true" if model.model_config.get("extra", "ignore") == "ignore" else "false"
        entries = [entry(model, name, field) for name, field in sorted(fields_of(model).items())]
        print(f"ADK_CLASS({model.__name__}, {ignores},\n    {fill(entries)});\n")
    print("const struct adk_model *const ses__adk_event = &adk_Event;\n/* clang-format on */")


if __name__ == "__main__":
    main()
