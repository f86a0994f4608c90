"""What the tests share."""

import pytest
from common import KEY

import seslite


@pytest.fixture
def store(tmp_path):
    with seslite.Store(tmp_path / "store.db", synchronous="normal") as opened:
        yield opened


@pytest.fixture
def session(store):
    return store.create(KEY, {"k": 1, "user:u": "ä", "app:a": [1, 2]})
