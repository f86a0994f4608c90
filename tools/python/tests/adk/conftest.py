"""The tests of the session service need google-adk."""

import pytest

pytest.importorskip("google.adk")
