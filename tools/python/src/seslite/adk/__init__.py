"""seslite for google-adk: SesliteSessionService and SesliteArtifactService."""

from .artifacts import SesliteArtifactService
from .service import Followed, SesliteSessionService, StaleSessionError

__all__ = ["Followed", "SesliteArtifactService", "SesliteSessionService", "StaleSessionError"]
