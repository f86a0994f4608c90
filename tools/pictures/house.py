"""Draw the rooms of lib/ and who uses whom, from the code, as an SVG.

    python3 tools/pictures/house.py > tools/pictures/house.svg
    python3 tools/pictures/house.py --check tools/pictures/house.svg

A room stands on the rooms that it uses. With --check it fails if the picture is not the one that the code gives now.
"""

import html
import itertools
import pathlib
import re
import sys
import textwrap
from collections import defaultdict

# A folder below one of these is a part of it.
PURPOSES = {
    "base": "errors, memory, UTF-8, clock, threads",
    "json": "reader, numbers, writer",
    "model": "what the ADK means: events, state, scopes",
    "storage": "what is stored, as the rest of the library sees it",
    "storage/sql": "the operations of the door, for SQL",
    "storage/sqlite": "SQLite",
    "storage/server": "what servers share",
    "storage/postgres": "PostgreSQL",
    "storage/mysql": "MySQL and MariaDB",
    "session": "the store, handles and cursors",
    "session/sql": "calls that are a few statements",
    "session/sqlite": "stores in files",
    "session/server": "options of servers",
    "session/postgres": "stores on PostgreSQL",
    "session/mysql": "stores on MySQL",
    "agent": "contents, tool calls, templates",
    "artifact": "files of sessions and users",
    "draft": "messages that grow",
    "inbox": "inputs that wait",
    "memory": "what was said before",
    "search": "words of events",
    "usage": "tokens of models",
    "erase": "redacting events",
    "cjson": "trees of cJSON",
}
FOREIGN = ("sqlite3.h", "libpq-fe.h", "mysql.h", "cjson/cJSON.h")


# ----------------------------------------------------------------------------------------------------- the code


def room_of(folder):
    while folder and folder not in PURPOSES:
        folder = folder.rpartition("/")[0]
    return folder


class Code:
    """The rooms and public headers, and for each the others that it uses, with the headers by which it does."""

    def __init__(self, top):
        self.uses = defaultdict(lambda: defaultdict(set))
        self.foreign = defaultdict(set)
        files = sorted(top.glob("lib/**/*.[ch]"))
        folders = {path.parent.relative_to(top / "lib").as_posix() for path in files}
        self.parts = defaultdict(list)
        for folder in sorted(folders - PURPOSES.keys()):
            self.parts[room_of(folder)].append(folder.removeprefix(room_of(folder) + "/"))
        self.texts = [(room_of(path.parent.relative_to(top / "lib").as_posix()), path.read_text()) for path in files]
        self.rooms = sorted({room for room, _ in self.texts})
        for room, text in self.texts:
            self._add_includes(room, text)
        self._add_calls(public_headers(top / "include"))

    def _add_includes(self, room, text):
        for header in re.findall(r'^#include [<"](.+)[>"]', text, re.MULTILINE):
            folder, _, name = header.rpartition("/")
            if header in FOREIGN:
                self.foreign[room].add(header)
            elif room_of(folder) in self.rooms and room_of(folder) != room:
                self.uses[room][room_of(folder)].add(name)

    def _add_calls(self, headers):
        """A header uses the rooms that define its calls. A room uses those whose calls it makes."""
        declared = {name: header for header, text in headers.items() for name in re.findall(r"\b(ses_\w+)\(", text)}
        defined = {}
        for room, text in self.texts:
            for name in re.findall(r"^\w[^;={]*?\b(ses_[a-z]\w*)\([^;{]*\)\s*\{", text, re.MULTILINE):
                if name in declared:
                    defined[name] = room
                    self.uses[declared[name]][room]  # an edge without an #include
        for room, text in self.texts:
            for name in set(re.findall(r"\b(ses_\w+)\(", without_comments(text))) & defined.keys():
                if defined[name] != room:
                    self.uses[room][defined[name]].add("public calls")
        for header, text in headers.items():
            self.foreign[header] |= {name for name in FOREIGN if f"<{name}>" in text}


def public_headers(folder):
    """The text of each public header, with those of its parts, which it includes at its end."""
    texts = {path.name: without_comments(path.read_text()) for path in sorted(folder.glob("*.h"))}
    for part in re.findall(r'^#include "(.+)"$', texts["seslite.h"], re.MULTILINE):
        texts["seslite.h"] += texts.pop(part)
    return texts


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


# ---------------------------------------------------------------------------------------------------- the order


class Order:
    """Where everything is: a column for each way from the top to the bottom, a row for each floor."""

    def __init__(self, uses):
        self.uses = uses
        nodes = set(uses) | {used for all_used in uses.values() for used in all_used}
        self.below = {node: self._all_below(node, ()) for node in nodes}
        self.next = {node: self._nearest(node) for node in nodes}
        self.floors = {node: self._floor(node) for node in nodes}
        tops = nodes - {used for all_used in uses.values() for used in all_used}
        self.ways = sorted((way for top in tops for way in self._ways(top)), key=lambda way: way[::-1])

    def _all_below(self, node, above):
        if node in above:
            raise SystemExit(f"house: a circle: {' -> '.join([*above, node])}")
        used = self.uses.get(node, {})
        return set(used).union(*(self._all_below(other, (*above, node)) for other in used))

    def _nearest(self, node):
        """Those that it uses, without those that one of them uses."""
        used = set(self.uses.get(node, {}))
        return sorted(used - set().union(*(self.below[other] for other in used)))

    def _floor(self, node):
        return 1 + max((self._floor(other) for other in self.next[node]), default=-1)

    def _ways(self, node):
        return [[node, *way] for other in self.next[node] for way in self._ways(other)] or [[node]]

    def boxes(self):
        """Each with its first and last column. If its columns are not side by side, there are several of it."""
        for node in sorted(self.floors):
            columns = [i for i, way in enumerate(self.ways) if node in way]
            for _, group in itertools.groupby(enumerate(columns), lambda pair: pair[1] - pair[0]):
                run = [column for _, column in group]
                yield node, run[0], run[-1]

    def arrows(self):
        """From a box to one below it, with the columns that both have."""
        for node in sorted(self.floors):
            for other in self.next[node]:
                yield node, other, [i for i, way in enumerate(self.ways) if (node, other) in itertools.pairwise(way)]


# -------------------------------------------------------------------------------------------------- the picture

COLUMN, GAP, FLOOR, HIGH, HEADER, MARGIN = 168, 12, 124, 92, 44, 20

STYLE = """
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;text-anchor:middle;fill:#1f2328}
.name{font-weight:600;font-size:14px}
.soft{font-size:11px;fill:#59636e}
.door{font-weight:600;fill:#b3261e}
.label{text-anchor:start}
.paper{fill:#fff}
.room{fill:#e8eefb;stroke:#7d97d8}
.storage{fill:#e3f3ee;stroke:#5fa88d}
.floor{fill:#f1f1ee;stroke:#b3b3aa}
.header{fill:#fff8e1;stroke:#d0a73c}
.arrow{stroke:#59636e;stroke-width:1.5}
.calls{stroke-dasharray:4 3}
.head{fill:#59636e}
@media (prefers-color-scheme:dark){
text{fill:#e6e8eb}
.soft{fill:#a3abb5}
.door{fill:#ff9a8f}
.paper{fill:#15181c}
.room{fill:#1d2a4a;stroke:#5570b8}
.storage{fill:#153329;stroke:#3f8468}
.floor{fill:#26292e;stroke:#565b63}
.header{fill:#3a3116;stroke:#8f742d}
.arrow{stroke:#a3abb5}
.head{fill:#a3abb5}
}
"""
LEGEND = (
    "The last line of a room names all rooms whose headers it includes. "
    "Arrows lead to the nearest; a dashed arrow means public calls only."
)


class Picture:
    def __init__(self, code):
        self.code, self.order = code, Order(code.uses)
        self.top = max(self.order.floors.values())
        self.width = 2 * MARGIN + len(self.order.ways) * COLUMN - GAP
        self.height = 2 * MARGIN + self.top * FLOOR + HEADER + 30

    def height_of(self, node):
        return HEADER if node.endswith(".h") else HIGH

    def y_of(self, node):
        return MARGIN + (self.top - self.order.floors[node]) * FLOOR + HEADER - self.height_of(node)

    def x_of(self, column):
        return MARGIN + column * COLUMN

    def text(self, x, y, words, klass=""):
        klass = f' class="{klass}"' if klass else ""
        return f'<text{klass} x="{x:g}" y="{y:g}">{html.escape(words)}</text>'

    def list_of_used(self, node):
        used = sorted(self.code.uses.get(node, {}), key=lambda other: -self.order.floors[other])
        included = [other for other in used if self.code.uses[node][other] - {"public calls"}]
        return ", ".join(included + [f"<{header}>" for header in sorted(self.code.foreign[node])])

    def kind(self, node):
        if node.endswith(".h"):
            return "header"
        return "storage" if node.startswith("storage") else "floor" if node in ("base", "json", "model") else "room"

    def box(self, node, first, last):
        x, y, width, height = self.x_of(first), self.y_of(node), (last - first + 1) * COLUMN - GAP, self.height_of(node)
        letters = width // 6
        lines = [(node, "name")]
        lines += [(line, "") for line in textwrap.wrap(PURPOSES.get(node, ""), letters)]
        lines += [(line, "part") for line in textwrap.wrap(" · ".join(self.code.parts[node]), letters)]
        lines += [(line, "soft") for line in textwrap.wrap(self.list_of_used(node), letters)]
        drawn = [f'<rect class="{self.kind(node)}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>']
        at = y + height / 2 - 8 * (len(lines) - 1) + 5
        for i, (line, klass) in enumerate(lines):
            drawn.append(self.text(x + width / 2, at + 16 * i, line, klass))
        return "".join(drawn)

    def arrow(self, node, other, columns):
        x = self.x_of(columns[0]) + (len(columns) * COLUMN - GAP) / 2
        y, end = self.y_of(node) + self.height_of(node), self.y_of(other)
        by = self.code.uses[node][other]
        calls = " calls" if by == {"public calls"} else ""
        drawn = f'<path class="arrow{calls}" d="M{x:g} {y}V{end - 6}"/><path class="head" d="M{x - 4:g} {end - 7}h8l-4 7z"/>'
        if 0 < len(by) <= 3:
            drawn += self.text(x + 8, y + 21, ", ".join(sorted(by)), "door label" if by == {"door.h"} else "soft label")
        return drawn

    def draw(self):
        parts = [self.arrow(*arrow) for arrow in self.order.arrows()] + [self.box(*box) for box in self.order.boxes()]
        body = "\n".join(parts)
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        return f"""<svg xmlns="http://www.w3.org/2000/svg" {size}>
<title>The rooms of seslite</title>
<!-- Drawn by tools/pictures/house.py. -->
<style>{STYLE}</style>
<rect class="paper" width="{self.width}" height="{self.height}" rx="8"/>
{body}
{self.text(self.width / 2, self.height - MARGIN, LEGEND, "soft")}
</svg>
"""


def main(arguments):
    top = pathlib.Path(__file__).resolve().parents[2]
    code = Code(top)
    different = PURPOSES.keys() ^ set(code.rooms)
    if different:
        raise SystemExit(f"house: PURPOSES and the folders of lib/ differ: {', '.join(sorted(different))}")
    picture = Picture(code).draw()
    if arguments[:1] != ["--check"]:
        sys.stdout.write(picture)
    elif pathlib.Path(arguments[1]).read_text() != picture:
        raise SystemExit(f"house: the picture is out of date; run: python3 tools/pictures/house.py > {arguments[1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
