"""The session that most tests use."""

import seslite

KEY = seslite.Key("app", "user", "s")
