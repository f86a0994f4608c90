"""What SesliteSessionService has beyond the others."""

import asyncio
import inspect
import math
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.sessions.base_session_service import BaseSessionService
from services import WHO, event

import seslite
from seslite.adk import SesliteSessionService, StaleSessionError
from seslite.store import StoreOptions


def run(case, folder):
    async def within():
        async with SesliteSessionService(str(folder / "a.db")) as service:
            return await asyncio.wait_for(
                case(service, await service.create_session(session_id="s", state={"k": 1}, **WHO)), 60
            )

    return asyncio.run(within())


def test_all_methods_of_a_session_service_are_there():
    wanted = {
        name
        for name, member in vars(BaseSessionService).items()
        if callable(member) and not name.startswith("_")
    }
    assert wanted - set(vars(SesliteSessionService)) == {"flush"}  # nothing waits to be written


def test_a_uri_names_a_file_and_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    absolute = tmp_path / "b c.db"
    for uri, name in (
        ("seslite:///a.db?synchronous=normal&max_readers=2&timeout=2.5", "a.db"),
        (f"seslite:///{absolute}".replace(" ", "%20"), str(absolute)),
        ("seslite://", ":memory:"),
    ):
        service = SesliteSessionService(uri=uri, agents_dir="ignored")
        assert service.store.info().path == name
        asyncio.run(service.close())
    assert (tmp_path / "a.db").exists() and absolute.exists()
    with pytest.raises((seslite.MisuseError, seslite.CantOpenError)):
        SesliteSessionService(uri="seslite+postgresql://127.0.0.1:1/agents")
    for wrong in ("sqlite:///a.db", "seslite://host/a.db", "a.db"):
        with pytest.raises(seslite.InvalidError, match="seslite:///agents.db"):
            SesliteSessionService(uri=wrong)
    for wrong in (
        "read_only=yes",
        "max_readers=few",
        "max_readers=",
        "colour=red",
        "clock=1",
        "timeout=soon",
        "timeout=0",
    ):
        with pytest.raises(seslite.InvalidError, match=wrong.split("=")[0]):
            SesliteSessionService(uri=f"seslite:///a.db?{wrong}")
    with pytest.raises(seslite.NotFoundError):
        SesliteSessionService(uri="seslite:///none.db?must_exist=true")
    service = SesliteSessionService(uri="seslite:///a.db?read_only=false&must_exist=true")
    assert not service.store.info().read_only
    asyncio.run(service.close())
    for arguments in ({}, {"path": "a", "uri": "seslite://"}):
        with pytest.raises(seslite.MisuseError):
            SesliteSessionService(**arguments)


def test_the_service_takes_the_options_of_a_store():
    own = inspect.signature(seslite.Store.__init__).parameters.values()
    assert {each.name: each.annotation for each in own if each.kind is each.KEYWORD_ONLY} == {
        name: reference.__forward_arg__ for name, reference in vars(StoreOptions)["__annotations__"].items()
    }


def test_the_clock_and_the_ids_are_those_of_the_adk(tmp_path):
    async def made(**options):
        platform_time.set_time_provider(lambda: 1_000_000.25)  # for this task only
        platform_uuid.set_id_provider(lambda: "from the ADK")
        async with SesliteSessionService(str(tmp_path / "a.db"), **options) as service:
            session = await service.create_session(app_name="a", user_id="u")
            named = await service.create_session(app_name="a", user_id="u", session_id=f"named {session.id}")
            assert service.store.get(("a", "u", session.id)).created_us == session.last_update_time * 1e6
            return session.id, session.last_update_time, named.id

    assert asyncio.run(made()) == ("from the ADK", 1_000_000.25, "named from the ADK")
    given = {"clock": lambda: 5_000_000, "make_id": lambda: "from the store"}
    assert asyncio.run(made(**given)) == ("from the store", 5.0, "named from the store")


@pytest.mark.parametrize(
    "ends, code",
    [
        ("signal.raise_signal(signal.SIGTERM)", -signal.SIGTERM),
        (
            "service.store.export(lambda _: signal.raise_signal(signal.SIGTERM))",
            128 + signal.SIGTERM,
        ),  # within a call
    ],
)
def test_sigterm_closes_the_store_of_the_adk_s_command_line(ends, code, tmp_path):
    program = f"""
        import asyncio, signal
        from seslite.adk import SesliteSessionService
        service = SesliteSessionService(uri="seslite:///a.db", agents_dir=".")
        asyncio.run(service.create_session(app_name="a", user_id="u"))
        {ends}
        print("still here")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (code, ""), ran.stderr
    assert (tmp_path / "a.db").exists() and not (tmp_path / "a.db-wal").exists()


def test_a_stale_session_is_told_between_processes(tmp_path):
    async def case(service, session):
        async with SesliteSessionService(str(tmp_path / "a.db")) as other:
            theirs = await other.get_session(session_id="s", **WHO)
            await other.append_event(theirs, event({"k": 2}, timestamp=1.0))
        made = event({"temp:t": 1, "k": 3})
        with pytest.raises(StaleSessionError) as stale:
            await service.append_event(session, made)
        assert stale.value.__cause__.version == 1
        # Nothing of the refused event is seen, and it is whole.
        assert (
            session.state == {"k": 1}
            and session.events == []
            and made.actions.state_delta == {"temp:t": 1, "k": 3}
        )
        await service.append_event(await service.get_session(session_id="s", **WHO), made)

    run(case, tmp_path)


def test_a_session_of_another_service_is_stale_if_it_lacks_events(tmp_path):
    async def case(service, session):
        plain = type(session)(**session.model_dump())
        await service.append_event(session, event(timestamp=9e9))
        with pytest.raises(StaleSessionError):
            await service.append_event(plain, event())

    run(case, tmp_path)


def test_a_service_goes_from_loop_to_loop(tmp_path):
    service = SesliteSessionService(str(tmp_path / "a.db"))
    session = asyncio.run(service.create_session(session_id="s", **WHO))
    for number in range(3):
        asyncio.run(service.append_event(session, event({"n": number})))
    assert asyncio.run(service.get_session(session_id="s", **WHO)).state == {"n": 2} and service._locks == {}
    asyncio.run(service.close())
    with pytest.raises(seslite.MisuseError, match="closed"):
        asyncio.run(service.get_session(session_id="s", **WHO))


def test_events_are_followed_across_services(tmp_path):
    async def case(service, session):
        async with SesliteSessionService(str(tmp_path / "a.db")) as other:
            seen, place = [], None

            async def follow(**options):
                async for each in service.follow(**WHO, **options):
                    seen.append((each.session_id, each.event.id))
                    if len(seen) % 3 == 0:
                        return each.place

            following = asyncio.ensure_future(follow(session_id="s"))
            theirs = await other.get_session(session_id="s", **WHO)
            for number in range(3):
                await other.append_event(theirs, event(id=f"e{number}"))
            place = await following
            for number in range(3, 6):
                await other.append_event(theirs, event(id=f"e{number}"))
            await follow(session_id="s", place=place)
            assert seen == [("s", f"e{number}") for number in range(6)]

    run(case, tmp_path)


def test_an_agent_follows_what_another_process_appends(tmp_path):
    program = """
        import seslite, sys
        with seslite.Store(sys.argv[1]) as store:
            for number in range(20):
                store.append(("app", "user", "s"), {"id": f"e{number}", "author": "agent", "invocationId": "i"})
    """

    async def case(service, session):
        following = service.follow(session_id="s", **WHO)
        first = asyncio.ensure_future(anext(following))
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "a.db")
        )
        seen = [await first] + [await anext(following) for _ in range(19)]
        assert [(each.session_id, each.event.id) for each in seen] == [
            ("s", f"e{number}") for number in range(20)
        ]
        assert await other.wait() == 0
        with pytest.raises(StaleSessionError):
            await service.append_event(session, event())
        await following.aclose()

    run(case, tmp_path)


def test_a_rewind_that_has_nothing_to_take_back_stores_nothing(tmp_path):
    async def case(service, session):
        await service.append_event(session, event({"k": 2}, invocation="i1", text="hi"))
        for _ in range(2):
            rewind = event(invocation="r", timestamp=1.0)
            rewind.actions.rewind_before_invocation_id = "i1"
            assert await service.append_event(session, rewind) is rewind
        assert len(session.events) == 2 == service.store.get(("app", "user", "s")).stored
        assert session.state == {"k": 1} and session.events[1].invocation_id != "r"
        assert (await service.get_session(session_id="s", **WHO)).events == session.events
        await service.append_event(session, event({"k": 5}, invocation="i2"))

    run(case, tmp_path)


def test_a_cancelled_append_is_shown_as_it_ended(tmp_path):
    async def case(service, session):
        for number in range(40):
            appending = asyncio.ensure_future(
                service.append_event(session, event({"n": number, "temp:t": number}))
            )
            await asyncio.sleep(0.0005 * (number % 5))
            appending.cancel()
            await asyncio.wait([appending])
            stored = await service.get_session(session_id="s", **WHO)
            assert [each.id for each in session.events] == [each.id for each in stored.events]
            assert session.state.get("n") == stored.state.get("n")
        await service.append_event(session, event({"n": "last"}))

    run(case, tmp_path)


def test_a_cancelled_append_does_not_wait_for_the_lock(tmp_path):
    async def case(service, session):
        held, release = threading.Event(), threading.Event()

        def events():  # within the transaction that stores them
            held.set()
            yield {"released": release.wait(60)}

        loading = asyncio.ensure_future(asyncio.to_thread(service.store.load, ("app", "user", "l"), events()))
        await asyncio.to_thread(held.wait, 60)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(service.append_event(session, event({"k": 2})), 0.1)
        with service.store.limits(timeout=0.05), pytest.raises(seslite.BusyError):
            await service.append_event(session, event({"k": 2}))
        assert not loading.done() and session.events == []
        release.set()
        await loading
        await service.append_event(session, event({"k": 3}))
        assert session.state["k"] == 3 and service.store.event_count(("app", "user", "s")) == (1, 1)

    run(case, tmp_path)


def test_events_of_other_adks_are_read(tmp_path):
    async def case(service, session):
        key = ("app", "user", "s")
        service.store.append(
            key,
            b'{"id":"ms","timestamp":1700000000123,"author":"a","invocation_id":"i","actions":{"state_delta":{"n":1}}}',
        )
        service.store.append(
            key,
            b'{"id":"text","timestamp":"2023-11-14T22:13:20.5Z","author":"a","invocationId":"i","actions":{}}',
        )
        read = await service.get_session(session_id="s", **WHO)
        assert [each.timestamp for each in read.events] == [1700000000.123, 1700000000.5] and read.state == {
            "k": 1,
            "n": 1,
        }

    run(case, tmp_path)


def test_nan_outside_of_state_is_stored_as_null(tmp_path):
    """As the ADK's own services store it."""

    async def case(service, session):
        call = {"functionCall": {"name": "f", "args": {"x": math.inf}}}
        made = event(custom_metadata={"n": math.nan}, avg_logprobs=-math.inf, content={"parts": [call]})
        await service.append_event(session, made)
        read = (await service.get_session(session_id="s", **WHO)).events[0]
        assert (read.custom_metadata, read.avg_logprobs) == ({"n": None}, None)
        assert read.content.parts[0].function_call.args == {"x": None}

    run(case, tmp_path)


def test_bad_input_is_an_error_of_python_and_stores_nothing(tmp_path):
    async def case(service, session):
        for refused in (
            service.append_event(session, event({"k": math.inf})),
            service.append_event(session, event({"k": "\ud800"})),
            service.append_event(session, event({"k\0": 1})),
            service.append_event(session, event(text="\ud800")),
            service.create_session(app_name="a\0", user_id="u"),
            service.create_session(app_name="a", user_id="u", state={"n": math.nan}),
            service.create_session(app_name="", user_id="u"),
            service.get_session(app_name="a", user_id="u", session_id="s\ud800"),
            service.list_sessions(app_name="a" * 600),
            service.delete_session(app_name="a", user_id="u", session_id=""),
            service.get_user_state(app_name="a", user_id="\0"),
        ):
            with pytest.raises(seslite.InvalidError):
                await refused
        assert (await service.get_session(session_id="s", **WHO)).events == [] and session.state == {"k": 1}
        await service.append_event(session, event({"big": 10**400}))
        assert (await service.get_session(session_id="s", **WHO)).state["big"] == 10**400

    run(case, tmp_path)


def test_eight_writers_meet_no_error(tmp_path):
    """Each with a service of its own, as processes have."""

    async def write(writer):
        async with SesliteSessionService(str(tmp_path / "a.db")) as service:
            session = await service.create_session(app_name="app", user_id=f"u{writer}")
            for number in range(25):
                await service.append_event(session, event({"n": number, "app:last": writer}))

    async def within():
        await asyncio.gather(*(write(writer) for writer in range(8)))

    asyncio.run(within())
    with seslite.Store(tmp_path / "a.db") as store:
        assert sum(each.stored for each in store.sessions("app")) == 200 and store.check() == []
