"""The changes that mutation testing makes: which there are, that they parse, what is left alone."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

FILE = Path(__file__).parents[2] / "tools/mutants.py"
spec = importlib.util.spec_from_file_location("mutants", FILE)
mutants = sys.modules["mutants"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutants)

SOURCE = '''"""A docstring."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    LIMIT = 1

Alias = dict[str, 0]
__all__ = ["f"]


class C:
    __slots__ = ("a",)

    def __repr__(self):
        return "C"


def f(x: Any = 1, *, é: "Any" = "θ") -> "Any":
    """Says 0."""
    if x is None and not é:
        raise ValueError(f"{x} is 0")
    g(x, é + 2, key=True)
    for y in x:
        if y < 3:
            continue
        x += 1
    return [y for y in x if y]
'''


def found(tmp_path: Path) -> list:
    (tmp_path / "a.py").write_text(SOURCE)
    return mutants.mutants(tmp_path, "a.py")


def test_each_kind_of_change_is_made(tmp_path):
    made = {m.kind: set() for m in found(tmp_path)}
    for m in found(tmp_path):
        made[m.kind].add((m.old.strip(), m.new.strip()))
    condition = "if x is None and not é:"
    assert made["comparison"] >= {
        (condition, "if (x is not None) and not é:"),
        ("if y < 3:", "if (y <= 3):"),
        ("if y < 3:", "if (y >= 3):"),
    }
    assert made["boolean"] == {
        (condition, "if (x is None or not é):"),
        (condition, "if x is None and (é):"),
    }
    assert made["condition"] >= {
        (condition, "if True:"),
        (condition, "if False:"),
        ("return [y for y in x if y]", "return [y for y in x if (not y)]"),
    }
    call = "g(x, é + 2, key=True)"
    assert made["argument"] == {
        (call, "g(é + 2, key=True)"),
        (call, "g(x, key=True)"),
        (call, "g(x, é + 2)"),
        (call, "g(é + 2, x, key=True)"),
    }
    assert made["arithmetic"] == {(call, "g(x, (é - 2), key=True)"), ("x += 1", "x -= 1")}
    assert made["raise"] == {('raise ValueError(f"{x} is 0")', "pass")}
    assert made["statement"] == {(call, "pass"), ("continue", "pass")}
    assert made["return"] == {("return [y for y in x if y]", "return None")}
    assert made["assignment"] == {("x += 1", "pass")}
    assert (call, "g(x, é + 2, key=False)") in made["constant"]


def test_what_no_test_should_tell_apart_is_left_alone(tmp_path):
    lines = {m.old.strip() for m in found(tmp_path)}
    left = ("docstring", "LIMIT", "Alias", "__all__", "__slots__", 'return "C"', "Says")
    assert not [line for line in lines if any(word in line for word in left)]
    header = next(m for m in found(tmp_path) if m.old.startswith("def f"))
    assert not header.inside, "defaults are evaluated on import"


def test_every_mutant_is_another_program(tmp_path):
    source = SOURCE.encode()
    same = ast.dump(ast.parse(source))
    some = found(tmp_path)
    assert len({m.key for m in some}) == len(some) > 30
    for m in some:
        assert ast.dump(ast.parse(m.applied(source))) != same
