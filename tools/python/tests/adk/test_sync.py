"""Copies between session services: every pair of them, interrupted at every step, over a server that
fails."""

import asyncio
import contextlib
import datetime
import email.utils
import json
import os
import pathlib
import tempfile

import google.auth
import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from seslite import REMOVED
from seslite.adk import SesliteSessionService
from seslite.adk.sync import Pace, Side, StoreSide, Sync, VertexSide, compare, opened, pace, side_of
from seslite.adk.sync.sides import STRAY

pytest.importorskip("agentplatform")
from vertex_server import Fault, LocalVertex, Token, Vertex  # noqa: E402

KINDS = ("memory", "sqlite", "database", "seslite", "vertex")
VECTORS = pathlib.Path(os.environ.get("SESLITE_TEST_DATA", "../shared")) / "vectors" / "vertex.json"


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    monkeypatch.setattr(google.auth, "default", lambda **_: (Token(), "p"))


@pytest.fixture
def tmp_path():
    """In memory, where there is such a folder: the ADK's services flush each append."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield pathlib.Path(folder)


def quick(**options):
    """A pace that does not wait long."""
    return Pace(**{"first": 0.001, "longest": 0.002, **options})


@contextlib.asynccontextmanager
async def service_of(kind, folder, name, **options):
    """A service of its own, by its kind; `vertex` with its server as an attribute."""
    server = Vertex(**options) if kind == "vertex" else None
    service = {
        "memory": lambda: InMemorySessionService(),
        "sqlite": lambda: SqliteSessionService(f"{folder}/{name}.sqlite"),
        "database": lambda: DatabaseSessionService(f"sqlite+aiosqlite:///{folder}/{name}.db"),
        "seslite": lambda: SesliteSessionService(f"{folder}/{name}.seslite", synchronous="normal"),
        "vertex": lambda: LocalVertex(server.base),
    }[kind]()
    service.server = server
    try:
        yield service
    finally:
        if server is not None:
            await service._get_api_client().aclose()
            server.close()
        elif hasattr(service, "close"):
            await service.close()


@contextlib.asynccontextmanager
async def pair(folder, source, target, **options):
    async with (
        service_of(source, folder, "source", **options) as one,
        service_of(target, folder, "target", **options) as other,
    ):
        yield one, other


def event(name, delta=None, *, time=0.0, author="user", text=None, invocation="i1", **fields):
    content = types.Content(role="user", parts=[types.Part(text=text)]) if text else None
    return Event(
        id=name,
        author=author,
        invocation_id=invocation,
        timestamp=1_700_000_000 + time,
        content=content,
        actions=EventActions(state_delta=delta or {}),
        **fields,
    )


CALL = types.Content(
    role="model",
    parts=[types.Part(function_call=types.FunctionCall(id="c1", name="look", args={"at": {"b": [1, None]}}))],
)
ANSWER = types.Content(
    role="user",
    parts=[types.Part(function_response=types.FunctionResponse(id="c1", name="look", response={"ok": True}))],
)


async def append(service, user, session, *events):
    stored = await service.get_session(app_name="app", user_id=user, session_id=session)
    for each in events:
        await service.append_event(stored, each)


async def fill(service):
    """Two users with three sessions. The session that was made first was changed last."""
    for user, session, state in (
        ("u", "s1", {"k": 1, "own": [1, {"a": None}], "user:lang": "en", "app:theme": "dark"}),
        ("u", "s2", {}),
        ("v", "s3", {"user:lang": "de"}),
    ):
        await service.create_session(app_name="app", user_id=user, session_id=session, state=state)
    await append(service, "u", "s1", event("e1", {"k": 2, "user:count": 1}, text="Hello"))
    await append(
        service,
        "u",
        "s2",
        event("e1", {"user:count": 2}, time=1.5, text="in another session"),
        event("e2", time=2.25, author="agent", long_running_tool_ids={"c1"}).model_copy(
            update={"content": CALL}
        ),
        event("e3", {"seen": True, "k": None}, time=2.5).model_copy(update={"content": ANSWER}),
    )
    await append(
        service,
        "v",
        "s3",
        event("f1", time=3, usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3)),
        event("f2", {"app:theme": "light"}, time=4, branch="a.b", error_code="E", error_message="broken"),
    )
    await append(
        service, "u", "s1", event("e4", {"user:count": 3}, time=5.123456, author="agent", text="Bye")
    )


async def seen(service, *, shared=True, ids=True):
    """All that a service has, to be compared. Without `shared` less app: and user: keys."""
    found = {}
    for listed in (await service.list_sessions(app_name="app")).sessions:
        session = await service.get_session(app_name="app", user_id=listed.user_id, session_id=listed.id)
        state = {
            name: value for name, value in session.state.items() if shared or not compare.is_shared(name)
        }
        events = [compare.fields_of(each) for each in session.events]
        found[session.user_id, session.id] = state, [{**each, "id": ids and each["id"]} for each in events]
    return found


async def sync(source, target, **options):
    options.setdefault("apps", ["app"])
    options.setdefault("pace", quick())
    return await Sync(side_of(source), side_of(target), **options).run()


# -------------------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_every_pair_of_services_ends_equal(source, target, tmp_path):
    async def case():
        shared = "vertex" not in (source, target)
        async with pair(tmp_path, source, target) as (one, other):
            await fill(one)
            report = await sync(one, other)
            assert (
                report.sessions == {"created": 3} and report.events["copied"] == 7 and report.problems == []
            )
            assert await seen(one, shared=shared) == await seen(other, shared=shared)
            assert [
                what
                for what in report.lost
                if not what.startswith("state app:") and not what.startswith("state user:")
            ] == []
            assert (report.lost == {}) == (
                shared or source == target
            )  # in Vertex each session has its own app: and user: keys
            again = await sync(one, other)
            assert again.sessions == {"equal": 3} and not again.changed

            await append(one, "u", "s2", event("e5", {"k": 5}, time=7, text="more"))
            more = await sync(one, other)
            assert more.sessions == {"equal": 2, "updated": 1} and more.events["copied"] == 1
            assert await seen(one, shared=shared) == await seen(other, shared=shared)

            await append(other, "v", "s3", event("g1", {"k": 6}, time=8, text="from there"))
            assert (await sync(one, other)).sessions == {"equal": 2, "ahead": 1}
            back = await sync(other, one)
            assert back.sessions == {"equal": 2, "updated": 1} and back.events["copied"] == 1
            assert await seen(one, shared=False) == await seen(other, shared=False)

    asyncio.run(case())


class Interrupted(BaseException):
    """The end of a process."""


class Faulty:
    """A service whose calls, together with those of another, are counted, and one of them is interrupted."""

    CALLS = ("list_sessions", "get_session", "create_session", "append_event", "delete_session")

    def __init__(self, counter, service):
        for name in self.CALLS:
            setattr(service, name, self._wrap(counter, getattr(service, name)))

    @staticmethod
    def _wrap(counter, call):
        async def counted(*arguments, **named):
            counter["calls"] += 1
            mine = counter["calls"] == counter["at"]
            if mine and not counter["after"]:
                raise Interrupted
            result = await call(*arguments, **named)
            if mine:
                raise Interrupted
            return result

        return counted


class FaultyStore(StoreSide):
    """A store whose calls, which are not those of the service, are counted, too."""

    def __init__(self, counter, service):
        super().__init__(service)
        for name in ("sessions", "read", "create", "append", "delete", "set_shared"):
            setattr(self, name, Faulty._wrap(counter, getattr(self, name)))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "source, target",
    [
        ("seslite", "vertex"),
        ("vertex", "seslite"),
        ("seslite", "memory"),
        ("memory", "seslite"),
        ("memory", "sqlite"),
    ],
)
def test_a_sync_that_is_interrupted_at_any_step_ends_equal(source, target, after, tmp_path):
    """The source is filled once. Each step has a target of its own."""

    def faulty(counter, service):
        if isinstance(service, SesliteSessionService):
            return FaultyStore(counter, service)
        Faulty(counter, service)
        return side_of(service)

    async def case():
        shared = "vertex" not in (source, target)
        async with service_of(source, tmp_path, "source") as one:
            await fill(one)
            expected = await seen(one, shared=shared)
            for step in range(1, 1000):
                counter = {"calls": 0, "at": step, "after": after}
                async with service_of(target, tmp_path, f"target{step}") as other:
                    plain = side_of(one)
                    interrupted = Sync(plain, faulty(counter, other), apps=["app"], pace=quick())
                    with contextlib.suppress(Interrupted):
                        await interrupted.run()
                        break  # it came to its end before that step
                    counter["at"] = None
                    report = await sync(one, other)
                    assert report.problems == [] and await seen(other, shared=shared) == expected, step
                    assert STRAY not in [
                        each.id for each in (await other.list_sessions(app_name="app")).sessions
                    ]
            assert step > 15

    asyncio.run(case())


# -------------------------------------------------------------------------------------------------- Vertex


FAULTS = [
    Fault("500"),
    Fault("500", after=True),
    Fault("429", headers={"Retry-After": "0"}),
    Fault("cut"),
    Fault("cut", after=True),
    Fault("slow", after=True, seconds=4.0),
]
STEPS = {"slow": 16, "429": 4, "cut": 2}  # how far apart the requests are that are tried


@pytest.mark.parametrize("target", ["seslite", "vertex"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kind}{'-after' if fault.after else ''}")
def test_a_request_that_fails_is_made_good_in_the_same_pass(target, fault, tmp_path):
    """Each request in turn, or some."""

    async def case():
        source = "seslite" if target == "vertex" else "vertex"
        step, slow = STEPS.get(fault.kind, 1), fault.kind == "slow"
        async with service_of(source, tmp_path, "source") as one:
            await fill(one)
            server, expected, retried = one.server, await seen(one, shared=False), 0
            for number in range(1, 1000, step):
                async with service_of(target, tmp_path, f"target{number}") as other:
                    server = one.server or other.server
                    server.requests.clear()
                    server.faults = {number: fault}
                    report = await sync(one, other, pace=quick(timeout=3.0 if slow else 60.0))
                    reached = number in range(len(server.requests) + 1)
                    server.faults = {}
                    assert report.problems == [], report.problems
                    assert report.events["copied"] == 7 and report.events["doubled"] == 0
                    assert await seen(other, shared=False) == expected, number
                    if not reached:
                        break
                    assert (
                        report.retries <= 1 or slow
                    )  # 0 if another request at that time says that there is no such session
                    retried += report.retries
            assert retried >= (1 if slow else 2)

    asyncio.run(case())


def test_a_service_that_sends_us_away_is_left_alone_for_so_long(tmp_path):
    async def case():
        slept = []

        async def sleep(seconds):
            slept.append(seconds)

        async with pair(tmp_path, "seslite", "vertex") as (one, other):
            await one.create_session(app_name="app", user_id="u", session_id="s1")
            await append(one, "u", "s1", event("e1"))
            other.server.faults = {"append": Fault("429", headers={"Retry-After": "30"})}
            report = await sync(one, other, pace=Pace(sleep=sleep))
            assert (
                report.events["copied"] == 1
                and len(slept) == 1
                and 30 < slept[0] <= 31
                and report.waited == slept[0]
            )
            assert (
                other.server.answer_counts()["append"] == 2
            )  # that of google-adk after a second is not made

    asyncio.run(case())


def test_how_long_to_wait():
    class Answer(Exception):
        code = 503

        def __init__(self, headers=None, details=None):
            self.response = types.HttpResponse(headers=headers or {})
            self.details = details

    soon = email.utils.format_datetime(
        datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=20)
    )
    info = {
        "error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s"}]}
    }
    assert (
        pace.retry_after(Answer({"retry-after": "7"})) == 7
        and 15 < pace.retry_after(Answer({"Retry-After": soon})) <= 20
    )
    assert pace.retry_after(Answer(details=info)) == 2.5
    for useless in (
        Answer(),
        Answer({"retry-after": "soon"}),
        Answer(details={"error": "text"}),
        ValueError(),
    ):
        assert pace.retry_after(useless) is None
    assert pace.is_transient(Answer()) and not pace.is_transient(ValueError())


def test_a_service_that_stays_away_ends_the_pass(tmp_path):
    async def case():
        async with pair(tmp_path, "seslite", "vertex") as (one, other):
            await fill(one)
            other.server.faults = {number: Fault("503") for number in range(1, 100)}
            report = await sync(one, other, pace=quick(retries=3))
            assert len(other.server.requests) == 4 and report.retries == 3
            assert report.problems[0].session is None and "503" in report.problems[0].reason
            other.server.faults = {1: Fault("429", headers={"Retry-After": "86400"})}
            other.server.requests.clear()
            assert (
                "gave up" in (await sync(one, other)).problems[0].reason and len(other.server.requests) == 1
            )

    asyncio.run(case())


def test_events_that_get_other_ids_are_known_by_what_they_say(tmp_path):
    """As with an SDK that does not know raw_event, for which the events are stored without it."""

    async def case():
        async with pair(tmp_path, "seslite", "vertex", keeps_raw=False, waits=True) as (one, other):
            await fill(one)
            await append(one, "u", "s1", event("t1", time=6, text="twice"), event("t2", time=6, text="twice"))
            report = await sync(one, other)
            assert report.lost["event id"].times == 9 and report.events["copied"] == 9
            other.server.requests.clear()
            assert not (await sync(one, other)).changed and not (await sync(other, one)).changed
            await append(one, "u", "s1", event("t3", time=6, text="twice"))
            assert (await sync(one, other)).events["copied"] == 1
            assert len(other.server.sessions["s1"]["events"]) == 5
            await append(other, "u", "s1", event("t4", time=8, text="from there"))
            assert (await sync(other, one)).events["copied"] == 1 and not (await sync(one, other)).changed

    asyncio.run(case())


def recorded(kind):
    if not VECTORS.is_file():
        pytest.skip(f"there is no {VECTORS}")
    return json.loads(VECTORS.read_text("utf-8"))[kind]


def test_recorded_sessions_of_the_api_are_copied_as_the_adk_reads_them(tmp_path):
    async def case():
        copied = 0
        for number, each in enumerate(recorded("fromApi")):
            async with pair(tmp_path / str(number), "vertex", "seslite") as (one, other):
                name = one.server.put(each["rest"])
                report = await sync(one, other)
                if "adk" not in each:
                    assert report.sessions == {"failed": 1} and report.problems[0].session == name
                    continue
                wanted = each["adk"]
                found = await other.get_session(app_name="app", user_id=wanted["userId"], session_id=name)
                events = [Event.model_validate(event) for event in wanted["events"]]
                events = [event for event in events if not event.partial]
                assert [compare.fields_of(event) for event in found.events] == [
                    compare.fields_of(event) for event in events
                ]
                copied += report.events["copied"]
        assert copied > 50

    for number in range(len(recorded("fromApi"))):
        (tmp_path / str(number)).mkdir()
    asyncio.run(case())


def test_events_are_sent_to_the_api_as_was_recorded(tmp_path):
    async def case():
        sent = 0
        for number, each in enumerate(recorded("toApi")):
            if not each["rawEventKnown"] or each["adkEvent"].get("partial"):
                continue
            wanted = each["rest"]["body"]
            async with pair(tmp_path / str(number), "seslite", "vertex") as (one, other):
                with one.store.create(("app", "u", "s")) as session:
                    session.append(each["adkEvent"])
                await sync(one, other)
                bodies = [body for _, path, body in other.server.requests if path.endswith(":appendEvent")]
                assert bodies == [wanted], each["name"]
                sent += 1
        assert sent > 10

    for number in range(len(recorded("toApi"))):
        (tmp_path / str(number)).mkdir()
    asyncio.run(case())


# ------------------------------------------------------------------------------- what is there, what is not


def test_sessions_and_events_are_deleted_on_request(tmp_path):
    async def case():
        async with pair(tmp_path, "memory", "seslite") as (one, other):
            await fill(one)
            await sync(one, other)
            await one.delete_session(app_name="app", user_id="v", session_id="s3")
            await append(other, "u", "s1", event("x1", time=9, text="of its own"))
            report = await sync(one, other)
            assert report.sessions == {"equal": 1, "ahead": 1, "only_in_target": 1}
            dry = await sync(one, other, delete=True, dry_run=True)
            assert (
                dry.sessions == {"equal": 1, "updated": 1, "deleted": 1}
                and len((await seen(other))["u", "s1"][1]) == 3
            )
            report = await sync(one, other, delete=True)
            assert (
                report.sessions == {"equal": 1, "updated": 1, "deleted": 1} and report.events["copied"] == 2
            )
            assert await seen(other) == await seen(one)

    asyncio.run(case())


def test_nothing_is_deleted_where_the_source_has_nothing_at_first(tmp_path):
    async def case():
        async with pair(tmp_path, "memory", "seslite") as (one, other):
            await fill(other)
            assert (await sync(one, other, delete=True)).sessions == {"only_in_target": 3}
            await fill(one)
            going = Sync(side_of(one), side_of(other), apps=["app"], delete=True, pace=quick())
            assert (await going.run()).sessions == {"equal": 3}
            for user, session in (("u", "s1"), ("u", "s2"), ("v", "s3")):
                await one.delete_session(app_name="app", user_id=user, session_id=session)
            assert (await going.run()).sessions == {"deleted": 3}  # here it has seen them

    asyncio.run(case())


def test_sessions_that_both_sides_went_on_with_are_left_alone(tmp_path):
    async def case():
        async with pair(tmp_path, "database", "seslite") as (one, other):
            await fill(one)
            await sync(one, other)
            await append(one, "u", "s1", event("a1", {"k": "a"}, time=9))
            await append(other, "u", "s1", event("b1", {"k": "b"}, time=9))
            before = await seen(other)
            report = await sync(one, other)
            assert report.sessions == {"equal": 2, "conflict": 1} and report.problems[0].session == "s1"
            assert await seen(other) == before and report.events["copied"] == 0
            await sync(one, other, delete=True)
            assert await seen(other) == await seen(one)

    asyncio.run(case())


def test_what_another_appends_meanwhile_is_not_deleted_unseen(tmp_path):
    class Busy(Side):
        async def append(self, session, each, **options):
            await super().append(session, each, **options)
            if each.id == "e4":
                await append(self.service, "u", "s1", event("x1", time=9, text="of another"))

    async def case():
        async with pair(tmp_path, "seslite", "memory") as (one, other):
            await fill(one)
            report = await Sync(side_of(one), Busy(other), apps=["app"], delete=True, pace=quick()).run()
            assert report.sessions == {"created": 3}
            assert [each["id"] for each in (await seen(other))["u", "s1"][1]] == ["e1", "e4", "x1"]
            assert (await sync(one, other, delete=True)).sessions == {"equal": 2, "updated": 1}
            assert await seen(other) == await seen(one)

    asyncio.run(case())


def test_a_source_that_was_pruned_goes_on_where_the_target_has_the_rest(tmp_path):
    async def case():
        async with pair(tmp_path, "seslite", "memory") as (one, other):
            await fill(one)
            for number in range(6):
                await append(
                    one,
                    "u",
                    "s1",
                    event(f"p{number}", {"n": number}, time=10 + number, invocation=f"i{number}"),
                )
            await sync(one, other)
            with one.store.get(("app", "u", "s1")) as stored:
                stored.prune(keep=2)
            await append(one, "u", "s1", event("p6", {"n": 6}, time=20))
            report = await sync(one, other, delete=True)
            assert (
                report.sessions == {"equal": 2, "updated": 1} and report.lost["pruned events"].session == "s1"
            )
            assert [each["id"] for each in (await seen(other))["u", "s1"][1]] == [
                "e1",
                "e4",
                *(f"p{n}" for n in range(7)),
            ]

    asyncio.run(case())


def test_what_the_store_knows_beyond_the_adk_is_reported(tmp_path):
    async def case():
        async with pair(tmp_path, "seslite", "memory") as (one, other):
            with one.store.create(
                ("app", "u", "s"), title="Trip", labels={"a": "b"}, expires_us=4_000_000_000_000_000
            ) as session:
                session.artifact_save("notes", "text")
                session.append({"id": "e", "author": "a", "content": {"parts": [{"text": "x"}]}})
            report = await sync(one, other)
            assert list(report.lost) == ["the title", "labels", "the expiry", "artifacts"]
            lost = json.loads(report.json())["lost"][0]
            assert lost == {"what": "the title", "times": 1, "app": "app", "user": "u", "session": "s"}

    asyncio.run(case())


def test_a_key_that_an_event_removes_is_null_in_services_that_cannot_remove_it(tmp_path):
    async def case():
        async with pair(tmp_path, "seslite", "sqlite") as (one, other):
            await one.create_session(
                app_name="app", user_id="u", session_id="s", state={"gone": 1, "stays": 2}
            )
            await append(one, "u", "s", event("e1", {"gone": REMOVED}))
            report = await sync(one, other)
            assert (await seen(other))["u", "s"][0] == {"gone": None, "stays": 2}
            assert set(report.lost) == {"event actions.stateDelta", "state gone"}
            assert not (await sync(other, one)).changed and (await seen(one))["u", "s"][0] == {"stays": 2}

    asyncio.run(case())


def test_the_text_by_which_the_store_removes_a_key_stays_a_text(tmp_path):
    async def case():
        async with pair(tmp_path, "memory", "seslite") as (one, other):
            state = {"k": REMOVED, "user:k": REMOVED, "deep": {"k": REMOVED}}
            await one.create_session(app_name="app", user_id="u", session_id="s", state=state)
            await append(one, "u", "s", event("e1", {"n": REMOVED, "m": [REMOVED]}, text=f'"{REMOVED}"'))
            report = await sync(one, other)
            assert report.lost == {} and (await seen(one)) == (await seen(other))

    asyncio.run(case())


def test_partial_events_and_temp_keys_are_not_copied(tmp_path):
    """Vertex keeps them."""

    async def case():
        async with pair(tmp_path, "vertex", "seslite") as (one, other):
            await one.create_session(app_name="app", user_id="u", session_id="s", state={"temp:t": 1, "k": 1})
            stored = await one.get_session(app_name="app", user_id="u", session_id="s")
            await one.append_event(stored, event("p1", text="He", partial=True))
            await one.append_event(stored, event("p2", {"k": 2}, time=1, text="Hello"))
            one.server.sessions["s"]["events"][1]["rawEvent"]["actions"]["stateDelta"]["temp:x"] = 1
            report = await sync(one, other)
            assert report.events == {"copied": 1, "partial": 1, "doubled": 0} and report.lost == {}
            found = await other.get_session(app_name="app", user_id="u", session_id="s")
            assert found.state == {"k": 2} and found.events[0].actions.state_delta == {"k": 2}

    asyncio.run(case())


def test_events_that_a_service_has_twice_are_copied_once_and_reported(tmp_path):
    async def case():
        async with pair(tmp_path, "vertex", "seslite") as (one, other):
            await one.create_session(app_name="app", user_id="u", session_id="s")
            await append(one, "u", "s", event("d1", text="a"), event("d1", text="a"))
            report = await sync(one, other)
            assert report.events == {"copied": 1, "partial": 0, "doubled": 1}
            assert (await sync(other, one)).events == {"copied": 0, "partial": 0, "doubled": 1}

    asyncio.run(case())


def test_what_the_target_refuses_is_reported_and_the_rest_is_copied(tmp_path):
    async def case():
        async with pair(tmp_path, "seslite", "vertex") as (one, other):
            await fill(one)
            await one.create_session(app_name="app", user_id="u", session_id="not allowed!")
            report = await sync(one, other)
            assert (
                report.sessions == {"created": 3, "failed": 1} and "not allowed!" in report.problems[0].reason
            )
        async with (
            service_of("memory", tmp_path, "target") as other,
            service_of("seslite", tmp_path, "spaces") as one,
        ):
            for name in ("s1", " s1 "):
                await one.create_session(app_name="app", user_id="u", session_id=name)
            report = await sync(one, other)
            assert report.sessions == {"created": 1, "failed": 1} and "take the spaces" in "\n".join(
                report.lines()
            )

    asyncio.run(case())


def test_only_the_sessions_of_a_user_and_only_what_has_changed(tmp_path):
    async def case():
        async with pair(tmp_path, "database", "seslite") as (one, other):
            await fill(one)
            going = Sync(side_of(one), side_of(other), apps=["app"], user="u", pace=quick())
            assert (await going.run()).sessions == {"created": 2}
            assert (await going.run()).sessions == {"unchanged": 2}
            await append(one, "u", "s2", event("e7", time=30))
            assert (await going.run()).sessions == {"unchanged": 1, "updated": 1}
            assert set(await seen(other)) == {("u", "s1"), ("u", "s2")}
            reports = going.follow(0.01)
            assert (await anext(reports)).sessions == {"unchanged": 2}
            await other.delete_session(app_name="app", user_id="u", session_id="s1")
            assert (await anext(reports)).sessions == {"unchanged": 1, "created": 1}

    asyncio.run(case())


def test_shared_state_is_that_of_the_source_in_the_end(tmp_path):
    """s1 is copied after s2, which set a later value."""

    async def case():
        async with pair(tmp_path, "memory", "database") as (one, other):
            for name in ("s1", "s2"):
                await one.create_session(app_name="app", user_id="u", session_id=name)
            await append(one, "u", "s2", event("e1", {"user:lang": "old", "app:a": 1}, time=1))
            await append(one, "u", "s1", event("e2", {"user:lang": "newer", "app:a": 2}, time=2))
            await append(
                one, "u", "s2", event("e3", {"user:lang": "newest"}, time=1.5)
            )  # so the list has s2 before s1
            report = await sync(one, other)
            assert await other.get_user_state(app_name="app", user_id="u") == {"lang": "newest"}
            assert report.shared == [("app", "u", "user:lang")] and await seen(one) == await seen(other)

    asyncio.run(case())


def test_a_service_by_its_uri(tmp_path):
    assert isinstance(opened(f"agentengine://projects/p/locations/l/reasoningEngines/1"), VertexSide)
    assert isinstance(opened("seslite://"), StoreSide)
    assert isinstance(opened(f"sqlite:///{tmp_path}/a.db").service, SqliteSessionService)
    assert isinstance(opened(f"sqlite+aiosqlite:///{tmp_path}/b.db").service, DatabaseSessionService)
    assert type(opened("memory://")) is Side
    with pytest.raises(Exception, match="nothing.db"):
        opened(f"seslite:///{tmp_path}/nothing.db", must_exist=True)


def test_an_agent_engine_has_one_app(tmp_path):
    async def case():
        async with pair(tmp_path, "seslite", "vertex") as (one, other):
            for app in ("a", "b"):
                await one.create_session(app_name=app, user_id="u", session_id="s")
            with pytest.raises(Exception, match="one app"):
                await sync(one, other, apps=[])
            assert (await sync(one, other, apps=["b"])).sessions == {"created": 1}
            with pytest.raises(Exception, match="name them"):
                await sync(other, one, apps=[])

    asyncio.run(case())
