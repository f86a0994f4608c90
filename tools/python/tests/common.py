"""The session that most tests use, and events for it."""

import seslite

KEY = seslite.Key("app", "user", "s")


def event(delta=None, invocation="i1", **fields):
    return {"author": "user", "invocationId": invocation, **fields, "actions": {"stateDelta": delta or {}}}
