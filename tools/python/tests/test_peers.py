"""Stores that are shared by their names."""

import gc
import threading

import pytest

import seslite
from seslite import _peers
from seslite._peers import Opened


class Cycle:
    """Garbage that only a collection finds."""

    def __init__(self, opened):
        self.opened, self.itself = opened, self


def test_the_last_user_closes_the_store(tmp_path):
    first, second = Opened(tmp_path / "a.db", {}), Opened(tmp_path / "a.db", {})
    assert first.store is second.store
    first.close()
    first.close()
    list(second.store.apps())
    store = second.store
    second.close()
    with pytest.raises(seslite.MisuseError):
        list(store.apps())
    assert Opened(tmp_path / "a.db", {}).store is not store
    gc.collect()
    assert not _peers._Shared._by_name


def test_users_may_end_while_another_is_opened(tmp_path, monkeypatch):
    def open_and_collect(path, **options):
        gc.collect()
        return seslite.Store(path, **options)

    gc.disable()
    try:
        garbage = Cycle(Opened(tmp_path / "a.db", {}))
        store = garbage.opened.store
        del garbage
        monkeypatch.setattr(_peers, "Store", open_and_collect)
        opened = []
        thread = threading.Thread(target=lambda: opened.append(_peers._Shared.open(tmp_path / "b.db", {})), daemon=True)
        thread.start()
        thread.join(20)
        assert opened, "it waits for itself"
        with pytest.raises(seslite.MisuseError):
            list(store.apps())
        opened[0].close()
    finally:
        gc.enable()


def test_threads_share_and_end(tmp_path):
    def use():
        for _ in range(50):
            opened = Opened(tmp_path / "a.db", {})
            list(opened.store.apps())
            opened.close()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not _peers._Shared._by_name and not _peers._Shared._ended
