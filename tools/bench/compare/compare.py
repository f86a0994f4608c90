"""Compares seslite with the stores that it replaces, in one run, and prints a table in Markdown (README.md).

    python compare.py --c build/tools/bench/compare/worker --rust build/rust/release/examples/compare --python build/python/venv/bin/python

A worker whose program or packages are not there is left out. What is timed is asked of one store after another, in random
order; each time is the median.
"""

import argparse
import concurrent.futures
import datetime
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
LONG = 1000  # events of the session that is read
SESSIONS = 100  # that are listed
BATCH = 5  # appends that are timed at once
KINDS = {
    "append": f"append grows {BATCH}",
    "get 20": "get long 20",
    f"get {LONG:,}": "get long 0",
    f"list {SESSIONS}": "list",
}
LISTS = f"list {SESSIONS}"


class Store:
    def __init__(self, title, command, lists=True):
        self.title, self.command, self.lists = title, command, lists
        self.taken = {kind: [] for kind in KINDS}

    def start(self, folder):
        self.path = folder / "store.db"
        return Worker([*self.command, str(self.path)])


class Worker:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
        )

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args}: ended with {self.process.wait()}")
        return line

    def ask(self, line):
        self.tell(line)
        return [float(word) for word in self.hear().split()]

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise RuntimeError(f"{self.process.args}: ended with {self.process.returncode}")


def runs(command):
    """Whether a worker starts: its program is there, and so are its packages."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            worker = Worker([*command, str(pathlib.Path(folder) / "store.db")])
            worker.ask("create probe")
            worker.end()
        except (OSError, RuntimeError):
            return False
    return True


def fill(store, folder):
    """Makes the long session, in a file of its own until its bytes are counted; then the others. Gives the bytes of an event."""
    worker = store.start(folder)
    worker.ask("create long")
    worker.ask(f"append long {LONG}")
    worker.end()
    size = sum(path.stat().st_size for path in folder.iterdir())
    worker = store.start(folder)
    worker.ask("create grows")
    for number in range(SESSIONS - 2):
        worker.ask(f"create s{number}")
        worker.ask(f"append s{number} 1")
    worker.end()
    return size / LONG


def time_calls(stores, folders, rounds):
    workers = {store: store.start(folders[store]) for store in stores}
    jobs = [(store, kind) for store in stores for kind in KINDS if store.lists or kind != LISTS] * rounds
    random.Random(1).shuffle(jobs)
    for store in stores:  # warms up
        workers[store].ask(f"append grows {BATCH}")
        workers[store].ask("get long 0")
    for store, kind in jobs:
        seconds, count = workers[store].ask(KINDS[kind])
        expected = {"append": BATCH, "get 20": 20, LISTS: SESSIONS}.get(kind, LONG)
        if count != expected:
            raise RuntimeError(f"{store.title}: {kind} gave {count:g}, not {expected}")
        store.taken[kind].append(seconds / (BATCH if kind == "append" else 1))
    for worker in workers.values():
        worker.end()


def write_together(store, folder, count, seconds):
    """Appends a second of several processes in one file, each to a session of its own, and how many failed."""
    workers = [store.start(folder) for _ in range(count)]
    for number, worker in enumerate(workers):
        worker.ask(f"create w{number}")
        worker.ask(f"append w{number} 1")
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        answers = threads.map(lambda pair: pair[1].ask(f"write w{pair[0]} {seconds}"), enumerate(workers))
        stored, failed = (sum(column) for column in zip(*answers))
    for worker in workers:
        worker.end()
    return stored / seconds, int(failed)


def kill(store, folder, kills):
    """Acknowledged appends that are gone after their process was killed, and how many there were."""
    chance = random.Random(2)
    told = {}
    for number in range(kills):
        session = f"k{number}"
        worker = store.start(folder)
        worker.ask(f"create {session}")
        worker.tell(f"acknowledge {session}")
        worker.hear()
        time.sleep(chance.uniform(0.05, 0.5))
        worker.process.kill()
        told[session] = 1 + worker.process.stdout.read().count("ack\n")
        worker.process.wait()
        worker.process.stdin.close()
    worker = store.start(folder)
    kept = {session: worker.ask(f"get {session} 0")[1] for session in told}
    worker.end()
    return int(sum(max(0, count - kept[session]) for session, count in told.items())), sum(told.values())


def row(cells):
    return "| " + " | ".join(cells) + " |"


def print_table(stores, found, options):
    def median(store, kind):
        return f"{statistics.median(store.taken[kind]) * 1000:.2f}" if store.taken[kind] else "—"

    load = os.getloadavg()[1]
    print(
        f"{datetime.date.today()}, {os.cpu_count()} processors, load {load:.0f}. Milliseconds, medians of {options.rounds} calls;"
        f" {options.writers} writers for {options.seconds:g} s; {options.kills} kills.\n"
    )
    print(row(["", *KINDS, f"{options.writers} writers, appends/s", "failed", "bytes an event", "acknowledged, lost"]))
    print(row(["---", *["---:"] * (len(KINDS) + 4)]))
    for store in stores:
        size, (rate, failed), (lost, told) = found[store]
        times = [median(store, kind) for kind in KINDS]
        print(row([store.title, *times, f"{rate:,.0f}", f"{failed:,}", f"{size:,.0f}", f"{told:,}, {lost}"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--c", default="build/tools/bench/compare/worker")
    parser.add_argument("--rust", default="build/rust/release/examples/compare")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--folder", type=pathlib.Path, help="where the stores are made, on the disk to compare on")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    python = [options.python, str(HERE / "worker.py")]
    stores = [
        Store("seslite, C", [options.c]),
        Store("seslite for google-adk", [*python, "seslite-adk"]),
        Store("google-adk SqliteSessionService", [*python, "adk-sqlite"]),
        Store("google-adk DatabaseSessionService", [*python, "adk-database"]),
        Store("seslite for adk-rust", [options.rust, "seslite"]),
        Store("adk-rust SqliteSessionService", [options.rust, "sqlite"]),
        Store("seslite for OpenAI Agents", [*python, "seslite-agents"], lists=False),
        Store("OpenAI Agents SQLiteSession", [*python, "agents-sqlite"], lists=False),
    ]
    missing = [store for store in stores if not runs(store.command)]
    for store in missing:
        print(f"not here: {store.title}", file=sys.stderr)
        stores.remove(store)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folders = {store: pathlib.Path(folder) / str(number) for number, store in enumerate(stores)}
        for path in folders.values():
            path.mkdir()
        sizes = {store: fill(store, folders[store]) for store in stores}
        time_calls(stores, folders, options.rounds)
        found = {}
        for store in stores:
            together = write_together(store, folders[store], options.writers, options.seconds)
            found[store] = sizes[store], together, kill(store, folders[store], options.kills)
        print_table(stores, found, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
