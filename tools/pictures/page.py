"""Take the picture of the page of `seslite html`, in headless Chromium.

    python3 tools/pictures/page.py COMMAND PICTURE
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import conversation
from browser import Browser

WIDTH = 968
SLIDER_AT = 3
FONTS = {"--sans": "Roboto", "--serif": "Caladea", "--mono": "DejaVu Sans Mono"}
# Returns where the last event ends.
FRAME = """
    const frame = document.createElement("div");
    Object.assign(frame.style, {position: "fixed", inset: 0, border: "1px solid var(--line)", pointerEvents: "none"});
    document.body.append(frame);
    document.querySelector("footer").remove();
    const last = [...document.querySelectorAll("article")].pop();
    return Math.ceil(last.getBoundingClientRect().bottom);
"""


def check_tools():
    programs = [name for name in ("chromedriver", "pngquant", "fc-match") if not shutil.which(name)]
    if programs:
        raise SystemExit(f"page: these programs are missing: {', '.join(programs)}")
    fonts = [font for font in FONTS.values() if run("fc-match", "--format=%{family}", font).stdout != font]
    if fonts:
        raise SystemExit(f"page: these fonts are missing: {', '.join(fonts)}")


def run(*arguments, **options):
    return subprocess.run(arguments, check=True, capture_output=True, text=True, **options)


def write_page(command, folder):
    events = conversation.lines(conversation.FOUND + conversation.FAILED + [conversation.REWIND])
    store, page = folder / "agents.db", folder / "page.html"
    run(command, "-f", store, "import", "-", input=events)
    run(command, "-f", store, "html", "train", "-o", page)
    return page


def take_picture(page, picture, folder):
    with Browser(folder) as browser:
        browser.resize(WIDTH, 2000)
        browser.open(f"{page.as_uri()}#e{SLIDER_AT}")
        for name, font in FONTS.items():
            browser.run(f'document.documentElement.style.setProperty("{name}", "{font}")')
        browser.resize(WIDTH, browser.run(FRAME) + 16)
        browser.picture(picture)


def main(command, picture):
    check_tools()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        take_picture(write_page(command, folder), picture, folder)
    run("pngquant", "--force", "--strip", "--speed=1", "--output", picture, "64", picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
