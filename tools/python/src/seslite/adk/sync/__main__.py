"""Copies sessions from one session service to another, and goes on copying them:

    python -m seslite.adk.sync FROM TO --app my_app [--follow]

FROM and TO are what google-adk's command line takes as --session_service_uri, or seslite:///agents.db.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import re
import signal
import sys
from contextlib import AsyncExitStack
from typing import Optional

from ... import errors
from .pace import Pace
from .report import Report
from .run import Sync
from .sides import opened


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m seslite.adk.sync",
        description="Copies sessions from one session service of google-adk, or a seslite store, to another.",
        epilog="seslite:///agents.db is a store, sqlite+aiosqlite:///sessions.db a DatabaseSessionService, "
        "agentengine://projects/P/locations/L/reasoningEngines/N sessions of Vertex AI. Exit codes: 0 all was copied; "
        "1 something was not, as the report says; 2 wrong options.",
    )
    add = parser.add_argument
    add("source", metavar="FROM", help="the URI of the service to copy from")
    add("target", metavar="TO", help="the URI of the service to copy to")
    add(
        "--app",
        action="append",
        default=[],
        metavar="NAME",
        help="an app; may be given again. All, if FROM is a store",
    )
    add("--user", metavar="NAME", help="only the sessions of this user")
    add(
        "--delete", action="store_true", help="delete from TO the sessions and events that FROM does not have"
    )
    add("--dry-run", action="store_true", help="only report what would be copied")
    add("--follow", action="store_true", help="go on copying until interrupted")
    add(
        "--interval",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="between two passes of --follow (default 10)",
    )
    add("--retries", type=int, default=8, metavar="N", help="how many calls may fail in a row (default 8)")
    add(
        "--timeout",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="for one call to a service (default 120)",
    )
    add("--agents-dir", metavar="FOLDER", help="a folder of agents, for its services.yaml and .env")
    add("--json", action="store_true", help="print the report of each pass as a line of JSON")
    add("-v", "--verbose", action="store_true", help="say why calls are repeated")
    return parser


def _print(report: Report, json: bool) -> None:
    for line in [report.json()] if json else report.lines():
        print(
            line if json else re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", "\ufffd", line),
            flush=True,
        )


async def _run(options: argparse.Namespace) -> int:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    async with AsyncExitStack() as stack:
        source = opened(options.source, agents_dir=options.agents_dir, must_exist=True)
        stack.push_async_callback(source.close)
        target = opened(options.target, agents_dir=options.agents_dir)
        stack.push_async_callback(target.close)
        pace = Pace(retries=options.retries, timeout=options.timeout)
        sync = Sync(
            source,
            target,
            apps=options.app,
            user=options.user,
            delete=options.delete,
            dry_run=options.dry_run,
            pace=pace,
        )
        report = Report()
        try:
            async for report in sync.follow(options.interval):
                if report.changed or report.problems or not options.follow:
                    _print(report, options.json)
                if not options.follow:
                    break
        except asyncio.CancelledError:
            if not options.follow:
                return 1
        return 1 if report.problems else 0


def main(arguments: Optional[list[str]] = None) -> int:
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    if options.verbose:
        logging.getLogger("seslite.adk.sync").setLevel(logging.INFO)
    try:
        return asyncio.run(_run(options))
    except (errors.Error, ValueError, ImportError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    except Exception as error:  # what a service refuses for good: to be listed, for instance
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
