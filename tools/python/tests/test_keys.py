"""Keys of files. The package is built with the system's SQLite, which has none."""

from __future__ import annotations

from pathlib import Path

import pytest

import seslite

KEY = bytes(range(32))


def test_a_key_has_32_bytes(tmp_path: Path) -> None:
    for key in (b"", b"short", bytes(33)):
        with pytest.raises(seslite.InvalidError, match="32 bytes"):
            seslite.Store(tmp_path / "a.db", key=key)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_encrypted_or_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    try:
        store = seslite.Store(path, key=KEY)
    except seslite.UnsupportedError as error:
        assert "SQLite3 Multiple Ciphers" in str(error)
        assert not path.exists()
        return
    with store:
        store.create("app", "user", "s")
        store.backup(tmp_path / "plain.db", plain=True)
    with pytest.raises(seslite.WrongKeyError):
        seslite.Store(path)
    with seslite.Store(tmp_path / "plain.db") as plain:
        assert plain.get("app", "user", "s").id == "s"


def test_a_backup_is_encrypted_or_nothing_is_written(tmp_path: Path) -> None:
    with seslite.Store(tmp_path / "a.db") as store:
        try:
            store.backup(tmp_path / "b.db", key=KEY)
        except seslite.UnsupportedError:
            assert not (tmp_path / "b.db").exists()
        else:
            seslite.Store(tmp_path / "b.db", key=KEY).close()
        with pytest.raises(seslite.MisuseError):
            store.backup(tmp_path / "c.db", key=KEY, plain=True)
