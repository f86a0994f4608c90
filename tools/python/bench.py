"""Times SesliteSessionService against the ADK's own services on SQLite, SesliteSession against those of the
OpenAI Agents SDK, and SesliteSaver against LangGraph's, interleaved, at equal durability: all of them wait
for the disk on each write (synchronous=FULL, which is SQLite's default and ours). A peer that is not
installed is left out.

    python bench.py [--folder FOLDER] [--rounds 20] [--seconds 10]

The last line says whether it is as fast as the README promises; the exit code is 2 if not.
"""

import argparse
import asyncio
import json
import multiprocessing
import pathlib
import random
import statistics
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).parent / "tests"
sys.path[:0] = [str(TESTS / "adk"), str(TESTS)]

BATCH = 10  # appends, and reads, of a service in a round
WANTED = {"append": {"sqlite": 4.0, "database": 6.0}, "read": {"sqlite": 1.8, "database": 1.8}}


def message(number):
    from services import event

    return event(
        {"n": number, "user:count": number},
        invocation=f"i{number // 4}",
        text="what a user may say in a turn " * 10,
    )


async def timed(service, session, number):
    """Seconds for a batch of appends, and for one of reads of 20 events."""
    from google.adk.sessions.base_session_service import GetSessionConfig

    events = [message(number * BATCH + each) for each in range(BATCH)]
    begun = time.perf_counter()
    for event in events:
        await service.append_event(session, event)
    appended = time.perf_counter()
    who = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
    for _ in range(BATCH):
        read = await service.get_session(**who, config=GetSessionConfig(num_recent_events=20))
        assert len(read.events) == min(20, (number + 3) * BATCH)
    return appended - begun, time.perf_counter() - appended


async def interleaved(names, folder, rounds):
    """The median milliseconds of an append and of a read, by service."""
    import contextlib

    import services

    taken = {name: ([], []) for name in names}
    async with contextlib.AsyncExitStack() as stack:
        opened = {name: await stack.enter_async_context(services.opened(name, folder)) for name in names}
        sessions = {
            name: await service.create_session(session_id="s", **services.WHO)
            for name, service in opened.items()
        }
        for number in range(-2, rounds):
            order = names if number % 2 else names[::-1]
            for name in order:
                append, read = await timed(opened[name], sessions[name], number)
                if number >= 0:  # the first two warm up
                    taken[name][0].append(append)
                    taken[name][1].append(read)
    return {name: [statistics.median(each) / BATCH * 1000 for each in kinds] for name, kinds in taken.items()}


def shuffled(kinds, opened, rounds):
    """What is timed, in any order, and where the seconds go."""
    jobs = [(kind, name) for kind in kinds for name in opened] * rounds
    random.Random(1).shuffle(jobs)
    return jobs, {job: [] for job in jobs}


def compared(kinds, opened, taken):
    """Prints a table; the first that is opened is ours."""
    print(f"{'':16}" + "".join(f"{kind:>20}" for kind in kinds))
    for name in opened:
        line = f"{name:16}"
        for kind in kinds:
            ours, own = (statistics.median(taken[kind, each]) for each in (next(iter(opened)), name))
            line += f"{own * 1e6:11.0f}us{own / ours:6.2f}x"
        print(line)


async def agents(folder, rounds):
    """Sessions of the OpenAI Agents SDK, of 1,200 messages."""
    from agents import SQLiteSession
    from agents.extensions.memory import AdvancedSQLiteSession

    from seslite.agents import SesliteSession

    def message(number):
        return {
            "role": "assistant" if number % 2 else "user",
            "content": f"{number}: " + "what a user may say in a turn " * 10,
        }

    opened = {
        "seslite": SesliteSession("s", folder / "a.db"),
        "SQLite": SQLiteSession("s", folder / "b.db"),
        "AdvancedSQLite": AdvancedSQLiteSession(session_id="s", db_path=folder / "c.db", create_tables=True),
    }
    kinds = {
        "add": lambda session: session.add_items([message(1)]),
        "get 20": lambda session: session.get_items(20),
        "get 1,000": lambda session: session.get_items(1000),
        "pop": lambda session: session.pop_item(),
    }
    for session in opened.values():
        await session.add_items([message(number) for number in range(1200)])
    jobs, taken = shuffled(kinds, opened, rounds)
    for kind, name in jobs:
        begun = time.perf_counter()
        await kinds[kind](opened[name])
        taken[kind, name].append(time.perf_counter() - begun)
    compared(kinds, opened, taken)


def langgraph(folder, rounds, steps):
    """Checkpoints of a thread that is so many steps long."""
    import sqlite3

    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    from seslite.langgraph import SesliteSaver

    opened = {
        "seslite": SesliteSaver(folder / f"{steps}.db"),
        "sqlite": SqliteSaver(sqlite3.connect(folder / f"{steps}.sqlite", check_same_thread=False)),
    }
    thread = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    newest, done = dict.fromkeys(opened, thread), dict.fromkeys(opened, 0)
    said = [{"role": "user", "content": "what a user may say in a turn " * 4}] * 10

    def step(name):
        number = done[name] = done[name] + 1
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": said, "document": "text " * 1000, "n": number}
        checkpoint["channel_versions"] = {"messages": number, "document": 1, "n": number}
        changed = {"messages": number, "n": number, **({"document": 1} if number == 1 else {})}
        newest[name] = opened[name].put(newest[name], checkpoint, {"source": "loop", "step": number}, changed)
        opened[name].put_writes(newest[name], [("messages", said[:1]), ("n", number)], f"task {number}")

    kinds = {
        "step": step,
        "get": lambda name: opened[name].get_tuple(thread),
        "list 5": lambda name: list(opened[name].list(thread, limit=5)),
    }
    for name in opened:
        for _ in range(steps):
            step(name)
    jobs, taken = shuffled(kinds, opened, rounds)
    for kind, name in jobs:
        begun = time.perf_counter()
        kinds[kind](name)
        taken[kind, name].append(time.perf_counter() - begun)
    compared(kinds, opened, taken)


def peers(folder, rounds, steps):
    for title, module, run in (
        ("OpenAI Agents SDK", "agents", lambda: asyncio.run(agents(folder, rounds * 10))),
        *((f"LangGraph, after {count:,} steps", "langgraph.checkpoint.sqlite", lambda count=count: langgraph(folder, rounds, count))
          for count in steps),
    ):  # fmt: skip
        try:
            __import__(module)
        except ImportError:
            print(f"\n{title}: not installed")
            continue
        print(f"\n{title}")
        run()


def write(name, folder, writer, seconds, results):
    """One of several processes that append to sessions of their own in one file."""
    import logging

    import services

    logging.disable(logging.CRITICAL)

    async def within():
        done = failed = 0
        async with services.opened(name, folder) as service:
            who = {"app_name": "app", "user_id": f"u{writer}"}
            session, end = None, time.monotonic() + seconds
            while time.monotonic() < end:
                try:
                    session = session or await service.create_session(**who)
                    await service.append_event(session, message(done))
                    done += 1
                except Exception as error:
                    failed += 1
                    session = (
                        await service.get_session(session_id=session.id, **who)
                        if "Stale" in type(error).__name__
                        else session
                    )
        results.put((done, failed))

    asyncio.run(within())


def writers(name, folder, count, seconds):
    """How many appends of several processes succeeded, and how many failed."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    processes = [
        context.Process(target=write, args=(name, folder, writer, seconds, results))
        for writer in range(count)
    ]
    for process in processes:
        process.start()
    found = [results.get() for _ in processes]
    for process in processes:
        process.join()
    return sum(done for done, _ in found), sum(failed for _, failed in found)


def main():
    import logging

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10, help="of the 8 writers; 0: without them")
    parser.add_argument(
        "--steps", type=int, nargs="*", default=[10, 1000, 10_000], help="of LangGraph's threads"
    )
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    names = ["seslite", "sqlite", "database"]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        figures = asyncio.run(interleaved(names, folder, options.rounds))
        ours, reached = figures["seslite"], True
        print(f"{'':10}{'append':>10}{'':>9}{'get 20':>10}")
        for name, (append, read) in figures.items():
            print(f"{name:10}{append:8.2f}ms{append / ours[0]:8.1f}x{read:8.2f}ms{read / ours[1]:8.1f}x")
            if name != "seslite":
                reached &= (
                    append / ours[0] >= WANTED["append"][name] and read / ours[1] >= WANTED["read"][name]
                )
        for name in names if options.seconds else ():
            (folder / name).mkdir()
            done, failed = writers(name, folder / name, 8, options.seconds)
            print(f"{name:10}{done:8} appends of 8 processes in {options.seconds:g} s, {failed} failed")
            reached &= failed == 0 or name != "seslite"
        peers(folder, options.rounds, options.steps)
    print(json.dumps({"reached": reached}))
    return 0 if reached else 2


if __name__ == "__main__":
    sys.exit(main())
