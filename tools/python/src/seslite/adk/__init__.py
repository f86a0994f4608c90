"""seslite for google-adk: SesliteSessionService."""

from .service import Followed, SesliteSessionService, StaleSessionError

__all__ = ["Followed", "SesliteSessionService", "StaleSessionError"]
