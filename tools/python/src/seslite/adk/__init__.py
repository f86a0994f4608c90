"""seslite for google-adk: SesliteSessionService."""

from .service import Followed, SesliteSessionService

__all__ = ["Followed", "SesliteSessionService"]
