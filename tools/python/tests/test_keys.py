"""Keys of files. The package is built with the system's SQLite, which has none."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

import seslite
from seslite import _ffi

KEY = bytes(range(32))


def test_a_key_has_32_bytes(tmp_path: Path) -> None:
    for key in (b"", b"short", bytes(33)):
        with pytest.raises(seslite.InvalidError, match="32 bytes"):
            seslite.Store(tmp_path / "a.db", key=key)
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_other_items_than_bytes(tmp_path: Path) -> None:
    with pytest.raises(seslite.InvalidError, match="32 bytes"):  # and not 32 items
        seslite.Store(tmp_path / "a.db", key=array("I", range(32)))  # type: ignore[arg-type]
    eight_items = memoryview(array("I", range(8)))
    try:
        seslite.Store(tmp_path / "a.db", key=eight_items).close()  # type: ignore[arg-type]
    except seslite.UnsupportedError:
        pass


def test_the_copy_of_a_key_is_wiped() -> None:
    options = _ffi.struct("ses_open_options")
    with _ffi.with_key(options, KEY):
        copy = options.key
        assert bytes(_ffi.ffi.buffer(copy, 32)) == KEY and options.key_len == 32
    assert bytes(_ffi.ffi.buffer(copy, 32)) == bytes(32)


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
