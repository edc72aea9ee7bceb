"""The tool that counts the kernel's lines counts code alone, and refuses more than its bound."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def kernel_size(load_tool):
    return load_tool("kernel_size")


TEXT = '''"""A module.

Its docstring has three lines."""

# A comment.
import os  # and another

__all__ = (
    "A",
)


class A:
    """A class."""

    x = 1
    """An attribute."""

    def f(self):
        return """two
lines"""
'''


def test_code_alone_is_counted(kernel_size):
    assert kernel_size.code_lines(TEXT) == 6  # import, class, x, def, and a string of two lines
    assert kernel_size.code_lines("") == 0
    assert kernel_size.code_lines("x = [\n    1,\n\n    2,\n]\n") == 4


def test_files_and_folders_are_counted(tmp_path, kernel_size):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.py").write_text("x = 1\n")
    (tmp_path / "a/d.py").write_text("y = 1\nz = 2\n")
    assert kernel_size.size(tmp_path, ["a"]) == 3 and kernel_size.size(tmp_path, ["a/d.py"]) == 2
    with pytest.raises(FileNotFoundError, match="nothing"):
        kernel_size.size(tmp_path, ["a/nothing.py"])


def test_the_kernel_keeps_its_bounds(capsys, kernel_size):
    assert kernel_size.main() == 0
    assert "folders (at most " in capsys.readouterr().out


def test_a_larger_kernel_is_refused(capsys, kernel_size):
    assert kernel_size.main(bounds={"folders": 10, "all": 10**6}) == 1
    text = capsys.readouterr().out
    assert "the kernel (folders) has" in text and "too many" in text and "(all) has" not in text


def test_every_folder_of_the_kernel_is_counted(kernel_size):
    core = kernel_size.ROOT / "core/dovetail_core"
    folders = {f"core/dovetail_core/{p.name}" for p in core.iterdir() if list(p.glob("*.py"))}
    counted = {path for part in kernel_size.PARTS.values() for path in part}
    assert folders <= counted
    assert {f"core/dovetail_core/{p.name}" for p in core.glob("*.py")} <= counted
