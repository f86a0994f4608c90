"""The same cases over the ADK's artifact services and ours. Where one shows something else, DIFFERENCES says
what."""

import asyncio
import contextlib

import postgres
import pytest
from google.adk.artifacts import FileArtifactService, InMemoryArtifactService
from google.adk.artifacts.base_artifact_service import BaseArtifactService
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.platform import time as platform_time
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from scripted import make_app
from services import IS_PINNED, WHO, event

import seslite
from seslite.adk import SesliteArtifactService, SesliteSessionService

NAMES = ("memory", "file", "seslite", "server") if IS_PINNED else ("seslite", "server")
SCOPE = {**WHO, "session_id": "s"}
ALL = {}
DIFFERENCES = {
    "a_part_comes_back_as_it_was": {
        "file": (
            [*[True] * 3, "application/octet-stream", "Größe\n\0\n", True, True],
            "each has a type, and newlines are one",
        ),
    },
    "a_file_data_comes_back_as_it_was": {"file": ("InputValidationError", "not supported")},
    "references_are_followed": {"file": ("InputValidationError", "not supported")},
    "references_stay_in_their_scope": {"file": (["InputValidationError"] * 5, "not supported")},
    "a_reference_in_a_circle_is_refused": {"file": ("InputValidationError", "not supported")},
    "without_a_session_it_is_the_user_s": {
        "memory": ("InputValidationError", "refused"),
        "file": ((["a"], b"1", b"1"), "listed by the name that was given"),
    },
    "what_is_known_of_a_version": {
        "file": ([(0, {"k": [1, "ä"]}, "image/png"), (1, {}, None)], "a text has no type")
    },
    "a_name_that_leads_out_of_a_folder_is_refused": {"memory": (["nothing"] * 5, "names are keys")},
}


def case(expected):
    """Registers a case with what the services are expected to show."""

    def register(function):
        ALL[function.__name__] = (function, expected)
        return function

    return register


@contextlib.asynccontextmanager
async def opened(name, folder):
    if name in ("memory", "file"):
        yield InMemoryArtifactService() if name == "memory" else FileArtifactService(folder / "files")
        return
    async with SesliteArtifactService(
        postgres.fresh() if name == "server" else str(folder / "a.db")
    ) as service:
        yield service


async def raised(awaitable):
    try:
        await awaitable
    except Exception as error:
        return type(error).__name__
    return "nothing"


def part(data, mime_type="image/png", **named):
    return types.Part(inline_data=types.Blob(data=data, mime_type=mime_type, **named))


def file_part(uri, mime_type="text/plain", **named):
    return types.Part(file_data=types.FileData(file_uri=uri, mime_type=mime_type, **named))


def uri_of(name, session="s", user="user"):
    return f"artifact://apps/app/users/{user}/{f'sessions/{session}/' if session else ''}artifacts/{name}/versions/0"


@case(([0, 1, 2], [0, 1, 2], ["0", "1", "2", "2"], [None] * 3, ["a"]))
async def versions_count_from_0(service):
    scope = {**SCOPE, "filename": "a"}
    saved = [
        await service.save_artifact(artifact=types.Part(text=str(number)), **scope) for number in range(3)
    ]
    loaded = [(await service.load_artifact(version=number, **scope)).text for number in (*saved, None)]
    missing = [await service.load_artifact(version=number, **scope) for number in (3, -1)]
    missing.append(await service.get_artifact_version(version=-1, **scope))
    return (
        saved,
        await service.list_versions(**scope),
        loaded,
        missing,
        await service.list_artifact_keys(**SCOPE),
    )


@case([True] * 7)
async def a_part_comes_back_as_it_was(service):
    seen = []
    for made in (
        part(b"\x89PNG\0", display_name="My Report (final).png"),
        part(b"1" * 5_000_000),
        part(b""),
        part(b"1", None),
        types.Part(text="Größe\r\n\0\n"),
        types.Part(text=""),
        types.Part(text='{"key": "value"}'),
    ):
        await service.save_artifact(filename="a", artifact=made, **SCOPE)
        loaded = await service.load_artifact(filename="a", **SCOPE)
        seen.append(loaded == made or loaded.text or loaded.inline_data.mime_type)
    return seen


@case(True)
async def a_file_data_comes_back_as_it_was(service):
    made = file_part("gs://bucket/report.pdf", "application/pdf", display_name="Report")
    try:
        await service.save_artifact(filename="a", artifact=made, **SCOPE)
    except InputValidationError as error:
        return type(error).__name__
    return await service.load_artifact(filename="a", **SCOPE) == made


@case([(0, {"k": [1, "ä"]}, "image/png"), (1, {}, "text/plain")])
async def what_is_known_of_a_version(service):
    scope = {**SCOPE, "filename": "a"}
    await service.save_artifact(artifact=part(b"1"), custom_metadata={"k": [1, "ä"]}, **scope)
    await service.save_artifact(artifact={"text": "a dict"}, custom_metadata={}, **scope)
    listed = await service.list_artifact_versions(**scope)
    assert listed == [await service.get_artifact_version(version=number, **scope) for number in (0, 1)]
    assert listed[1] == await service.get_artifact_version(**scope)
    assert all(abs(each.create_time - platform_time.get_time()) < 60 for each in listed)
    assert await service.get_artifact_version(**{**scope, "filename": "b"}) is None
    return [(each.version, each.custom_metadata, each.mime_type) for each in listed]


@case((["user:a"], b"1", b"1"))
async def without_a_session_it_is_the_user_s(service):
    try:
        await service.save_artifact(filename="a", artifact=part(b"1"), **WHO)
    except InputValidationError as error:
        return type(error).__name__
    loaded = [
        await service.load_artifact(filename="a", **WHO),
        await service.load_artifact(filename="user:a", **SCOPE),
    ]
    return await service.list_artifact_keys(**WHO), *(each.inline_data.data for each in loaded)


@case((["own", "user:shared"], ["user:shared"], [], None))
async def scopes_are_apart(service):
    await service.save_artifact(filename="own", artifact=part(b"1"), **SCOPE)
    await service.save_artifact(filename="user:shared", artifact=part(b"2"), **SCOPE)
    other = {**SCOPE, "session_id": "other"}
    keys = [
        await service.list_artifact_keys(**scope) for scope in (SCOPE, other, {**SCOPE, "app_name": "other"})
    ]
    return *keys, await service.load_artifact(filename="own", **other)


@case(["hello", "hello", "hello", None])
async def references_are_followed(service):
    await service.save_artifact(filename="folder/a", artifact=types.Part(text="hello"), **SCOPE)
    await service.save_artifact(filename="user:a", artifact=types.Part(text="hello"), **SCOPE)
    seen = []
    for uri in (uri_of("folder/a"), uri_of("user:a", None), uri_of("r"), uri_of("none")):
        name = f"r{len(seen) or ''}"
        try:
            await service.save_artifact(filename=name, artifact=file_part(uri), **SCOPE)
        except InputValidationError as error:
            return type(error).__name__
        loaded = await service.load_artifact(filename=name, **SCOPE)
        seen.append(loaded and loaded.text)
    return seen


@case(["InputValidationError"] * 5)
async def references_stay_in_their_scope(service):
    others = [
        uri_of("a", user="other"),
        uri_of("a", "other"),
        uri_of("user:a", None, "other"),
        "artifact://x",
        "artifact://",
    ]
    return [
        await raised(service.save_artifact(filename="r", artifact=file_part(uri), **SCOPE)) for uri in others
    ]


@case("InputValidationError")
async def a_reference_in_a_circle_is_refused(service):
    with contextlib.suppress(InputValidationError):
        await service.save_artifact(filename="r", artifact=file_part(uri_of("r")), **SCOPE)
        return await raised(service.load_artifact(filename="r", **SCOPE))
    return "InputValidationError"


@case((None, None, [0], ["a"], 1))
async def an_empty_octet_stream_is_absent(service):
    scope = {**SCOPE, "filename": "a"}
    await service.save_artifact(artifact=part(b"", "application/octet-stream"), **scope)
    seen = [await service.load_artifact(**scope), await service.load_artifact(version=0, **scope)]
    kept = await service.list_versions(**scope), await service.list_artifact_keys(**SCOPE)
    return *seen, *kept, await service.save_artifact(artifact=part(b"1"), **scope)


@case(([], None, "kept", 0))
async def all_versions_are_deleted(service):
    for name in ("doc", "doc", "doc/nested"):
        await service.save_artifact(filename=name, artifact=types.Part(text="kept"), **SCOPE)
    scope = {**SCOPE, "filename": "doc"}
    for _ in range(2):
        await service.delete_artifact(**scope)
    kept = await service.load_artifact(filename="doc/nested", **SCOPE)
    left = await service.list_versions(**scope), await service.load_artifact(**scope)
    return *left, kept.text, await service.save_artifact(artifact=part(b""), **scope)


@case((list(range(10)), list(range(10)), 10))
async def tasks_save_at_once(service):
    scope = {**SCOPE, "filename": "a"}
    saves = [service.save_artifact(artifact=types.Part(text=str(number)), **scope) for number in range(10)]
    saved = sorted(await asyncio.gather(*saves))
    loaded = await asyncio.gather(*(service.load_artifact(version=number, **scope) for number in saved))
    return saved, await service.list_versions(**scope), len({each.text for each in loaded})


@case(["InputValidationError"] * 3)
async def what_is_no_artifact_is_refused(service):
    empty = types.Part()
    call = types.Part(function_call=types.FunctionCall(name="f"))
    wrong = [empty, call, {"function_call": {"name": "f"}}]
    return [await raised(service.save_artifact(filename="a", artifact=each, **SCOPE)) for each in wrong]


@case(["InputValidationError"] * 5)
async def a_name_that_leads_out_of_a_folder_is_refused(service):
    names = ["../a", "user:a/../b", r"a\..\b", "/a", "C:a"]
    return [await raised(service.save_artifact(filename=name, artifact=part(b""), **SCOPE)) for name in names]


@case(["InputValidationError"] * 12)
async def ids_that_are_no_path_segments_are_refused(service):
    seen = []
    for name in SCOPE:
        for wrong in ("", "../a", "a\0b", "/a"):
            scope = {**SCOPE, name: wrong}
            calls = [
                service.save_artifact(filename="a", artifact=part(b""), **scope),
                service.list_artifact_keys(**scope),
            ]
            calls += [
                getattr(service, call)(filename="a", **scope)
                for call in ("load_artifact", "delete_artifact", "list_versions")
            ]
            seen.append("/".join({await raised(each) for each in calls}))
    return seen


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", ALL)
def test_service(case, name, tmp_path):
    if not IS_PINNED and case == "ids_that_are_no_path_segments_are_refused":
        pytest.skip("it is the ADK that refuses them, and not every version does")
    function, expected = ALL[case]

    async def within():
        async with opened(name, tmp_path) as service:
            return await function(service)

    shown, _ = DIFFERENCES.get(case, {}).get("seslite" if name == "server" else name, (expected, ""))
    assert asyncio.run(within()) == shown


# ----------------------------------------------------------------------------------------------- ours alone


def test_all_methods_of_an_artifact_service_are_there():
    wanted = {
        name
        for name, member in vars(BaseArtifactService).items()
        if callable(member) and not name.startswith("_")
    }
    assert wanted <= set(vars(SesliteArtifactService))


def test_a_service_opens_a_store_or_shares_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def within():
        async with SesliteArtifactService(uri="seslite:///a.db?synchronous=normal", agents_dir=".") as alone:
            assert alone.store.info().path == "a.db"
        with pytest.raises(seslite.MisuseError, match="closed"):
            await alone.list_artifact_keys(**WHO)
        async with SesliteSessionService("a.db", clock=lambda: 5_000_000) as sessions:
            async with SesliteArtifactService(sessions.store) as service:
                session = await sessions.create_session(**WHO)
                scope = {**WHO, "session_id": session.id, "filename": "a"}
                await service.save_artifact(artifact=part(b"1"), **scope)
                version = await service.get_artifact_version(**scope)
                assert version.create_time == 5.0
                uri = f"artifact://apps/app/users/user/sessions/{session.id}/artifacts/a/versions/0"
                assert version.canonical_uri == uri
            assert await sessions.get_session(**WHO, session_id=session.id)  # the store is still open
            await sessions.delete_session(**WHO, session_id=session.id)
            assert await service.load_artifact(**scope) is None
            for wrong in (
                {},
                {"path": "a", "uri": "seslite://"},
                {"path": sessions.store, "synchronous": "normal"},
            ):
                with pytest.raises(seslite.MisuseError):
                    SesliteArtifactService(**wrong)

    asyncio.run(within())


def test_the_clock_is_that_of_the_adk(tmp_path):
    async def within():
        platform_time.set_time_provider(lambda: 1_000_000.25)  # for this task only
        async with opened("seslite", tmp_path) as service:
            await service.save_artifact(filename="a", artifact=part(b"1"), **SCOPE)
            return (await service.get_artifact_version(filename="a", **SCOPE)).create_time

    assert asyncio.run(within()) == 1_000_000.25


def test_bad_input_is_an_error_of_the_adk_and_stores_nothing(tmp_path):
    async def within():
        async with opened("seslite", tmp_path) as service:
            for named in (
                {"filename": "a" * 513},
                {"filename": ""},
                {"filename": "a\0"},
                {"user_id": "\ud800"},
                {"app_name": "a" * 513},
                {"artifact": types.Part(text="\ud800")},
                {"artifact": part(b"1", "a" * 513)},
                {"artifact": part(None)},
                {"artifact": file_part("")},
                {"custom_metadata": {"k": float("nan")}},
            ):
                with pytest.raises(InputValidationError):
                    await service.save_artifact(**{"filename": "a", "artifact": part(b"1"), **SCOPE, **named})
            with pytest.raises(seslite.LimitError):
                await service.save_artifact(filename="a", artifact=part(bytes((64 << 20) + 1)), **SCOPE)
            with service.store.limits() as limits:
                limits.cancel()
                for call in (service.list_versions, service.load_artifact, service.delete_artifact):
                    with pytest.raises(seslite.CallInterruptedError):
                        await call(filename="a", **SCOPE)
            assert await service.list_artifact_keys(**SCOPE) == [] and service.store.check() == []

    asyncio.run(within())


# ---------------------------------------------------------------------------------------------- in a Runner


async def say(runner, text):
    """Runs a turn, and returns its invocation and its events."""
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = [each async for each in runner.run_async(user_id="user", session_id="s", new_message=message)]
    return events[0].invocation_id, events


async def converse(sessions, artifacts):
    """Turns whose tool saves artifacts, and rewinds. What is there after each."""
    app, _ = make_app()
    runner = Runner(app=app, session_service=sessions, artifact_service=artifacts)
    await sessions.create_session(**SCOPE)
    seen, turns = [], []

    async def look():
        names = await artifacts.list_artifact_keys(**SCOPE)
        loaded = [(name, await artifacts.load_artifact(filename=name, **SCOPE)) for name in names]
        stored = await sessions.get_session(**SCOPE)
        deltas = [each.actions.artifact_delta for each in stored.events if each.actions.artifact_delta]
        seen.append((sorted((name, found and found.text) for name, found in loaded), deltas))

    for text in ("draw plan one", "draw user:plan mine", "draw plan two", "draw more three", "hello"):
        turns.append((await say(runner, text))[0])
        await look()
    for turn in (2, 0):
        await runner.rewind_async(user_id="user", session_id="s", rewind_before_invocation_id=turns[turn])
        await look()
    await say(runner, "draw plan four")
    await look()
    await runner.close()
    return seen


@pytest.mark.parametrize("name", ["seslite", "server"])
def test_a_runner_s_tool_saves_artifacts_and_a_rewind_restores_them(name, tmp_path):
    async def ours():
        address = postgres.fresh() if name == "server" else str(tmp_path / "a.db")
        async with SesliteSessionService(address) as sessions:
            seen = await converse(sessions, SesliteArtifactService(sessions.store))
            assert sessions.store.check() == []
            return seen

    seen = asyncio.run(ours())
    assert seen == asyncio.run(converse(InMemorySessionService(), InMemoryArtifactService()))
    assert seen[4][0] == [("more", "three"), ("plan", "two"), ("user:plan", "mine")]
    assert seen[5][0] == [("more", None), ("plan", "one"), ("user:plan", "mine")]
    assert seen[6][0] == [("more", None), ("plan", None), ("user:plan", "mine")]
    assert seen[7][0][1] == ("plan", "four")
    assert seen[4][1] == [{"plan": 0}, {"user:plan": 0}, {"plan": 1}, {"more": 0}]


def test_ten_runners_save_at_once(tmp_path):
    async def within():
        async with SesliteSessionService(str(tmp_path / "a.db")) as sessions:
            service = SesliteArtifactService(sessions.store)

            async def work(number):
                app, _ = make_app()
                runner = Runner(app=app, session_service=sessions, artifact_service=service)
                scope = {"app_name": "app", "user_id": "user", "session_id": f"s{number}"}
                await sessions.create_session(**scope)
                for text in (f"draw own {number}", f"draw user:shared {number}"):
                    message = types.Content(role="user", parts=[types.Part(text=text)])
                    async for _ in runner.run_async(
                        user_id="user", session_id=scope["session_id"], new_message=message
                    ):
                        pass
                await runner.close()
                events = (await sessions.get_session(**scope)).events
                named = [each.actions.artifact_delta for each in events if each.actions.artifact_delta]
                for filename, version in {**named[0], **named[1]}.items():
                    loaded = await service.load_artifact(filename=filename, version=version, **scope)
                    assert loaded.text == str(number)
                return named[1]["user:shared"]

            assert sorted(await asyncio.gather(*map(work, range(10)))) == list(range(10))
            assert sessions.store.check() == []

    asyncio.run(within())


def test_a_rewind_without_an_artifact_service_restores_the_artifacts_of_the_store(tmp_path):
    async def within():
        async with SesliteSessionService(str(tmp_path / "a.db")) as sessions:
            session, key = await sessions.create_session(**SCOPE), seslite.Key("app", "user", "s")
            for number, text in enumerate(("one", "two")):
                made = seslite.NewArtifact("plan", text)
                sessions.store.append(
                    key, event(invocation=f"i{number}").model_dump_json(by_alias=True), artifacts=[made]
                )
            session = await sessions.get_session(**SCOPE)
            rewind = event(invocation="r")
            rewind.actions.rewind_before_invocation_id = "i1"
            await sessions.append_event(session, rewind)
            assert rewind.actions.artifact_delta == {"plan": 2}
            loaded = await SesliteArtifactService(sessions.store).load_artifact(filename="plan", **SCOPE)
            assert loaded.text == "one"

    asyncio.run(within())
