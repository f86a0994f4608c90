"""The checkpointer of LangGraph."""

import asyncio
import gc
import operator
import pathlib
import subprocess
import sys
import threading
import uuid
from typing import Annotated, Any

import pytest

import seslite

pytest.importorskip("langgraph.graph", reason="langgraph is not installed")

from langgraph.checkpoint.base import create_checkpoint, empty_checkpoint  # noqa: E402
from langgraph.graph import END, START, StateGraph  # noqa: E402
from langgraph.types import Command, Send, interrupt  # noqa: E402
from typing_extensions import TypedDict  # noqa: E402

from seslite.langgraph import SesliteSaver  # noqa: E402

THREAD = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def saver(store):
    return SesliteSaver(store)


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    big: str


def node(name, **more):
    return lambda state: {"log": [name], **more}


def chain(saver, *names, nodes=None):
    """A graph of nodes that run one after the other."""
    builder = StateGraph(State)
    for name in names:
        builder.add_node(name, (nodes or {}).get(name, node(name)))
    for before, after in zip([START, *names], [*names, END]):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=saver)


def stored(store, kind):
    with store.events(("langgraph", "user", "t")) as cursor:
        return [event for event in cursor if event.id.startswith(kind + "|")]


# ------------------------------------------------------------------------------------------------ conformance


def test_it_conforms(tmp_path):
    conformance = pytest.importorskip(
        "langgraph.checkpoint.conformance", reason="langgraph-checkpoint-conformance is not installed"
    )
    base = {"put", "put_writes", "get_tuple", "list", "delete_thread"}

    @conformance.checkpointer_test(name="SesliteSaver")
    async def made():
        async with SesliteSaver(tmp_path / f"{uuid.uuid4()}.db", synchronous="normal") as saver:
            yield saver

    results = asyncio.run(conformance.validate(made)).results
    failed = {name: each.failures for name, each in results.items() if each.tests_failed or not each.passed}
    assert failed == {} and all(each.detected and each.tests_skipped == 0 for each in results.values())
    assert sum(each.tests_passed for name, each in results.items() if name in base) >= 58
    assert sum(each.tests_passed for name, each in results.items() if name not in base) >= 23


# ----------------------------------------------------------------------------------------------------- graphs


def test_a_thread_goes_on(tmp_path):
    with SesliteSaver(tmp_path / "a.db") as saver:
        assert chain(saver, "a", "b").invoke({"log": ["in"]}, THREAD)["log"] == ["in", "a", "b"]
    with SesliteSaver(tmp_path / "a.db") as saver:
        graph = chain(saver, "a", "b")
        assert graph.get_state(THREAD).values["log"] == ["in", "a", "b"]
        assert graph.invoke({"log": ["again"]}, THREAD)["log"] == ["in", "a", "b", "again", "a", "b"]
        assert [state.metadata["step"] for state in graph.get_state_history(THREAD)] == [
            6,
            5,
            4,
            3,
            2,
            1,
            0,
            -1,
        ]
        assert [state.metadata["step"] for state in graph.get_state_history(THREAD, limit=2)] == [6, 5]


def test_an_interrupt_is_resumed(saver):
    graph = chain(saver, "ask", "end", nodes={"ask": lambda state: {"log": [interrupt("name?")]}})
    first = graph.invoke({"log": []}, THREAD)
    assert first["__interrupt__"][0].value == "name?" and graph.get_state(THREAD).next == ("ask",)
    again = chain(
        SesliteSaver(saver.store), "ask", "end", nodes={"ask": lambda state: {"log": [interrupt("name?")]}}
    )
    assert again.invoke(Command(resume="Anna"), THREAD)["log"] == ["Anna", "end"]


def test_time_travel(saver):
    graph = chain(saver, "a", "b", "c")
    graph.invoke({"log": [], "big": "x" * 5000}, THREAD)
    before_c = next(state for state in graph.get_state_history(THREAD) if state.next == ("c",))
    other = graph.update_state(before_c.config, {"log": ["changed"]})
    assert graph.invoke(None, other)["log"] == ["a", "b", "changed", "c"]
    assert graph.get_state(before_c.config).values["log"] == ["a", "b"]
    assert graph.get_state(THREAD).values["log"] == ["a", "b", "changed", "c"]
    ids = [state.config["configurable"]["checkpoint_id"] for state in graph.get_state_history(THREAD)]
    assert ids == sorted(ids, reverse=True) and len(ids) == 7


def test_subgraphs_have_namespaces(saver):
    inner = StateGraph(State)
    inner.add_node("in", lambda state: {"log": [interrupt("inner?")]})
    inner.add_edge(START, "in")
    graph = chain(saver, "before", "sub", nodes={"sub": inner.compile()})
    graph.invoke({"log": []}, THREAD)
    state = graph.get_state(THREAD, subgraphs=True)
    assert state.tasks[0].state.values["log"] == ["before"]
    namespaces = {found.config["configurable"]["checkpoint_ns"] for found in saver.list(THREAD)}
    assert len(namespaces) == 2 and "" in namespaces
    assert graph.invoke(Command(resume="yes"), THREAD)["log"][-1] == "yes"


def test_parallel_writes_are_all_kept(saver, monkeypatch):
    def put_writes(config, writes, *task):
        put(config, writes, *task)
        written.update(int(value[0]) for channel, value in writes if channel == "log" and value[0].isdigit())

    def part(number):
        if number == 7 and not failed:
            failed.append(number)
            raise RuntimeError("once")
        ran.append(number)
        return {"log": [str(number)]}

    # LangGraph drops what a task returns while the graph is ending, so what the saver was given counts.
    put, written = saver.put_writes, set()
    monkeypatch.setattr(saver, "put_writes", put_writes)
    failed, ran = [], []
    builder = StateGraph(State)
    builder.add_node("start", node("start"))
    builder.add_node("part", part)
    builder.add_edge(START, "start")
    builder.add_conditional_edges(
        "start", lambda state: [Send("part", number) for number in range(20)], ["part"]
    )
    graph = builder.compile(checkpointer=saver)
    with pytest.raises(RuntimeError, match="once"):
        graph.invoke({"log": []}, THREAD)
    before, own = set(ran), set(written)
    ran.clear()
    assert graph.invoke(None, THREAD)["log"] == ["start", *map(str, range(20))]
    assert (
        own and own <= before and 7 in ran and not own & set(ran)
    )  # those that had written did not run again


def test_writes_that_come_before_their_checkpoint(saver):
    def put(id, parent=None):
        made = {**empty_checkpoint(), "id": id}
        configured = (
            config
            if parent is None
            else {"configurable": {**config["configurable"], "checkpoint_id": parent}}
        )
        return saver.put(configured, made, {"source": "loop", "step": 0, "parents": {}}, {})

    def writes(made):
        return sorted((task, value) for task, _, value in made.pending_writes)

    # LangGraph stores a checkpoint and the writes to it in the background, in any order.
    config = {"configurable": {"thread_id": "early", "checkpoint_ns": ""}}
    early = {"configurable": {"thread_id": "early", "checkpoint_ns": "", "checkpoint_id": "2"}}
    put("1")
    for number in range(20):
        saver.put_writes(early, [("log", number)], f"task{number:02}")
    put("2", "1")
    saver.put_writes(early, [("log", 20)], "task20")
    expected = [(f"task{number:02}", number) for number in range(21)]
    assert writes(saver.get_tuple(config)) == expected
    assert [(made.checkpoint["id"], writes(made)) for made in saver.list(config)] == [
        ("2", expected),
        ("1", []),
    ]
    saver.prune(["early"])
    assert [(made.checkpoint["id"], writes(made)) for made in saver.list(config)] == [("2", expected)]
    assert writes(saver.get_tuple(config)) == expected


CRASH = """
import os, sys
sys.path.insert(0, sys.argv[2])
from test_langgraph import THREAD, SesliteSaver, chain

class Crashing(SesliteSaver):
    def put_writes(self, config, writes, task_id, task_path=""):
        if any(value == ["a"] for _, value in writes):
            os._exit(9)
        super().put_writes(config, writes, task_id, task_path)

chain(Crashing(sys.argv[1]), "a", "b").invoke({"log": ["in"]}, THREAD, durability="sync")
"""


def test_a_crash_between_put_and_put_writes_runs_the_step_again(tmp_path):
    path = tmp_path / "a.db"
    ran = subprocess.run(
        [sys.executable, "-c", CRASH, path, pathlib.Path(__file__).parent], capture_output=True, text=True
    )
    assert ran.returncode == 9, ran.stderr
    with SesliteSaver(path) as saver:
        graph = chain(saver, "a", "b")
        assert graph.get_state(THREAD).next == ("a",) and graph.get_state(THREAD).values["log"] == ["in"]
        assert graph.invoke(None, THREAD)["log"] == ["in", "a", "b"]


def test_graphs_run_with_asyncio(tmp_path):
    async def case():
        async with SesliteSaver(tmp_path / "a.db", synchronous="normal") as saver:
            graph = chain(saver, "a", "b")
            threads = [{"configurable": {"thread_id": str(n)}} for n in range(10)]
            results = await asyncio.gather(
                *(graph.ainvoke({"log": [str(n)]}, thread) for n, thread in enumerate(threads))
            )
            assert [each["log"] for each in results] == [[str(n), "a", "b"] for n in range(10)]
            assert len([each async for each in saver.alist(threads[0], limit=2)]) == 2
            assert len([each async for each in saver.alist(None)]) == 40
            await saver.acopy_thread("0", "copy")
            await saver.adelete_thread("0")
            assert await saver.aget_tuple(threads[0]) is None
            copied = {"configurable": {"thread_id": "copy"}}
            assert (await graph.aget_state(copied)).values["log"] == ["0", "a", "b"]
            with pytest.raises(seslite.ExistsError):
                await saver.acopy_thread("1", "copy")
            await saver.aprune(["copy"])
            assert len([each async for each in saver.alist(copied)]) == 1
            assert (await graph.ainvoke({"log": ["more"]}, copied))["log"] == [
                "0",
                "a",
                "b",
                "more",
                "a",
                "b",
            ]

    asyncio.run(case())


# --------------------------------------------------------------------------------------------- what is stored


def test_a_value_that_has_not_changed_is_stored_once(saver, store):
    graph = chain(saver, "a", "b", "c")
    graph.invoke({"log": [], "big": "x" * 100_000}, THREAD)
    graph.invoke({"log": ["more"]}, THREAD)
    large = [event for event in stored(store, "b") if len(event.json) > 100_000]
    assert (
        len(large) == 2 and len(stored(store, "c")) == 10
    )  # the channel's, and that of the input, which has a channel too
    assert graph.get_state(THREAD).values["big"] == "x" * 100_000
    assert all(len(state.values.get("big", "")) in (0, 100_000) for state in graph.get_state_history(THREAD))


def test_the_cost_of_a_step_does_not_grow(tmp_path):
    """By the bytes that are read and written, with the calls that there are."""
    traced: list[Any] = []
    with seslite.Store(tmp_path / "a.db", synchronous="normal", trace=traced.append) as store:
        saver, config = SesliteSaver(store), THREAD

        def step(number):
            nonlocal config
            checkpoint = create_checkpoint(
                {**empty_checkpoint(), "channel_versions": {"n": number + 1}}, None, number
            )
            checkpoint["channel_values"] = {"n": number}
            named = {"configurable": {"checkpoint_ns": "", **config["configurable"]}}
            config = saver.put(named, checkpoint, {"step": number}, {"n": number + 1})
            saver.put_writes(config, [("n", number)], f"task {number}")

        def cost(number):
            traced.clear()
            step(number)
            assert saver.get_tuple(THREAD).checkpoint["channel_values"] == {"n": number}
            assert SesliteSaver(store).get_tuple(config).metadata["step"] == number
            assert len(list(saver.list(THREAD, limit=3))) == min(number + 1, 3)
            return len(traced), sum(each.bytes_in + each.bytes_out for each in traced)

        costs = []
        for number in range(1001):
            costs.append(cost(number)) if number in (100, 1000) else step(number)
    (calls, bytes_of_few), (same_calls, bytes_of_many) = costs
    assert calls == same_calls and bytes_of_many < bytes_of_few * 1.1


def test_a_namespace_may_be_long(saver):
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": "|".join(f"node:{n}" for n in range(200))}}
    checkpoint = empty_checkpoint()
    saved = saver.put(config, checkpoint, {"step": 1}, {})
    saver.put_writes(saved, [("a", 1)], "task")
    assert (
        saver.get_tuple(config).pending_writes == [("task", "a", 1)] == saver.get_tuple(saved).pending_writes
    )
    assert [found.config for found in saver.list(config)] == [saved]


def test_an_older_checkpoint_that_comes_later_keeps_its_place(saver):
    made = [empty_checkpoint() for _ in range(4)]
    for at in (1, 3, 0, 2):
        saver.put({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, made[at], {"step": at}, {})
    assert saver.get_tuple(THREAD).checkpoint["id"] == made[3]["id"]
    assert [found.metadata["step"] for found in saver.list(THREAD)] == [3, 2, 1, 0]
    saver.put(
        {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, made[1], {"step": 9}, {}
    )  # another of the same id
    assert [found.metadata["step"] for found in saver.list(THREAD, filter={"step": 9})] == [9]
    assert [found.metadata["step"] for found in saver.list(THREAD)] == [3, 2, 9, 0]


def test_what_is_pruned_is_gone_and_others_go_on(saver, store):
    graph, other = chain(saver, "a", "b"), SesliteSaver(store)
    for number in range(5):
        graph.invoke({"log": [f"secret {number}"], "big": str(number) * 1000}, THREAD)
    latest = other.get_tuple(THREAD)
    saver.prune(["t", "none"])
    assert [found.checkpoint for found in other.list(THREAD)] == [latest.checkpoint]
    assert store.event_count(("langgraph", "user", "t")).stored < 6
    other.put_writes(latest.config, [("log", ["late"])], "task")  # with what it remembers from before
    assert (
        saver.get_tuple(THREAD).pending_writes
        == other.get_tuple(THREAD).pending_writes
        == [("task", "log", ["late"])]
    )
    assert chain(other, "a", "b").invoke({"log": ["on"]}, THREAD)["log"][-3:] == ["on", "a", "b"]
    with pytest.raises(ValueError, match="keep_latest"):
        saver.prune(["t"], strategy="all")
    assert store.check() == []


def test_threads_write_to_one_checkpoint(saver, store):
    saved = saver.put({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})

    def write(number):
        own = SesliteSaver(store) if number % 2 else saver
        for at in range(10):
            own.put_writes(saved, [("a", at), ("b", number)], f"task {number:02} {at}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pending = SesliteSaver(store).get_tuple(saved).pending_writes
    assert pending == [
        (f"task {n:02} {at}", *pair) for n in range(6) for at in range(10) for pair in (("a", at), ("b", n))
    ]


def test_a_clone_keeps_the_store_open(tmp_path):
    saver = SesliteSaver(tmp_path / "a.db")
    clone, store = saver.with_allowlist([("seslite", "Key")]), saver.store
    del saver
    gc.collect()
    assert not store.closed and chain(clone, "a").invoke({"log": []}, THREAD)["log"] == ["a"]
    del clone
    gc.collect()
    assert store.closed
