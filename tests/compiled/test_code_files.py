"""Code files: written whole, read whole or not at all, and removed when nobody uses them."""

import os
import time
from pathlib import Path

from belated.compiled.code_files import KEPT_FOR, KEPT_VERSIONS, locked, path_of, read, write


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Nothing else is left in the folder."""
    path = tmp_path / "exp3-ask-1.code"
    write(path, b"code")
    assert read(path) == b"code"
    assert list(tmp_path.iterdir()) == [path]
    assert read(tmp_path / "exp3-ask-2.code") is None


def test_a_damaged_file_is_not_used(tmp_path: Path) -> None:
    """Cut off, changed, or empty: it is as if it were not there."""
    path = tmp_path / "exp3-ask-1.code"
    write(path, b"code" * 100)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:40] + b"x" + whole[41:], b"", b"x"):
        path.write_bytes(damaged)
        assert read(path) is None
    write(path, b"again")
    assert read(path) == b"again"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """The code is just not kept."""
    path = tmp_path / "gone" / "exp3-ask-1.code"
    write(path, b"code")
    assert read(path) is None


def test_old_versions_are_removed(tmp_path: Path) -> None:
    """All but the newest few of the same name, and whatever was not used for a month."""
    now = time.time()
    for age in range(KEPT_VERSIONS + 3):
        path = tmp_path / f"exp3-ask-{age}.code"
        path.write_bytes(b"")
        os.utime(path, (now - 100 * age - 100, now - 100 * age - 100))
    for name, age in (("hedge-ask-1.code", KEPT_FOR + 10), ("hedge-ask-2.code", 100)):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (now - age, now - age))
    write(tmp_path / "exp3-ask-new.code", b"code")
    left = {path.name for path in tmp_path.iterdir()}
    assert "exp3-ask-new.code" in left
    assert len([name for name in left if name.startswith("exp3")]) == KEPT_VERSIONS
    assert f"exp3-ask-{KEPT_VERSIONS + 2}.code" not in left
    assert ("hedge-ask-1.code" in left, "hedge-ask-2.code" in left) == (False, True)


def test_code_that_is_used_is_not_removed(tmp_path: Path) -> None:
    """Reading a file that was not used for a day makes it young again."""
    path = tmp_path / "exp3-ask-1.code"
    write(path, b"code")
    os.utime(path, (0, 0))
    read(path)
    assert time.time() - path.stat().st_mtime < 60


def test_the_name_depends_on_every_part() -> None:
    """Step, layout, width and sources are all in the hash."""
    names = {path_of("exp3-ask", *parts) for parts in (("a", "b"), ("a", "c"), ("ab", ""), ("a",))}
    assert len(names) == 4


def test_the_lock_lets_one_through(tmp_path: Path) -> None:
    """Held and released, and held again."""
    for _ in range(2):
        with locked(tmp_path / "exp3-ask-1.code"):
            assert (tmp_path / "exp3-ask-1.lock").exists()
    with locked(tmp_path / "gone" / "exp3-ask-1.code"):
        pass
