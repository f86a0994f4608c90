"""The conversations in the pictures, with ids and times that are always the same."""

import json

ZERO = 1794903300.0  # 2026-11-17 08:15:00 UTC


def text(words, **more):
    return {"text": words, **more}


def call(id, name, **arguments):
    return {"functionCall": {"id": id, "name": name, "args": arguments}}


def response(id, name, **answer):
    return {"functionResponse": {"id": id, "name": name, "response": answer}}


def event(seconds, invocation, author, *parts, delta=None, tokens=None, **more):
    body = {"id": f"{invocation}-{seconds:g}", "invocationId": invocation, "author": author, "timestamp": ZERO + seconds}
    if parts:
        from_user = author == "user" or "functionResponse" in parts[0]
        body["content"] = {"role": "user" if from_user else "model", "parts": list(parts)}
    if delta:
        body["actions"] = {"stateDelta": delta}
    if tokens:
        prompt, answer, thoughts = tokens
        body["usageMetadata"] = {
            "promptTokenCount": prompt,
            "candidatesTokenCount": answer,
            "thoughtsTokenCount": thoughts,
            "totalTokenCount": prompt + answer + thoughts,
        }
    return body | more


FOUND = [
    event(0, "find", "user", text("I need a train from Oslo to Bergen on Friday, below 500 kroner.")),
    event(
        3.2,
        "find",
        "rail_agent",
        text("She has a rail card: with half fares the fast trains fit, too.", thought=True),
        call("c1", "find_trains", **{"from": "Oslo S", "to": "Bergen", "day": "2026-11-20", "card": True}),
        tokens=(412, 38, 64),
    ),
    event(
        4.6,
        "find",
        "rail_agent",
        response("c1", "find_trains", trains=[{"leaves": "08:25", "price": 449.50}, {"leaves": "12:03", "price": 374.50}]),
        delta={"offers": ["08:25", "12:03"], "app:searches": 1842},
    ),
    event(
        7.9,
        "find",
        "rail_agent",
        text("Two trains fit:\n\n- **08:25**, 449.50 kroner\n- **12:03**, 374.50 kroner, the last 4 seats"),
        tokens=(730, 52, 0),
    ),
]

FAILED = [
    event(61, "book", "user", text("Take the early one.")),
    event(
        63.1,
        "book",
        "rail_agent",
        call("c2", "book_train", leaves="08:25", seats=1),
        delta={"booking": "asked for"},
        tokens=(806, 24, 0),
    ),
    event(73.2, "book", "rail_agent", errorCode="UNAVAILABLE", errorMessage="book_train did not answer within 10 seconds."),
]

REWIND = event(140, "undo", "user", actions={"rewindBeforeInvocationId": "book", "stateDelta": {"booking": None}})

HOTEL = [
    event(-86400, "ask", "user", text("A quiet room near the station in Bergen, for two nights?")),
    event(-86396, "ask", "hotel_agent", text("Hotel Park, near the station, has one.")),
]


def line(kind, **members):
    return json.dumps({"kind": kind, **members}, ensure_ascii=False, separators=(",", ":")) + "\n"


def session(user, name, title, events, initial_state):
    created = int(events[0]["timestamp"] - 1) * 1000000
    head = line("session", app="travel", user=user, session=name, title=title, created_us=created, initial_state=initial_state)
    return head + "".join(line("event", body=body) for body in events) + line("end")


def lines(trip):
    """The store as JSON lines for `seslite import`. `trip`: the events of the session with the train."""
    before = {"app:searches": 1841, "user:card": "half fare", "budget": 500}
    app = line("app", app="travel") + line("key", key="searches", value=1842)
    alice = line("user", app="travel", user="alice") + line("key", key="card", value="half fare")
    hotel = session("bob", "hotel", "Two nights in Bergen", HOTEL, {})
    train = session("alice", "train", "A train to Bergen", trip, before)
    return line("seslite", format=1) + app + alice + hotel + train + line("total")
