"""The check of words sees names, openings of docstrings and the word "place", and no more."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def check_words(load_tool):
    return load_tool("check_words")


def write(root: Path, text: str, name: str = "a.py") -> None:
    folder = root / "plugins/alpha/dovetail_alpha"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


NAMES = {
    "function": ("def found_it(): ...\n", "found_it: 'found'"),
    "class": ("class LeftAlone: ...\n", "LeftAlone: 'left_alone'"),
    "parameter": ("def f(*, told=1): ...\n", "told: 'told'"),
    "variable": ("places = 1\n", "places: 'places'"),
    "attribute": ("def f(self):\n    self._at_rest = 1\n", "_at_rest: 'at_rest'"),
    "unpacked": ("a, (b, asked) = f()\n", "asked: 'asked'"),
}


@pytest.mark.parametrize("text, message", NAMES.values(), ids=NAMES)
def test_names(check_words, tmp_path, capsys, text, message):
    write(tmp_path, text)
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 0}) == 1
    assert f"plugins/alpha/dovetail_alpha/a.py:{1 + text.count('self)')}: {message}; use " in (
        capsys.readouterr().out
    )


def test_names_of_modules(check_words, tmp_path, capsys):
    write(tmp_path, "", "elsewhere.py")
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 0}) == 1
    assert "elsewhere.py:1: elsewhere: 'elsewhere'" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["What", "Whether", "How", "Where", "Which", "Who", "When"])
def test_openings(check_words, tmp_path, capsys, word):
    write(tmp_path, f'def f():\n    """{word} it is."""\n')
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 0}) == 1
    assert f"a.py:2: a docstring begins with '{word}'" in capsys.readouterr().out


def test_places_are_counted(check_words, tmp_path, capsys):
    write(tmp_path, "# a place and places\nreplaced = 'no place'\n")
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 3}) == 0
    assert "place: 3 (at most 3)" in capsys.readouterr().out
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 2}) == 1
    assert "a.py:2: place: replaced = 'no place'" in capsys.readouterr().out


FINE = """
\"\"\"Returns what was found at its place; whatever.\"\"\"
def replace_in_place(placement, rest, wholesale, Whence):
    \"\"\"However it is.\"\"\"
    # What is kept of it; whether it is.
    x.found = 1 if y.told else placement.founding
def place(a): ...
"""


def test_other_words(check_words, tmp_path, capsys):
    write(tmp_path, FINE.replace("x.found = 1 if", "x = 1 if").lstrip())
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 2}) == 0
    write(tmp_path, FINE.lstrip())
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 2}) == 1
    assert "a.py:5: found" in capsys.readouterr().out


def test_tests_and_templates_are_not_read(check_words, tmp_path, capsys):
    for folder in ("tests", "dovetail_alpha/template"):
        path = tmp_path / "plugins/alpha" / folder
        path.mkdir(parents=True)
        (path / "a.py").write_text("found = 1\n")
    assert check_words.main([], tmp_path, {"names": 0, "openings": 0, "place": 0}) == 0
    assert check_words.main(["plugins"], tmp_path, {"names": 0, "openings": 0, "place": 0}) == 0
    capsys.readouterr()
