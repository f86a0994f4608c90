"""A Runner with a scripted model over 50 turns stores in a seslite store what InMemorySessionService
holds."""

import asyncio

import pytest
import services
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.artifacts import InMemoryArtifactService
from google.adk.runners import Runner
from google.genai import types
from scripted import make_app

from seslite import Store
from seslite.adk import SesliteSessionService

TURNS = 50
SCRIPT = [
    "hello",
    "tool topic birds",
    "transfer writer",
    "tool note {n}",
    "write {n}",
    "transfer root",
    "tool k{n} {n}",
    "bye",
]
REWINDS = {17: 14, 38: 30}  # after the turn of this number, back to before that one


async def converse(service, rewinds):
    """Runs the turns, and returns the session as it is stored and the instructions that the models were
    given."""
    app, models = make_app()
    runner = Runner(app=app, session_service=service, artifact_service=InMemoryArtifactService())
    who = {"user_id": "user", "session_id": "s"}
    await service.create_session(
        app_name="app", state={"first": "given", "user:lang": "en", "temp:t": 1}, **who
    )
    invocations, partials = [], 0
    for turn in range(TURNS):
        message = types.Content(
            role="user", parts=[types.Part(text=SCRIPT[turn % len(SCRIPT)].format(n=turn))]
        )
        mode = StreamingMode.SSE if turn % 3 == 0 else StreamingMode.NONE
        invocation = None
        async for event in runner.run_async(
            new_message=message, run_config=RunConfig(streaming_mode=mode), **who
        ):
            invocation = invocation or event.invocation_id
            partials += bool(event.partial)
        invocations.append(invocation)
        if turn in rewinds:
            await runner.rewind_async(rewind_before_invocation_id=invocations[rewinds[turn]], **who)
    await runner.close()
    assert partials > 10
    return await service.get_session(app_name="app", **who), [model.seen for model in models]


def plain(session):
    """Events without what is made anew in each run: ids, times, and the stateDelta of rewinds."""
    names = {}
    found = []
    for event in session.events:
        fields = event.model_dump(exclude={"id", "timestamp"}, exclude_none=True)
        _rename(fields, names)
        if fields["actions"].get("rewind_before_invocation_id"):
            del fields["actions"]["state_delta"]
        found.append(fields)
    return found


def _rename(value, names):
    """Puts numbers, in the order of their appearance, for ids that are random."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        if key in (
            "invocation_id",
            "rewind_before_invocation_id",
            "id",
            "function_call_id",
            "run_id",
        ) and isinstance(item, str):
            value[key] = names.setdefault(item, len(names))
        elif key in ("start_timestamp", "end_timestamp"):
            value[key] = 0
        else:
            _rename(item, names)


def conversation(name, folder, rewinds):
    async def within():
        async with services.opened(name, folder) as service:
            return await converse(service, rewinds)

    return asyncio.run(within())


def test_fifty_turns_are_stored_as_in_memory(tmp_path):
    memory, seen_there = conversation("memory", tmp_path, {})
    ours, seen = conversation("seslite", tmp_path, {})
    assert len(ours.events) > 150
    assert any(event.actions.compaction for event in ours.events)
    assert plain(ours) == plain(memory)
    assert ours.state == memory.state
    assert seen == seen_there


@pytest.fixture(scope="module")
def rewound(tmp_path_factory):
    """A conversation with rewinds in a store: the folder, the session and the instructions."""
    folder = tmp_path_factory.mktemp("rewound")
    return folder, *conversation("seslite", folder, REWINDS)


def test_a_rewind_differs_in_its_delta_and_in_the_keys_that_it_puts_right(rewound):
    folder, ours, seen = rewound
    memory, _ = conversation("memory", folder, REWINDS)
    theirs, mine = plain(memory), plain(ours)
    assert len(mine) == len(theirs)
    assert [event["actions"] for event in mine if "rewind_before_invocation_id" in event["actions"]] == [
        event["actions"] for event in theirs if "rewind_before_invocation_id" in event["actions"]
    ]
    assert ours.state["first"] == "given" and memory.state["first"] is None
    assert {name for name, value in memory.state.items() if value is not None} == set(ours.state) - {"first"}
    assert "__ADK_SENTINEL_REMOVED__" not in str(ours.state)
    assert any("first given" in instruction for instruction in seen[0][-10:])


def test_removed_keys_disappear_and_the_tombstone_is_never_shown(tmp_path):
    async def within():
        async with SesliteSessionService(str(tmp_path / "a.db")) as service:
            session = await service.create_session(
                app_name="a", user_id="u", state={"k": 1, "user:k": 2, "app:k": 3}
            )
            removed = dict.fromkeys(("k", "user:k", "app:k", "temp:k", "never"), "__ADK_SENTINEL_REMOVED__")
            await service.append_event(session, services.event(removed))
            read = await service.get_session(app_name="a", user_id="u", session_id=session.id)
            listed = await service.list_sessions(app_name="a")
            return (
                session.state,
                read.state,
                listed.sessions[0].state,
                await service.get_user_state(app_name="a", user_id="u"),
            )

    assert asyncio.run(within()) == ({}, {}, {}, {})


def test_the_store_is_sound_and_its_log_explains_the_state(rewound):
    with Store(rewound[0] / "seslite.db") as store:
        assert store.check("log") == []
