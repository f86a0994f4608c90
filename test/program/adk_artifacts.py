"""Prints the artifacts that google-adk's own FileArtifactService finds in a folder, as JSON:
[[NAME, VERSION, created, metadata, type, display name, text or size], ...]"""
import asyncio
import json
import logging
import sys

logging.disable(logging.CRITICAL)
from google.adk.artifacts.file_artifact_service import FileArtifactService


async def main(folder, app, user, session):
    service = FileArtifactService(folder)
    of = {"app_name": app, "user_id": user, "session_id": session}
    found = []
    for name in await service.list_artifact_keys(**of):
        for version in await service.list_artifact_versions(**of, filename=name):
            part = await service.load_artifact(**of, filename=name, version=version.version)
            data = part and part.inline_data
            found.append([
                name, version.version, version.create_time, version.custom_metadata, version.mime_type,
                data and data.display_name, part and (len(data.data) if data else part.text)
            ])
    json.dump(found, sys.stdout, separators=(",", ":"))


asyncio.run(main(*sys.argv[1:]))
