"""Artifacts: files of a session or of a user, alone and with an event."""

import asyncio
import base64
import copy
import hashlib
import io
import json
import os
import pickle
import shutil
import sqlite3
import threading

import postgres
import pytest
from common import KEY, event

import seslite
from seslite import Artifacts, NewArtifact, Point
from seslite.aio import AsyncStore

USER = ("app", "user")
PNG = b"\x89PNG\0\xff"
BIG = bytes(range(256)) * 20_000  # 5 MB, which are written before the transaction


@pytest.fixture(params=["file", "server"])
def store(request, tmp_path):
    path = postgres.fresh() if request.param == "server" else tmp_path / "store.db"
    with seslite.Store(path) as opened:
        yield opened


@pytest.fixture(params=["session", "key"])
def calls(request, store, session):
    """The calls of either form, by name."""
    if request.param == "session":
        return lambda name: getattr(session, name)
    return lambda name: lambda *arguments, **named: getattr(store, name)(KEY, *arguments, **named)


def test_an_artifact_is_saved_and_read(calls, store):
    save, read, info = calls("artifact_save"), calls("artifact_read"), calls("artifact_info")
    metadata = b'{ "a": 1.10 }'
    assert (
        save("chart", PNG, mime_type="image/png", display_name="Größe.png", metadata=metadata, created_us=5)
        == 0
    )
    assert (
        save("chart", "Sunny. ☀") == 1
        and save("chart", bytearray(PNG)) == 2
        and save("chart", memoryview(PNG)[1:3]) == 3
    )
    assert [read("chart", version=number) for number in range(4)] == [PNG, "Sunny. ☀".encode(), PNG, b"PN"]
    assert read("chart") == b"PN" and save("empty", b"") == 0 and read("empty") == b""
    first = info("chart", version=0)
    assert first[:8] == ("chart", 0, 5, 6, "bytes", "image/png", "Größe.png", metadata)
    assert first.hash == hashlib.sha256(PNG).hexdigest()
    assert first.uri == "artifact://apps/app/users/user/sessions/s/artifacts/chart/versions/0"
    second = info("chart", version=1)
    assert (second.kind, second.mime_type, second.display_name, second.metadata) == ("text", None, None, None)
    assert second.created_us > 1e15
    assert [each.version for each in calls("artifact_versions")("chart")] == [0, 1, 2, 3]
    assert [(each.name, each.version) for each in calls("artifacts")()] == [("chart", 3), ("empty", 0)]
    assert calls("artifact_delete")("chart").total == 4 and calls("artifact_delete")("chart").total == 0
    for call in (read, info, calls("artifact_open")):
        with pytest.raises(seslite.NotFoundError):
            call("chart")
    with pytest.raises(seslite.NotFoundError):
        read("empty", version=1)
    if store.info().engine == "sqlite":
        assert calls("artifact_delete")("empty", secure=True).total == 1
    assert store.check() == []


def test_artifacts_of_a_user_are_seen_by_all_sessions(store, session):
    assert store.artifact_save(USER, "photo", PNG) == 0 == session.artifact_save("own", b"")
    assert session.artifact_save("user:photo", b"2") == 1
    assert [each.name for each in session.artifacts()] == ["own", "user:photo"]
    assert [each.name for each in store.artifacts(USER)] == ["user:photo"]
    assert (
        store.artifact_read(USER, "photo", version=0) == session.artifact_read("user:photo", version=0) == PNG
    )
    with store.create(("app", "user", "s2")) as other:
        assert [each.uri for each in other.artifacts()] == [
            "artifact://apps/app/users/user/artifacts/user:photo/versions/1"
        ]
    assert store.artifact_delete(USER, "user:photo").total == 2 and not list(store.artifacts(USER))


def test_a_session_may_come_after_its_artifacts(store):
    with pytest.raises(seslite.NotFoundError) as missing:
        store.artifact_save(KEY, "a", b"1")
    assert missing.value.key == KEY
    assert store.artifact_save(KEY, "a", b"1", anyway=True) == 0
    assert [each.name for each in store.create(KEY).artifacts()] == ["a"]


def test_lists_go_on_after_a_page(store, session):
    for number in range(230):
        session.artifact_save(f"n{number:03}", b"")
        session.artifact_save("many", b"")
    assert [each.name for each in store.artifacts(KEY)] == [
        "many",
        *(f"n{number:03}" for number in range(230)),
    ]
    assert [each.version for each in session.artifact_versions("many")] == list(range(230))


def test_bytes_come_from_files_and_pieces(calls, tmp_path):
    save, read = calls("artifact_save"), calls("artifact_read")
    (tmp_path / "in").write_bytes(BIG)
    with open(tmp_path / "in", "rb") as file:
        assert save("big", file, size=len(BIG)) == 0
    with open(tmp_path / "in", "rb", buffering=0) as file:
        assert save("big", file) == 1
    assert save("big", (BIG[at : at + 100_001] for at in range(0, len(BIG), 100_001))) == 2
    assert save("big", [b"a", b"", memoryview(b"bc"), bytearray(b"d")]) == 3 and save("big", iter([])) == 4
    assert [len(read("big", version=number)) for number in range(5)] == [len(BIG)] * 3 + [4, 0]
    assert read("big", version=2) == BIG and read("big", version=3) == b"abcd"
    with calls("artifact_open")("big", version=1) as artifact, open(tmp_path / "out", "wb") as file:
        shutil.copyfileobj(artifact, file, 1 << 20)
    assert (tmp_path / "out").read_bytes() == BIG


def test_an_open_artifact_is_a_file(session):
    data = bytes(range(250)) * 1000
    session.artifact_save("a", data)
    with session.artifact_open("a") as artifact:
        assert (
            artifact.readable()
            and artifact.seekable()
            and not artifact.writable()
            and artifact.info.size == 250_000
        )
        assert artifact.read(3) == data[:3] and artifact.tell() == 3 and artifact.seek(10, os.SEEK_CUR) == 13
        assert artifact.read(2) == data[13:15] and artifact.seek(-5, os.SEEK_END) == 249_995
        assert (
            artifact.read() == data[-5:]
            and artifact.read(1) == b"" == artifact.read()
            and artifact.read(0) == b""
        )
        assert artifact.seek(300_000) == 300_000 and artifact.read(9) == b"" == artifact.readall()
        part = memoryview(bytearray(8))
        artifact.seek(100)
        assert artifact.readinto(part[2:6]) == 4 and bytes(part) == b"\0\0" + data[100:104] + b"\0\0"
        for offset, whence in ((-1, 0), (-1000_000, 1), (-250_001, 2), (0, 7)):
            with pytest.raises(seslite.InvalidError):
                artifact.seek(offset, whence)
        for refused in (copy.copy, pickle.dumps):
            with pytest.raises(TypeError):
                refused(artifact)
        artifact.seek(0)
        with io.BufferedReader(artifact) as buffered:
            assert buffered.peek(1)[:1] == b"\0" and buffered.read() == data
        assert artifact.closed and "closed" in repr(artifact)
    artifact.close()
    with pytest.raises((ValueError, seslite.MisuseError)):
        artifact.read(1)


def test_an_artifact_stays_open_while_its_session_and_store_close(store):
    with store.create(KEY) as session:
        session.artifact_save("a", BIG)
        artifact = session.artifact_open("a")
    assert artifact.read(5) == BIG[:5]
    store.artifact_delete(KEY, "a")
    with pytest.raises(seslite.NotFoundError):
        artifact.read(5)
    store.close()
    with pytest.raises(seslite.MisuseError):
        artifact.read(5)
    artifact.close()


def test_references_are_followed(session):
    session.artifact_save("a", "text")
    uri = session.artifact_info("a").uri
    for number in range(6):
        session.artifact_save(f"r{number}", uri, kind="uri")
        uri = session.artifact_info(f"r{number}", stored=True).uri
    assert session.artifact_read("r4") == b"text" and session.artifact_info("r0").name == "a"
    assert session.artifact_info("r0", stored=True).kind == "uri"
    assert session.artifact_read("r0", stored=True).startswith(b"artifact://")
    with pytest.raises(seslite.InvalidError):
        session.artifact_read("r5")
    for other in ("artifact://apps/app/users/other/artifacts/user:a/versions/0", "artifact://x"):
        with pytest.raises(seslite.InvalidError):
            session.artifact_save("r", other, kind="uri")
    session.artifact_save("t", b"", mime_type="application/octet-stream")
    with pytest.raises(seslite.NotFoundError):
        session.artifact_read("t")
    assert session.artifact_read("t", stored=True) == b""


class Failing(io.RawIOBase):
    """A file that fails after a while, or does worse."""

    def __init__(self, end):
        self.left, self.end = 5, end

    def read(self, size):
        self.left -= 1
        return b"x" * min(size, 1 << 20) if self.left > 0 else self.end(size)


def fail(size):
    raise ZeroDivisionError


def test_bad_input_saves_nothing(store, session):
    for wrong, kind in (
        ({"data": b"12", "size": 3}, seslite.InvalidError),
        ({"data": [b"12"], "size": 3}, seslite.InvalidError),
        ({"data": [b"1234"], "size": 3}, seslite.InvalidError),
        ({"data": [b"1234"], "size": -1}, (seslite.InvalidError, OverflowError)),
        ({"data": b"1234", "max_bytes": 3}, seslite.LimitError),
        ({"data": [b"1234"], "max_bytes": 3}, seslite.LimitError),
        ({"data": b"1", "max_bytes": -1}, seslite.InvalidError),
        ({"data": b"1", "max_bytes": "x"}, seslite.InvalidError),
        ({"data": b"1", "kind": "file"}, seslite.InvalidError),
        ({"data": b"\xff", "kind": "text"}, seslite.InvalidError),
        ({"data": "\ud800"}, seslite.InvalidError),
        ({"data": b"1", "mime_type": "a\0"}, seslite.InvalidError),
        ({"data": b"1", "mime_type": "a" * 513}, seslite.InvalidError),
        ({"data": b"1", "metadata": b"{"}, seslite.JsonError),
        ({"data": b"1", "metadata": [1]}, (seslite.InvalidError, seslite.JsonError)),
        ({"data": b"1", "metadata": {"a": float("nan")}}, seslite.InvalidError),
        ({"data": b"1", "created_us": 2**63}, seslite.InvalidError),
        ({"data": b"1", "color": "red"}, TypeError),
        ({"data": None}, TypeError),
        ({"data": 5}, TypeError),
        ({"data": ["text"]}, TypeError),
        ({"data": [1, 2]}, TypeError),
        ({"data": io.StringIO("text")}, TypeError),
        ({"data": Failing(fail)}, ZeroDivisionError),
        ({"data": Failing(lambda size: b"x" * (size + 1))}, seslite.MisuseError),
        ({"data": Failing(lambda size: None)}, TypeError),
    ):
        with pytest.raises(kind):
            session.artifact_save("a", **wrong)
        with pytest.raises(kind):
            session.append(event(), artifacts=[NewArtifact("a", **wrong)])
    for name in ("", "a\0", "\ud800", "n" * 513, None, b"a"):
        for call in (
            session.artifact_read,
            session.artifact_delete,
            lambda name: session.artifact_save(name, b""),
        ):
            with pytest.raises(seslite.InvalidError):
                call(name)
    with pytest.raises(seslite.InvalidError):
        session.artifact_read("a", version=-1)
    assert not list(session.artifacts()) and session.stored == 0 and store.check() == []


def test_artifacts_are_saved_with_their_event(store, session):
    charts = [NewArtifact("chart", PNG, mime_type="image/png"), NewArtifact("user:report", "Sunny.")]
    assert session.append(event(id="e1", invocation="i0"), artifacts=charts).seq == 1
    assert session.events[0].load()["actions"]["artifactDelta"] == {"chart": 0, "user:report": 0}
    assert session.append(event(id="e1", invocation="i0"), artifacts=charts).duplicate
    assert store.append(KEY, event(), artifacts=[NewArtifact("big", io.BytesIO(BIG))], title="T").seq == 2
    session.refresh()
    assert (
        session.title == "T"
        and session.artifact_read("big") == BIG
        and session.artifact_info("chart").mime_type == "image/png"
    )
    with session.track() as view:
        view["k"] = 2
        view.append(event(), artifacts=[NewArtifact("chart", b"2")])
        view.append_output(event(), "agent", None, artifacts=[NewArtifact("chart", b"3")])
    for source in (session, (store, KEY)):
        seslite.Builder(store, "agent").text("Hi").append(source, artifacts=[NewArtifact("chart", b"4")])
    assert [each.version for each in session.artifact_versions("chart")] == [0, 1, 2, 3, 4]
    session.refresh()
    assert session.append(event(), artifacts=[]).seq == 7
    session.rewind(Point.seq(1))
    assert session.artifact_read("chart") == PNG and store.check() == []
    with pytest.raises(TypeError):
        session.append_batch([event()], artifacts=[])


def test_a_list_of_artifacts_is_given_again(store, session):
    source = io.BytesIO(BIG)
    with Artifacts(store, KEY) as artifacts:
        artifacts.add("big", source)
        artifacts.add("small", "text", mime_type="text/plain")
        assert session.append(event({"partial": 1}, partial=True), artifacts=artifacts).partial
        store.append(KEY, event())
        with pytest.raises(seslite.StaleError):
            session.append(event(id="e"), artifacts=artifacts)
        assert not list(session.artifacts())
        session.refresh()
        assert session.append(event(id="e"), artifacts=artifacts).seq == 2 and artifacts.versions == [0, 0]
        assert session.append(event(id="e"), artifacts=artifacts).duplicate
        assert session.append(event(id="f"), artifacts=artifacts).seq == 3 and artifacts.versions == [1, 1]
        store.create(("app", "user", "s2"))
        with pytest.raises(seslite.MisuseError):
            store.append(("app", "user", "s2"), event(), artifacts=artifacts)
        with pytest.raises(TypeError):
            pickle.dumps(artifacts)
    assert session.artifact_read("big", version=1) == BIG
    with pytest.raises(seslite.MisuseError):
        session.append(event(), artifacts=artifacts)
    with Artifacts(store, KEY) as unused:
        unused.add("big", b"1" + BIG)
    assert store.check() == []


def test_large_inline_data_is_offloaded(store, session):
    def parts(**names):
        small, large = base64.b64encode(b"12").decode(), base64.b64encode(PNG * 100).decode()
        return [{"inlineData": {"mimeType": "image/png", "data": data, **names}} for data in (small, large)]

    def message(id, **names):
        return {
            "author": "user",
            "id": id,
            "invocationId": "i1",
            "content": {"role": "user", "parts": parts(**names)},
        }

    session.append(message("e1", displayName="photo.png"), offload_bytes=100)
    with Artifacts(store, KEY) as artifacts:
        artifacts.add("own", b"1")
        session.append(message("e2"), artifacts=artifacts, offload_bytes=100)
        assert artifacts.versions == [0]
    first, second = (each.load() for each in session.events)
    assert first["content"]["parts"][0]["inlineData"]["data"] == "MTI="
    uri = session.artifact_info("photo.png").uri
    assert first["content"]["parts"][1] == {
        "fileData": {"fileUri": uri, "mimeType": "image/png", "displayName": "photo.png"}
    }
    assert second["actions"]["artifactDelta"] == {"own": 0, "artifact_i1_1": 0}
    assert session.artifact_read("photo.png") == PNG * 100 == session.artifact_read("artifact_i1_1")
    for source in (session, (store, KEY)):
        contents = [json.loads(each.content) for each in seslite.read_context(source, inline_bytes=2000)]
        assert [each["parts"] for each in contents] == [parts(displayName="photo.png"), parts()]
        for limit, found in ((1000, [False, True]), (0, [False, False])):  # the newest first
            contents = [json.loads(each.content) for each in seslite.read_context(source, inline_bytes=limit)]
            assert ["inlineData" in each["parts"][1] for each in contents] == found
    stored = session.events[0].json
    whole = json.loads(session.artifact_inline(stored))
    assert whole["content"]["parts"] == parts(displayName="photo.png")
    assert session.artifact_inline(stored, size=1) is None is store.artifact_inline(KEY, {"author": "user"})
    assert json.loads(store.artifact_inline(KEY, stored, size=2000)) == whole
    with pytest.raises(seslite.InvalidError):
        session.artifact_inline(stored, size=-1)
    with pytest.raises(seslite.JsonError):
        session.artifact_inline("{")
    with pytest.raises(seslite.InvalidError):
        session.append(event(), offload_bytes=-1)
    with pytest.raises(seslite.InvalidError):
        seslite.read_context(session, inline_bytes=-1)


def test_templates_read_artifacts_of_the_store(session):
    session.artifact_save("rules", "Be kind.")
    assert seslite.render(session, "{artifact.rules} {artifact.none?}") == "Be kind. "


def test_the_bytes_of_a_damaged_artifact_are_not_given(tmp_path):
    with seslite.Store(tmp_path / "a.db") as store:
        store.create(KEY).artifact_save("a", b"sunny" * 50_000)
    with sqlite3.connect(tmp_path / "a.db") as damaged:
        ((table,),) = damaged.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE '%chunk%' AND type = 'table'"
        ).fetchall()
        ((column,),) = damaged.execute(
            "SELECT name FROM pragma_table_info(?) WHERE type = 'BLOB' OR name IN ('bytes', 'data')", (table,)
        ).fetchall()
        damaged.execute(f"UPDATE {table} SET {column} = CAST(replace({column}, 'sunny', 'rainy') AS BLOB)")
    damaged.close()
    with seslite.Store(tmp_path / "a.db") as store, pytest.raises(seslite.CorruptError):
        store.artifact_read(KEY, "a")


def test_threads_save_at_once(store, session):
    def save(number):
        for at in range(10):
            store.artifact_save(KEY, "shared", f"{number} {at}".encode())

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    [each.start() for each in threads], [each.join() for each in threads]
    versions = list(session.artifact_versions("shared"))
    assert [each.version for each in versions] == list(range(80)) and len(
        {each.hash for each in versions}
    ) == 80


def test_an_artifact_belongs_to_one_thread_at_a_time(store, session):
    reading, release = threading.Event(), threading.Event()

    def pieces():
        reading.set()
        release.wait(60)
        yield b"1"

    with Artifacts(store, KEY) as artifacts:
        adding = threading.Thread(target=lambda: artifacts.add("a", pieces()))
        adding.start()
        assert reading.wait(60)
        try:
            with pytest.raises(seslite.MisuseError, match="another thread"):
                artifacts.add("b", b"")
            store.artifact_save(KEY, "c", b"")  # while it waits nobody else does
        finally:
            release.set()
            adding.join()
        session.append(event(), artifacts=artifacts)
    assert [each.name for each in session.artifacts()] == ["a", "c"]


def test_artifacts_are_awaited(tmp_path):
    async def case():
        async with await AsyncStore.open(tmp_path / "a.db") as store:
            await store.create(KEY)
            saves = [
                store.artifact_save(KEY, "a", f"{number}", mime_type="text/plain") for number in range(10)
            ]
            assert sorted(await asyncio.gather(*saves)) == list(range(10))
            assert (await store.artifact_info(KEY, "a", version=3)).mime_type == "text/plain"
            assert [each.version for each in await store.artifact_versions(KEY, "a")] == list(range(10))
            assert [each.name for each in await store.artifacts(KEY)] == ["a"]
            with await store.artifact_open(KEY, "a") as artifact:
                assert await store.read(artifact.read, 10) == await store.artifact_read(KEY, "a")
            await store.append(KEY, event(), artifacts=[NewArtifact("b", iter([b"1", b"2"]))])
            assert await store.artifact_read(KEY, "b") == b"12"
            assert await store.artifact_inline(KEY, event(), size=5) is None
            assert (await store.artifact_delete(KEY, "a")).total == 10
            with pytest.raises(seslite.NotFoundError):
                await store.artifact_open(KEY, "a")

    asyncio.run(case())
