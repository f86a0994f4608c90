#!/usr/bin/env python3
"""Counts the functions of lib/ that are called once, the long ones, and the files and lines of each room.

    python3 tools/helpers.py               # a line for each room
    python3 tools/helpers.py lib/json      # the helpers below that folder, and its long functions, by name

A helper is a static function of a C file with at most 14 lines that one place calls, and that is in no table.
CONTRIBUTING.md says when one is worth its name. At most a tenth of the functions should be helpers, and none has more than 80 lines.
"""
import collections
import pathlib
import re
import sys

SHORT, SCREEN, LIMIT = 14, 60, 80
FUNCTION = re.compile(r"^[a-z][^;{}=#]*?\b(\w+)\([^;{}]*\)\n{\n.*?^}$", re.M | re.S)
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def functions(text: str):
    """The name, first line and number of lines of each function of a file, and whether it is a helper."""
    code = COMMENT_OR_STRING.sub(blank, text)
    for match in FUNCTION.finditer(code):
        name, lines = match[1], match[0].count("\n") + 1
        uses = len(re.findall(rf"\b{name}\b", code)) - 1
        declared = len(re.findall(rf"^[a-z][^;{{}}=]*\b{name}\([^;{{}}]*\);$", code, re.M))
        called = len(re.findall(rf"\b{name}\(", code)) - 1 - declared
        helper = match[0].startswith("static") and lines <= SHORT and called == 1 and uses - declared == 1
        yield name, code.count("\n", 0, match.start()) + 1, lines, helper


def main() -> None:
    rooms = collections.defaultdict(collections.Counter)
    for path in sorted(path for path in pathlib.Path("lib").rglob("*.[ch]")):
        count = rooms[path.parts[1]]
        text = path.read_text()
        count["files"] += 1
        count["lines"] += text.count("\n")
        for name, line, lines, helper in functions(text):
            count["functions"] += 1
            helper = helper and path.suffix == ".c"
            count["helpers"] += helper
            count["screen"] += lines > SCREEN
            count["limit"] += lines > LIMIT
            if len(sys.argv) > 1 and str(path).startswith(sys.argv[1]) and (helper or lines > SCREEN):
                print(f"{path}:{line}: {name}, {lines} lines")
    if len(sys.argv) > 1:
        return
    rooms["all"] = sum(rooms.values(), collections.Counter())
    print("room        files   lines  functions  helpers   share  > 60  > 80")
    for room, count in rooms.items():
        share = 100 * count["helpers"] / max(1, count["functions"])
        print(f"{room:10}{count['files']:7}{count['lines']:8}{count['functions']:11}{count['helpers']:9}{share:7.1f}%"
              f"{count['screen']:6}{count['limit']:6}")


main()
