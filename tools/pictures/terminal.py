"""Record a session of `seslite` in a terminal as an animated SVG. The animation is CSS, so that it also runs in an <img>.

    python3 tools/pictures/terminal.py COMMAND PICTURE

The commands really run, in a terminal of their own. Only the pace is made up: it is the same each time. A viewer that
does not animate shows the end.
"""

import fcntl
import html
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass, field

import conversation

COLUMNS, ROWS = 96, 25
CELL, LINE, FONT, MARGIN, TOP = 8.4, 19, 14, 16, 36
KEY = 0.03  # seconds from one key to the next
QUIET = 0.4  # a program that writes nothing for so many seconds waits for something
PATIENCE = 20  # the seconds that a program has to write something

COLOURS = {"": "#d5d9e0", "1": "#ffffff", "2": "#8b93a1", "31": "#ff8f85", "32": "#7fd1a0", "33": "#e5c07b", "36": "#74c7d8"}


# ------------------------------------------------------------------------------------------------------- running


class Terminal:
    """A command that runs in a terminal of its own."""

    def __init__(self, line, folder, environment):
        pid, self.fd = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.chdir(folder)
            os.execve("/bin/sh", ["sh", "-c", line], environment)
        self.pid = pid

    def _read_piece(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self.fd, 65536)
        except OSError:  # the program has ended
            return b""

    def _read(self, quiet):
        pieces = [self._read_piece(PATIENCE)]
        while pieces[-1]:
            pieces.append(self._read_piece(quiet))
        return b"".join(pieces).decode().replace("\r\n", "\n")

    def read(self):
        """Return what the program writes until it waits for something."""
        return self._read(QUIET)

    def read_all(self):
        """Return what the program writes until it ends."""
        return self._read(PATIENCE)

    def interrupt(self):
        os.write(self.fd, b"\x03")

    def close(self):
        """Wait for the end of the program and return its exit status."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status


# ---------------------------------------------------------------------------------------------------- the screen


@dataclass
class Shown:
    """Lines that appear at the same time, or the command that is typed after a prompt."""

    at: float
    lines: list
    typed_from: float = 0
    typed_to: float = 0
    entered: float = 0
    row: int = 0


@dataclass
class Recording:
    clock: float = 0
    shown: list = field(default_factory=list)
    rows: int = 0

    def _show(self, lines, **times):
        self.shown.append(Shown(self.clock, lines, row=self.rows, **times))
        self.rows += len(lines)

    def type(self, line, after):
        """Show the prompt, and after so many seconds the command."""
        start = self.clock + after
        end = start + KEY * len(line)
        self._show([[("32", "$ "), ("", line)]], typed_from=start, typed_to=end, entered=end + 0.25)
        self.clock = end + 0.25

    def print(self, text):
        self._show([wrapped for line in text.rstrip("\n").split("\n") for wrapped in wrap(read_colours(line))])

    def wait(self, seconds):
        self.clock += seconds

    def end(self, seconds):
        """Show a prompt for so many seconds."""
        self._show([[("32", "$ "), ("", "\u2588")]])
        self.clock += seconds


def read_colours(line):
    """Pairs of a style and the text that has it."""
    pieces = re.split(r"\033\[([0-9]*)m", line)
    styled = [(style if style != "0" else "", text) for style, text in zip([""] + pieces[1::2], pieces[::2]) if text]
    odd = [text for _, text in styled if re.search(r"[\x00-\x1f\x7f]", text)]
    if odd:
        raise SystemExit(f"terminal: not only lines and colours: {odd}")
    return styled


def wrap(line):
    """The line in lines that are as wide as the terminal."""
    rows, used = [[]], 0
    for style, text in line:
        while text:
            if used == COLUMNS:
                rows.append([])
                used = 0
            taken = text[: COLUMNS - used]
            rows[-1].append((style, taken))
            used += len(taken)
            text = text[len(taken) :]
    return rows


# --------------------------------------------------------------------------------------------------- the picture


def draw_line(line, y):
    """Place each group of words by itself, so that columns stay columns in every font."""
    column, drawn = 0, []
    for style, text in line:
        for found in re.finditer(r"\S+(?: \S+)*", text):
            x = MARGIN + (column + found.start()) * CELL
            width = len(found[0]) * CELL
            klass = f' class="c{style}"' if style else ""
            drawn.append(f'<text{klass} x="{x:.1f}" y="{y}" textLength="{width:.1f}">{html.escape(found[0], quote=False)}</text>')
        column += len(text)
    return "".join(drawn)


def top_of(row):
    return TOP + row * LINE


def draw_shown(shown, name):
    """Draw lines as a group. A command also gets a cover, which moves to the right as it is typed."""
    lines = "".join(draw_line(line, top_of(shown.row + i) + LINE - 5) for i, line in enumerate(shown.lines))
    drawn = f'<g class="{name}">{lines}</g>\n'
    if shown.typed_to:
        x, y, keys = MARGIN + 2 * CELL, top_of(shown.row), len(shown.lines[0][1][1])
        drawn += (
            f'<g class="cover {name}c"><g class="{name}t"><rect class="screen" x="{x:.1f}" y="{y}" width="{keys * CELL + 1:.1f}"'
            f' height="{LINE}"/><rect class="cursor" x="{x:.1f}" y="{y + 2}" width="{CELL}" height="{LINE - 3}"/></g></g>\n'
        )
    return drawn


class Style:
    """The animations. Each of them lasts as long as the recording."""

    def __init__(self, seconds):
        self.seconds, self.rules = seconds, []

    def part(self, at):
        return f"{100 * at / self.seconds:.2f}%"

    def add(self, name, *frames):
        text = "".join(f"{self.part(at)}{{{what}}}" for at, what in frames)
        self.rules.append(f"@keyframes {name}{{{text}}}.{name}{{animation:{name} {self.seconds:g}s step-end infinite}}")


def animate(recording, style):
    hidden, visible = "visibility:hidden", "visibility:visible"
    for number, shown in enumerate(recording.shown):
        name = f"s{number}"
        if shown.at > 0:
            style.add(name, (0, hidden), (shown.at, visible))
        if shown.typed_to:
            keys = len(shown.lines[0][1][1])
            style.add(f"{name}c", (0, hidden), (shown.at, visible), (shown.entered, hidden))
            typing = f"transform:none;animation-timing-function:steps({keys},end)"
            typed = f"transform:translateX({keys * CELL:.1f}px)"
            style.add(f"{name}t", (0, "transform:none"), (shown.typed_from, typing), (shown.typed_to, typed))
    scrolled = [(0, "transform:none")]
    for shown in recording.shown:
        beyond = shown.row + len(shown.lines) - ROWS
        if beyond > 0:
            scrolled.append((shown.at, f"transform:translateY({-beyond * LINE}px)"))
    style.add("all", *scrolled)


def draw(recording):
    seconds = round(recording.clock, 1)
    style = Style(seconds)
    animate(recording, style)
    width, height = MARGIN * 2 + COLUMNS * CELL, TOP + ROWS * LINE + 12
    beyond = max(0, recording.rows - ROWS)
    colours = "".join(f".c{style}{{fill:{colour}}}" for style, colour in COLOURS.items() if style)
    dots = "".join(f'<circle cx="{20 + 18 * i}" cy="16" r="5" class="dot"/>' for i in range(3))
    body = "".join(draw_shown(shown, f"s{number}") for number, shown in enumerate(recording.shown))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}">
<title>A terminal session with the seslite command</title>
<style>
text{{font:{FONT}px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:{COLOURS[""]};white-space:pre}}
.screen{{fill:#16191f}}.dot{{fill:#3a404b}}.cursor{{fill:#d5d9e0}}.c1{{font-weight:bold}}.cover{{visibility:hidden}}
{colours}
{chr(10).join(style.rules)}
@media (prefers-reduced-motion:reduce){{*{{animation:none!important}}}}
</style>
<clipPath id="window"><rect y="{TOP}" width="{width:.0f}" height="{ROWS * LINE}"/></clipPath>
<rect class="screen" width="{width:.0f}" height="{height}" rx="8"/>
{dots}
<g clip-path="url(#window)"><g class="all" transform="translate(0 {-beyond * LINE})">
{body}</g></g>
</svg>
"""


# ------------------------------------------------------------------------------------------------------ the scene


class Scene:
    """The commands that are run, and what happens to the store in the meantime."""

    def __init__(self, command, folder):
        self.folder, self.recording = folder, Recording()
        path = f"{pathlib.Path(command).resolve().parent}:{os.environ['PATH']}"
        self.environment = {"PATH": path, "TERM": "xterm", "LC_ALL": "C.UTF-8", "TZ": "UTC", "SESLITE_DB": "agents.db"}

    def bring_in(self, trip):
        subprocess.run(
            ["seslite", "import", "-", "--update"],
            input=conversation.lines(trip),
            text=True,
            check=True,
            capture_output=True,
            cwd=self.folder,
            env=self.environment,
        )

    def run(self, line, after):
        """Run a command that is typed after so many seconds."""
        self.recording.type(line, after)
        terminal = Terminal(line, self.folder, self.environment)
        self.recording.print(terminal.read_all())
        if terminal.close() != 0:
            raise SystemExit(f"terminal: {line} failed")

    def follow(self, line, after, before, events):
        """Run a command that waits for events, append them while it waits, and interrupt it."""
        self.recording.type(line, after)
        terminal = Terminal(line, self.folder, self.environment)
        self.recording.print(terminal.read())
        for count in range(len(events)):
            self.recording.wait(1)
            self.bring_in(before + events[: count + 1])
            self.recording.print(terminal.read())
        self.recording.wait(1)
        terminal.interrupt()
        self.recording.print(terminal.read_all())
        terminal.close()

    def play(self):
        found, failed = conversation.FOUND, conversation.FAILED
        self.bring_in(found)
        self.recording.type("export SESLITE_DB=agents.db", 0.5)
        self.run("seslite list", 0.4)
        self.run("seslite show train", 1.8)
        self.follow("seslite tail train -n 2 -f", 3, found, failed)
        self.run("seslite -s train state", 0.8)
        self.run("seslite -s train state --at last-turn", 1.8)
        self.run("seslite rewind train", 1.8)
        self.run("seslite search station", 2)
        self.run("seslite html train -o train.html", 2)
        self.recording.end(3.5)


def main(command, picture):
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(command, folder)
        scene.play()
    pathlib.Path(picture).write_text(draw(scene.recording))


if __name__ == "__main__":
    main(*sys.argv[1:])
