#!/usr/bin/env python3
"""Seeds faults in lib/ and reports those that the tests do not detect.

    python3 -m venv build/venv && build/venv/bin/pip install libclang
    build/venv/bin/python tools/mutants/mutants.py build                   # once, and after a change
    build/venv/bin/python tools/mutants/mutants.py run --sample 300 --seed 1
    build/venv/bin/python tools/mutants/mutants.py run --room session --file lib/storage/door.c
    build/venv/bin/python tools/mutants/mutants.py report

All mutants are compiled at once, into a copy of the tree below build/mutants: `a < b` becomes
`(MUTANT(7) ? (a <= b) : (a < b))`, and the environment of a run chooses one. `build` also runs each test once without a
mutant, to learn how long it takes and which mutants it comes by; tests that fail there or take more than --limit seconds
are left out. `run` tries a mutant on the tests that come by it, those first that have killed its neighbours, until one
fails, crashes or takes far longer than it should. Each result is appended to build/mutants/results.jsonl: what has been
killed is not tried again while its file is the same, a survivor is, with --again, once there is a new test. A survivor
that cannot change what the library does is no fault of the tests; every other one wants a test.
"""

import argparse
import bisect
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

OUT = pathlib.Path("build/mutants").absolute()
TREE = OUT / "tree"
RESULTS = OUT / "results.jsonl"
HERE = pathlib.Path(__file__).parent
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}


# ------------------------------------------------------------------------------------------- finding mutants


class File:
    """One file of lib/ and the places of it that can be changed."""

    def __init__(self, path, unit, first):
        from clang.cindex import CursorKind

        self.kinds = CursorKind
        self.path, self.first = str(path), first
        self.source = path.read_bytes()
        self.lines = [0] + [at + 1 for at, byte in enumerate(self.source) if byte == 10]
        self.sites, self.mutants = [], []
        own = [c for c in unit.cursor.get_children() if c.location.file and c.location.file.name == self.path]
        self.macros = [self.span(c) for c in own if c.kind == CursorKind.MACRO_INSTANTIATION]
        for function in own:
            if function.kind != CursorKind.FUNCTION_DECL or self.in_macro(self.span(function)):
                continue
            if function.is_definition():
                self.result = function.result_type.get_canonical().kind.name
                self.visit(list(function.get_children())[-1])

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def text(self, start, end):
        return self.source[start:end].decode()

    def in_macro(self, span, whole=False):
        """Whether a macro brought it: such text is not there to be changed. whole: it may be all of a macro's use."""
        return any(m[0] <= span[0] and span[1] <= m[1] and not (whole and m == span) for m in self.macros)

    def add(self, span, changes, form="(%s ? %s : %s)"):
        """Changes: (what it is called, the text in its place)."""
        start, end = span
        numbers = []
        for name, text in changes:
            line = bisect.bisect(self.lines, start)
            self.mutants.append({"file": self.path, "line": line, "column": start - self.lines[line - 1] + 1, "name": name})
            numbers.append((self.first + len(self.mutants) - 1, text))
        self.sites.append((start, end, numbers, form))

    def visit(self, cursor):
        kinds, kind = self.kinds, cursor.kind
        children = list(cursor.get_children())
        span = self.span(cursor)
        if kind in (kinds.CXX_UNARY_EXPR, kinds.ENUM_DECL, kinds.STRUCT_DECL):  # the first is sizeof
            return
        if kind == kinds.VAR_DECL:
            if cursor.storage_class.name == "STATIC":
                return
            equals = self.text(*span).find("=")
            children = [c for c in children if equals >= 0 and self.span(c)[0] > span[0] + equals]
        elif kind == kinds.CASE_STMT:
            children = children[1:]
        elif kind == kinds.INIT_LIST_EXPR:
            children = [c for c in children if self.text(*self.span(c)) != "0"]
        self.conditions(kind, children, span)
        self.statements(kind, children)
        if kind == kinds.RETURN_STMT and children:
            self.returned(children[0])
        elif kind == kinds.BINARY_OPERATOR:
            self.operator(children, span)
        elif kind == kinds.INTEGER_LITERAL and not self.in_macro(span):
            text = self.text(*span)
            less = [(f"{text} -> {text} - 1", f"({text} - 1)")] if text.rstrip("uUlL") != "0" else []
            self.add(span, [(f"{text} -> {text} + 1", f"({text} + 1)")] + less)
        for child in children:
            self.visit(child)

    def sign(self, cursor):
        """The operator between two operands, or nothing."""
        while cursor.kind in (self.kinds.UNEXPOSED_EXPR, self.kinds.PAREN_EXPR):
            cursor = next(cursor.get_children(), None)
            if cursor is None:
                return ""
        if cursor.kind != self.kinds.BINARY_OPERATOR:
            return ""
        left, right = (self.span(c) for c in cursor.get_children())
        return self.text(left[1], right[0]).strip()

    def negate(self, cursor, constant=None):
        span = self.span(cursor)
        text = self.text(*span)
        if self.in_macro(span, True) or not text or re.fullmatch(r"true|false|\d+", text):
            return
        changes = []
        if self.sign(cursor) not in ("==", "!="):  # these are turned round by themselves
            changes.append((f"{text} -> !({text})", f"!({text})"))
        if constant is not None:
            changes.append((f"{text} -> {constant}", constant))
        self.add(span, changes)

    def conditions(self, kind, children, span):
        kinds = self.kinds
        if self.in_macro(span):  # a condition that the macro brought has the place of all of the macro's use
            return
        if kind == kinds.IF_STMT:
            self.negate(children[0], "0" if len(children) == 2 else None)
        elif kind in (kinds.WHILE_STMT, kinds.CONDITIONAL_OPERATOR):
            self.negate(children[0])
        elif kind == kinds.DO_STMT:
            self.negate(children[1])
        elif kind == kinds.FOR_STMT:
            parts = [p.start() for p in re.finditer(";", self.text(*span))][:2]
            for child in children[:-1]:
                if len(parts) == 2 and span[0] + parts[0] < self.span(child)[0] < span[0] + parts[1]:
                    self.negate(child)

    def statements(self, kind, children):
        """Expressions that are statements by themselves are left out."""
        kinds = self.kinds
        bodies = {
            kinds.COMPOUND_STMT: children,
            kinds.IF_STMT: children[1:],
            kinds.FOR_STMT: children[-1:],
            kinds.WHILE_STMT: children[-1:],
            kinds.CASE_STMT: children[-1:],
            kinds.DEFAULT_STMT: children[-1:],
        }.get(kind, [])
        for child in bodies:
            span = self.span(child)
            if child.kind.is_expression() and not self.in_macro(span):
                self.add(span, [(f"{self.text(*span)} -> nothing", "(void)0")], "(%s ? %s : (void)%s)")

    def returned(self, cursor):
        span = self.span(cursor)
        text = self.text(*span)
        if self.in_macro(span, True) or text in ("SES_OK", "0"):
            return
        if self.result == "BOOL" and self.sign(cursor) not in ("==", "!="):
            self.add(span, [(f"return {text} -> !({text})", f"!({text})")])
        elif self.result in ("INT", "UINT", "ENUM", "LONG", "ULONG", "LONGLONG", "ULONGLONG"):
            self.add(span, [(f"return {text} -> 0", "0")])

    def operator(self, children, span):
        left, right = (self.span(c) for c in children)
        sign = self.text(left[1], right[0]).strip()
        other = RELATIONS.get(sign) or LOGIC.get(sign)
        if other is None or self.in_macro(span):
            return
        a, b = self.text(*left), self.text(*right)
        self.add(span, [(f"{a} {sign} {b} -> {a} {other} {b}", f"(({a}) {other} ({b}))")])
        if sign in LOGIC:
            for child in children:
                if not self.sign(child):
                    self.negate(child)

    def mutated(self):
        """The text with all mutants: sites contain each other, and the outer ones of one place come first."""
        order = sorted(range(len(self.sites)), key=lambda i: (self.sites[i][0], -self.sites[i][1], i))
        at = 0

        def until(end, position):
            nonlocal at
            parts = []
            while at < len(order) and self.sites[order[at]][0] < end:
                start, stop, numbers, form = self.sites[order[at]]
                at += 1
                parts.append(self.text(position, start))
                inner = "(" + until(stop, start) + ")"
                for number, text in reversed(numbers):
                    inner = form % (f"MUTANT({number})", text.replace("\n", " "), inner)
                parts.append(inner)
                position = stop
            return "".join(parts) + self.text(position, end)

        return f'#include "base/mutant.h"\n#line 1 "{self.path}"\n' + until(len(self.source), 0)


def parse(paths):
    from clang.cindex import Index, TranslationUnit

    builtin = subprocess.run(["cc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-Iinclude", "-Ilib", "-Ibuild/gen", "-isystem", builtin]
    index = Index.create()
    for path in paths:
        unit = index.parse(str(path), flags, options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        wrong = [d for d in unit.diagnostics if d.severity >= 4]
        if wrong:
            sys.exit(f"{path}: {wrong[0]}")
        yield path, unit


# -------------------------------------------------------------------------------------- the tree and its tests


def make(*words):
    done = subprocess.run(["make", "-s", "-C", str(TREE), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    (OUT / "make.log").write_text(done.stdout)
    if done.returncode:
        print("make failed, see", OUT / "make.log", file=sys.stderr)
    return done.returncode == 0


def put(path, content):
    """Written only when it is different, so that make does not build it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def copy_tree(instead):
    """The files that git knows, with other texts for some."""
    listed = ["git", "ls-files", "Makefile", "*.mk", "include", "lib", "sql", "test", "tools/*.awk", "tools/*.sh",
              "tools/*.[ch]", "tools/formats", "tools/seslite", "tools/server", "tools/bench"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        put(TREE / name, instead.pop(name) if name in instead else pathlib.Path(name).read_bytes())
    for name, content in instead.items():
        put(TREE / name, content)
    for old in (TREE / "lib").glob("**/*.c"):
        if str(old.relative_to(TREE)) not in names and old.name != "mutant.c":
            old.unlink()


def seed():
    """Puts the mutated library into the tree, and says which mutants there are. Their numbers begin at 1."""
    subprocess.run(["make", "-s", "build/gen/statements.h"], check=True)
    mutants, texts = [None], {}
    # libclang cannot read gcc's header of a processor's instructions.
    paths = [p for p in sorted(pathlib.Path("lib").glob("**/*.c")) if "postgres" not in p.parts and not p.stem.endswith("_x86")]
    for path, unit in parse(paths):
        file = File(path, unit, len(mutants))
        texts[str(path)] = file.mutated().encode()
        digest = hashlib.sha1(file.source).hexdigest()[:12]
        mutants += [{**m, "digest": digest} for m in file.mutants]
    for name in ("mutant.h", "mutant.c"):
        texts["lib/base/" + name] = (HERE / name).read_bytes()
    texts["lib/base/mutant_count.h"] = b"#define MUTANTS %d\n" % (len(mutants) - 1)
    copy_tree(texts)
    (OUT / "mutants.json").write_text(json.dumps(mutants))
    print(len(mutants) - 1, "mutants", flush=True)


def build(options):
    OUT.mkdir(parents=True, exist_ok=True)
    seed()
    names = sorted(str(p.relative_to("test"))[:-2] for p in pathlib.Path("test").glob("*/*.c"))
    names = [n for n in names if not n.startswith(("fuzz/", "postgres/", "program/server"))]
    jobs = f"-j{options.jobs}"
    if not make(jobs, "-k", "build/libseslite.a", "CFLAGS=-O0 -w"):
        sys.exit(1)
    make(jobs, "-k", *(f"build/test/{name}" for name in names))
    measure([n for n in names if (TREE / "build/test" / n).exists()], options)


def run(test, environment, cpu, wall, plain=False):
    """(how it ended: 0 when it passed, CPU seconds, seconds). Not plain: in a folder in memory, and it ends with the first
    failure, which cmocka takes a test that is skipped for, too."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    where = {"dir": None if plain else "/dev/shm", "prefix": "mutant-", "ignore_cleanup_errors": True}
    with tempfile.TemporaryDirectory(**where) as folder:
        variables = {**os.environ, "TMPDIR": folder, "CMOCKA_TEST_ABORT": "0" if plain else "1", **environment}
        begun = time.monotonic()
        process = subprocess.Popen([TREE / "build/test" / test], cwd=TREE, env=variables, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits,
                                   start_new_session=True)
        pid = 0
        while pid == 0 and time.monotonic() - begun < wall:
            time.sleep(0.01)
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        took = time.monotonic() - begun
        try:
            os.killpg(process.pid, signal.SIGKILL)  # also what it has left running
        except ProcessLookupError:
            pass
        ended = os.waitstatus_to_exitcode(status) if pid else "late"
        if not pid:
            _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        return ended, usage.ru_utime + usage.ru_stime, took


def measure(names, options):
    """The time of each test and the mutants that it reaches. A test is measured again only after it was rebuilt."""
    path = OUT / "tests.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    count = len(json.loads((OUT / "mutants.json").read_text()))
    library = (TREE / "build/libseslite.a").stat().st_mtime
    tests = {}

    def one(name):
        built = max((TREE / "build/test" / name).stat().st_mtime, library)
        if known.get(name, {}).get("built") == built and known[name]["cpu"] < options.limit:
            return name, known[name]
        for plain in (False, True):
            with tempfile.NamedTemporaryFile(dir=OUT) as marks:
                marks.truncate(count)
                environment = {"SES_MUTANT_REACHED": marks.name}
                ended, cpu, wall = run(name, environment, int(options.limit) + 1, 60 * options.limit, plain)
                reached = [i for i, mark in enumerate(marks.read()) if mark]
            if ended in (0, -signal.SIGXCPU):
                break
        return name, {"built": built, "ended": ended, "cpu": cpu, "wall": wall, "plain": plain, "reached": reached}

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, result in pool.map(one, names):
            tests[name] = result
            if result["ended"] != 0:
                print(f"left out: {name} ({result['ended']} after {result['cpu']:.1f} s)", flush=True)
    path.write_text(json.dumps({**known, **tests}))
    print(sum(t["ended"] == 0 for t in tests.values()), "tests", flush=True)


# -------------------------------------------------------------------------------------------- trying mutants


def key(mutant):
    return mutant["file"], mutant["digest"], mutant["line"], mutant["column"], mutant["name"]


def results():
    """The last result of each mutant."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {key(r): r for r in map(json.loads, lines)}


def load():
    mutants = json.loads((OUT / "mutants.json").read_text())
    tests = {n: t for n, t in json.loads((OUT / "tests.json").read_text()).items() if t["ended"] == 0}
    by = collections.defaultdict(list)
    for name, test in tests.items():
        for number in test["reached"]:
            by[number].append(name)
    return mutants, tests, by


def wanted(mutant, options):
    room = mutant["file"].startswith(f"lib/{options.room}/") if options.room else True
    return room and mutant["file"].endswith(options.file or "") and (not options.line or mutant["line"] == options.line)


def choose(mutants, options):
    """The numbers of those that are wanted; of a sample in the order of chance, in which it can be ended early."""
    chosen = [i for i in range(1, len(mutants)) if wanted(mutants[i], options)]
    return random.Random(options.seed).sample(chosen, min(options.sample, len(chosen))) if options.sample else chosen


def try_mutants(options):
    mutants, tests, by = load()
    known = results()
    kills = collections.defaultdict(collections.Counter)
    for result in known.values():
        if result["by"]:
            kills[result["file"]][result["by"]] += 1
    chosen = choose(mutants, options)
    chosen = [i for i in chosen if key(mutants[i]) not in known or (options.again and not known[key(mutants[i])]["by"])]
    end = time.monotonic() + options.seconds

    def one(number):
        mutant = mutants[number]
        path = pathlib.PurePath(mutant["file"])
        spent = 0

        def order(name):
            return -kills[mutant["file"]][name], path.stem not in name, path.parts[1] not in name, tests[name]["cpu"]

        if time.monotonic() > end:  # even one that no test comes by: else those are too many among what was tried
            return None
        for name in sorted(by[number], key=order):
            usual = tests[name]
            spent += usual["cpu"]
            if time.monotonic() > end:
                return None
            if spent > options.budget and spent > usual["cpu"]:
                return {**mutant, "by": None, "reached": len(by[number]), "unsure": True}
            limits = int(5 * usual["cpu"]) + 5, 5 * usual["wall"] + 10
            ended, _, _ = run(name, {"SES_MUTANT": str(number)}, *limits, usual["plain"])
            if ended != 0:
                kills[mutant["file"]][name] += 1
                return {**mutant, "by": name, "ended": ended}
        return {**mutant, "by": None, "reached": len(by[number])}

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, RESULTS.open("a") as file:
        for done in concurrent.futures.as_completed([pool.submit(one, i) for i in chosen]):
            result = done.result()
            if result is None:
                continue
            file.write(json.dumps(result) + "\n")
            file.flush()
            if not result["by"]:
                print(told(result), flush=True)


def told(result):
    return f"{result['file']}:{result['line']}:{result['column']}: {result['name']}" + (
        " (no test comes by)" if not result["reached"] else " (not all tests tried)" if "unsure" in result else "")


def report(options):
    mutants = json.loads((OUT / "mutants.json").read_text())
    known = results()
    current = [known[key(mutants[i])] for i in choose(mutants, options) if key(mutants[i]) in known]
    files = collections.defaultdict(list)
    for result in current:
        files[result["file"]].append(result)
    for name, found in files.items():
        print(f"{name}: {sum(bool(r['by']) for r in found)} of {len(found)} killed")
    for result in current:
        if not result["by"]:
            print(told(result))
    print(f"{len(mutants) - 1} mutants, {len(current)} tried, {sum(bool(r['by']) for r in current)} killed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("build", "run", "report"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=3, help="CPU seconds: tests that take more are left out")
    parser.add_argument("--room", help="only mutants of this room: session, storage/sql")
    parser.add_argument("--file", help="only mutants of this file, or of those that end so")
    parser.add_argument("--line", type=int, help="only mutants of this line")
    parser.add_argument("--sample", type=int, help="only so many of them, by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=1e9, help="CPU seconds for one mutant, to sift them first")
    parser.add_argument("--seconds", type=float, default=1e9, help="ends a run; the next goes on from there")
    parser.add_argument("--again", action="store_true", help="also tries what has survived before")
    options = parser.parse_args()
    {"build": build, "run": try_mutants, "report": report}[options.what](options)


if __name__ == "__main__":
    main()
