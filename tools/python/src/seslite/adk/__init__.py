"""seslite for google-adk: SesliteSessionService, SesliteArtifactService and SesliteMemoryService."""

from .artifacts import SesliteArtifactService
from .memory import SesliteMemoryService
from .service import Followed, SesliteSessionService, StaleSessionError

__all__ = [
    "Followed",
    "SesliteArtifactService",
    "SesliteMemoryService",
    "SesliteSessionService",
    "StaleSessionError",
]
