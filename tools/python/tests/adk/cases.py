"""What a session service does, case by case. Each returns what it saw, for the tests to compare."""

import asyncio
import copy
import datetime
import math

from google.adk.events.event import Event
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session
from services import WHO, event, raised

ALL = {}


def case(expected):
    """Registers a case with what the ADK's services are expected to show."""

    def register(function):
        ALL[function.__name__] = (function, expected)
        return function

    return register


async def stored(service, session_id="s", **config):
    return await service.get_session(
        session_id=session_id, **WHO, config=GetSessionConfig(**config) if config else None
    )


async def ids(service, **config):
    return [each.id for each in (await stored(service, **config)).events]


async def with_events(service, count=5):
    session = await service.create_session(session_id="s", **WHO)
    for at in range(count):
        await service.append_event(
            session, event({"n": at}, invocation=f"i{at}", id=f"e{at}", timestamp=2e9 + at)
        )
    return session


# ------------------------------------------------------------------------------------------------- sessions


@case((True, {"k": 1}, [], "app", "user"))
async def a_session_is_given_an_id(service):
    made = await service.create_session(state={"k": 1}, **WHO)
    return bool(made.id), made.state, made.events, made.app_name, made.user_id


@case({"app:a": 1, "user:u": 2, "k": 3})
async def temp_keys_of_the_first_state_are_not_kept(service):
    made = await service.create_session(
        session_id="s", state={"app:a": 1, "user:u": 2, "k": 3, "temp:t": 4}, **WHO
    )
    read = await stored(service)
    assert made.state == read.state
    return read.state


@case(("AlreadyExistsError", {"k": 1}))
async def a_session_is_created_once(service):
    await service.create_session(session_id="s", state={"k": 1}, **WHO)
    refused = await raised(service.create_session(session_id="s", state={"k": 2}, **WHO))
    return refused, (await stored(service)).state


@case({"app:a": 1})
async def a_refused_session_leaves_shared_state_alone(service):
    await service.create_session(session_id="s", state={"app:a": 1}, **WHO)
    await raised(service.create_session(session_id="s", state={"app:a": 2}, **WHO))
    return (await stored(service)).state


@case("s")
async def an_id_is_stripped(service):
    return (await service.create_session(session_id=" s ", **WHO)).id


@case("nothing")
async def an_empty_id_asks_for_one(service):
    return await raised(service.create_session(session_id="", **WHO))


@case((None, None, None))
async def what_is_not_there_is_none(service):
    await service.create_session(session_id="s", **WHO)
    return (
        await stored(service, "other"),
        await service.get_session(app_name="app", user_id="other", session_id="s"),
        await service.get_session(app_name="other", user_id="user", session_id="s"),
    )


@case((["old", "new"], [[], []], {"app:a": 1, "k": 2}))
async def a_list_is_oldest_first_without_events(service):
    old = await service.create_session(session_id="old", state={"app:a": 1}, **WHO)
    new = await service.create_session(session_id="new", **WHO)
    await service.append_event(old, event({"k": 1}, timestamp=2e9))
    await service.append_event(new, event({"k": 2}, timestamp=2e9 + 1))
    found = (await service.list_sessions(**WHO)).sessions
    return [each.id for each in found], [each.events for each in found], found[1].state


@case(([("u1", "s"), ("u2", "s")], [], []))
async def a_list_is_of_a_user_or_of_all(service):
    for user in ("u1", "u2"):
        await service.create_session(app_name="app", user_id=user, session_id="s")
    everyone = (await service.list_sessions(app_name="app")).sessions
    return (
        sorted((each.user_id, each.id) for each in everyone),
        (await service.list_sessions(app_name="app", user_id="u3")).sessions,
        (await service.list_sessions(app_name="other")).sessions,
    )


@case((None, "nothing", {"u": 1}))
async def deleting_leaves_shared_state(service):
    await service.create_session(session_id="s", state={"user:u": 1}, **WHO)
    await service.delete_session(session_id="s", **WHO)
    again = await raised(service.delete_session(session_id="s", **WHO))
    return await stored(service), again, await service.get_user_state(**WHO)


@case(({"u": 1, "v": [1, 2]}, {}))
async def user_state_is_read_without_a_session(service):
    await service.create_session(session_id="s", state={"user:u": 1, "user:v": [1, 2], "app:a": 1}, **WHO)
    return await service.get_user_state(**WHO), await service.get_user_state(app_name="app", user_id="nobody")


@case({"k": [1]})
async def what_is_returned_is_a_copy(service):
    made = await service.create_session(session_id="s", state={"k": [1]}, **WHO)
    made.state["k"].append(2)
    (await stored(service)).state["k"].append(3)
    return (await stored(service)).state


@case("nothing")
async def there_is_nothing_to_flush(service):
    return await raised(service.flush())


# --------------------------------------------------------------------------------------------------- append


@case(({"a": 1}, {"a": 1}, ["e"], True, True))
async def an_event_changes_state(service):
    session = await service.create_session(session_id="s", **WHO)
    made = event({"a": 1}, id="e", timestamp=2e9)
    same = await service.append_event(session, made) is made
    read = await stored(service)
    return (
        session.state,
        read.state,
        [each.id for each in session.events],
        same,
        read.last_update_time == 2e9 == session.last_update_time,
    )


@case({"app:a": 2, "user:u": 3})
async def shared_state_reaches_other_sessions(service):
    session = await service.create_session(session_id="s", **WHO)
    await service.create_session(session_id="t", **WHO)
    await service.append_event(session, event({"app:a": 2, "user:u": 3, "own": 4}))
    return (await stored(service, "t")).state


@case(({"temp:t": 1, "k": 2}, {"k": 2}, {"k": 2}, {"k": 2}))
async def temp_state_is_seen_and_not_stored(service):
    session = await service.create_session(session_id="s", **WHO)
    await service.append_event(session, event({"temp:t": 1, "k": 2}))
    read = await stored(service)
    return (
        session.state,
        read.state,
        session.events[0].actions.state_delta,
        read.events[0].actions.state_delta,
    )


@case(({}, [], [], True))
async def a_partial_event_is_not_stored(service):
    session = await service.create_session(session_id="s", **WHO)
    made = event({"a": 1, "temp:t": 1}, partial=True)
    same = await service.append_event(session, made) is made
    return session.state, session.events, (await stored(service)).events, same


@case("SessionNotFoundError")
async def a_session_that_is_gone_takes_no_event(service):
    session = await service.create_session(session_id="s", **WHO)
    await service.delete_session(session_id="s", **WHO)
    return await raised(service.append_event(session, event({"a": 1})))


@case(("StaleSessionError", ["e1"], {"a": 1}, ["e1", "e3"]))
async def a_stale_session_takes_no_event(service):
    await service.create_session(session_id="s", **WHO)
    one, two = await stored(service), await stored(service)
    await service.append_event(one, event({"a": 1}, id="e1", timestamp=2e9))
    refused = await raised(service.append_event(two, event({"a": 2}, id="e2", timestamp=2e9 + 1)))
    seen = await ids(service), (await stored(service)).state
    await service.append_event(await stored(service), event({"a": 3}, id="e3", timestamp=2e9 + 2))
    return refused, *seen, await ids(service)


@case(("StaleSessionError", 1))
async def a_writer_with_a_slow_clock_is_found_stale(service):
    await service.create_session(session_id="s", **WHO)
    one, two = await stored(service), await stored(service)
    await service.append_event(one, event(timestamp=1.5e9))
    return await raised(service.append_event(two, event(timestamp=1.5e9))), len(await ids(service))


@case("StaleSessionError")
async def a_session_of_a_deleted_one_s_name_is_another(service):
    old = await service.create_session(session_id="s", **WHO)
    await service.delete_session(session_id="s", **WHO)
    await service.create_session(session_id="s", **WHO)
    return await raised(service.append_event(old, event({"a": 1})))


@case(("nothing", "nothing", "nothing", 4))
async def copies_of_a_session_can_append(service):
    session = await service.create_session(session_id="s", **WHO)
    await service.append_event(session, event(timestamp=2e9))
    copied = await raised(service.append_event(copy.deepcopy(session), event(timestamp=2e9 + 1)))
    again = await raised(service.append_event((await stored(service)).model_copy(), event(timestamp=2e9 + 2)))
    sent = Session.model_validate((await stored(service)).model_dump())
    return (
        copied,
        again,
        await raised(service.append_event(sent, event(timestamp=2e9 + 3))),
        len(await ids(service)),
    )


@case((20, 190, True))
async def branches_of_one_session_append_side_by_side(service):
    session = await service.create_session(session_id="s", **WHO)
    await asyncio.gather(
        *(
            service.append_event(session, event({f"k{n}": n}, id=f"e{n}", timestamp=2e9 + n))
            for n in range(20)
        )
    )
    read = await stored(service)
    same_order = [each.id for each in session.events] == [each.id for each in read.events]
    return len(read.events), sum(read.state.values()), same_order


@case({"k": None, "d": {"b": 1}})
async def values_replace_values(service):
    session = await service.create_session(session_id="s", state={"k": 1, "d": {"a": 1}}, **WHO)
    await service.append_event(session, event({"k": None, "d": {"b": 1}}))
    read = await stored(service)
    assert read.state == session.state
    return read.state


@case((["a", "k"], "__ADK_SENTINEL_REMOVED__", ["a", "k"], "__ADK_SENTINEL_REMOVED__"))
async def the_tombstone_is_a_text(service):
    session = await service.create_session(session_id="s", state={"k": 1, "a": 1}, **WHO)
    await service.append_event(session, event({"k": "__ADK_SENTINEL_REMOVED__"}))
    read = await stored(service)
    return sorted(session.state), session.state.get("k"), sorted(read.state), read.state.get("k")


@case(("nothing", 1, 1))
async def the_same_event_twice_is_one(service):
    session = await service.create_session(session_id="s", **WHO)
    made = event({"a": 1}, id="e")
    await service.append_event(session, made)
    again = await raised(service.append_event(session, made.model_copy(deep=True)))
    return again, len((await stored(service)).events), len(session.events)


@case(("nothing", 2))
async def another_event_of_the_same_id_is_kept(service):
    session = await service.create_session(session_id="s", **WHO)
    await service.append_event(session, event({"a": 1}, id="e"))
    again = await raised(service.append_event(session, event({"a": 2}, id="e")))
    return again, len((await stored(service)).events)


@case((2e9 - 5, ["new", "old"]))
async def a_late_event_sets_the_time_back(service):
    session = await service.create_session(session_id="s", **WHO)
    await service.append_event(session, event(id="new", timestamp=2e9))
    await service.append_event(session, event(id="old", timestamp=2e9 - 5))
    return (await stored(service)).last_update_time, await ids(service)


@case((2**70, -(2**63) - 1, 0.1, 1e22))
async def numbers_are_exact(service):
    session = await service.create_session(session_id="s", state={"app:big": 2**70}, **WHO)
    await service.append_event(session, event({"small": -(2**63) - 1, "f": 0.1, "user:g": 1e22}))
    read = (await stored(service)).state
    return read["app:big"], read["small"], read["f"], read["user:g"]


@case(("nothing", True))
async def a_nan_is_stored(service):
    session = await service.create_session(session_id="s", **WHO)
    refused = await raised(service.append_event(session, event({"n": math.nan})))
    value = (await stored(service)).state.get("n")
    return refused, isinstance(value, float) and math.isnan(value)


@case({"when": "2026-01-02T03:04:05", "pair": [1, 2]})
async def rich_values_become_json(service):
    session = await service.create_session(
        session_id="s", state={"when": datetime.datetime(2026, 1, 2, 3, 4, 5)}, **WHO
    )
    await service.append_event(session, event({"pair": (1, 2)}))
    return (await stored(service)).state


@case(True)
async def a_function_in_state_becomes_its_repr(service):
    session = await service.create_session(session_id="s", **WHO)
    await service.append_event(session, event({"f": len}))
    return (await stored(service)).state["f"] == repr(len)


@case("nothing")
async def a_lone_surrogate_is_stored(service):
    session = await service.create_session(session_id="s", **WHO)
    return await raised(service.append_event(session, event({"k": "\ud800"})))


@case(None)
async def an_id_may_hold_a_nul(service):
    try:
        return await stored(service, "a\0b")
    except ValueError as error:
        return str(error)


@case(True)
async def an_event_comes_back_whole(service):
    session = await service.create_session(session_id="s", **WHO)
    made = Event.model_validate(
        {
            "author": "agent",
            "invocationId": "i",
            "branch": "root.agent",
            "longRunningToolIds": ["c2", "c1"],
            "content": {
                "role": "model",
                "parts": [
                    {"text": "thinking", "thought": True, "thoughtSignature": "AAEC"},
                    {"functionCall": {"id": "c1", "name": "f", "args": {"x": None, "y": [1.5, "ä\u2028"]}}},
                    {"functionResponse": {"id": "c1", "name": "f", "response": {"ok": True}}},
                    {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                ],
            },
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12},
            "customMetadata": {"a": {"b": None}},
            "errorCode": "E",
            "errorMessage": "m",
            "turnComplete": True,
            "actions": {"artifactDelta": {"f": 1}, "transferToAgent": "other", "escalate": True},
        }
    )
    await service.append_event(session, made)
    return (await stored(service)).events[0] == made


# --------------------------------------------------------------------------------------------------- ranges


@case(([], ["e4"], ["e3", "e4"], [f"e{n}" for n in range(5)]))
async def the_newest_events_are_read(service):
    await with_events(service)
    return tuple([await ids(service, num_recent_events=n) for n in (0, 1, 2, 9)])


@case((["e3", "e4"], [], [f"e{n}" for n in range(5)], ["e4"]))
async def events_since_a_time_are_read(service):
    await with_events(service)
    return (
        await ids(service, after_timestamp=2e9 + 3),
        await ids(service, after_timestamp=2e9 + 3.6 + 1),
        await ids(service, after_timestamp=0),
        await ids(service, after_timestamp=2e9 + 2, num_recent_events=1),
    )


@case(({"n": 4}, "nothing", 6))
async def a_session_of_few_events_can_be_appended_to(service):
    await with_events(service)
    session = await stored(service, num_recent_events=0)
    return (
        session.state,
        await raised(service.append_event(session, event(timestamp=2e9 + 9))),
        len(await ids(service)),
    )


# -------------------------------------------------------------------------------------------------- rewinds


@case(({"n": 0, "first": None, "later": None, "user:u": 1}, 6))
async def a_rewind_event_brings_its_own_delta(service):
    session = await service.create_session(session_id="s", state={"first": 1}, **WHO)
    for at, delta in enumerate(({"n": 0}, {"n": 1, "later": 1}, {"first": 2, "user:u": 1})):
        await service.append_event(session, event(delta, invocation=f"i{at}", timestamp=2e9 + at, text="hi"))
    await service.append_event(session, event({"n": 2}, invocation="i3", timestamp=2e9 + 4))
    for rewind in (1, 1):
        made = event({"n": 0, "first": None, "later": None}, invocation=f"r{rewind}", timestamp=2e9 + 5)
        made.actions.rewind_before_invocation_id = f"i{rewind}"
        await service.append_event(session, made)
    read = await stored(service)
    assert read.state == session.state
    return read.state, len(read.events)
