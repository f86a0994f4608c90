"""Prints what google-adk's own SqliteSessionService returns for each session of a file, as a JSON array."""
import asyncio
import json
import logging
import sqlite3
import sys

logging.disable(logging.CRITICAL)
from google.adk.sessions.sqlite_session_service import SqliteSessionService


async def main(path):
    service = SqliteSessionService(path)
    keys = sqlite3.connect(path).execute("SELECT app_name, user_id, id FROM sessions ORDER BY rowid").fetchall()
    sessions = [await service.get_session(app_name=a, user_id=u, session_id=s) for a, u, s in keys]
    json.dump([json.loads(s.model_dump_json(by_alias=True, exclude_none=True)) for s in sessions], sys.stdout)


asyncio.run(main(sys.argv[1]))
