"""Valid calls, and how wrong inputs are made of them: arguments replaced or added, as texts."""

from __future__ import annotations

import ast
import copy
import inspect
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .hostile import HOSTILE, KIND_OF

_ALTERNATIVES = re.compile(r"\{([A-Za-z_][A-Za-z0-9_ ]*)\}")
_SUBJECT = re.compile(r"^([A-Za-z_][\w.]*): (.*)$")


@dataclass(frozen=True)
class Valid:
    """A call that is right, and which calls in it are attacked: all, or those of ``subject``."""

    area: str
    text: str
    subject: str


@dataclass(frozen=True)
class Place:
    """An argument of a call in a valid text: given (by position or name), or to be added."""

    valid: Valid
    call: int
    function: str
    argument: int | str
    added: bool = False


@dataclass(frozen=True)
class Wrong:
    """A text with hostile arguments at some places."""

    text: str
    area: str
    function: str
    arguments: tuple[int | str, ...]
    values: tuple[str, ...]
    traced: bool = False

    @property
    def kind(self) -> str:
        """Its row in tables of tries."""
        if self.traced:
            return "traced values where known ones belong"
        return KIND_OF[self.values[0]] if len(self.values) == 1 else "two wrong arguments"


@cache
def valid_calls() -> tuple[Valid, ...]:
    """All valid calls of the files, in order."""
    result: list[Valid] = []
    for file in sorted((Path(__file__).parent / "calls").glob("*.txt")):
        for line in file.read_text().splitlines():
            if line and not line.startswith("#"):
                result += [_valid(file.stem, text) for text in alternatives(line)]
    return tuple(result)


def alternatives(line: str) -> Iterator[str]:
    """The texts of a line, in which ``{a b}`` stands for ``a`` in one and ``b`` in the other."""
    groups = _ALTERNATIVES.findall(line)
    if not groups or "'" in line[: line.index("{")]:
        yield line
        return
    for name in groups[0].split():
        yield _ALTERNATIVES.sub(name, line)


def _valid(area: str, text: str) -> Valid:
    result = _SUBJECT.match(text)
    return Valid(area, result[2], result[1]) if result else Valid(area, text, "")


def _calls(tree: ast.AST, subject: str) -> list[ast.Call]:
    """The calls under attack: of dotted names, and of what such calls return."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    if subject:
        return [c for c in calls if ast.unparse(c.func) == subject]
    simple = ("custom_jvp", "custom_vjp")
    return [
        c
        for c in calls
        if not isinstance(c.func, ast.Name) or c.func.id in simple
        if ast.unparse(c.func) not in ("key.__add__",)
    ]


def places(valid: Valid, names: dict[str, Any]) -> list[Place]:
    """Every argument that may go wrong; parameters left out are read off signatures."""
    result: list[Place] = []
    tree = ast.parse(valid.text, mode="eval")
    for n, call in enumerate(_calls(tree, valid.subject)):
        function = ast.unparse(call.func)
        given: list[int | str] = [*range(len(call.args))]
        given += [k.arg for k in call.keywords if k.arg]
        result += [Place(valid, n, function, a) for a in given]
        added = _left_out(call, function, names)
        result += [Place(valid, n, function, a, added=True) for a in added]
    return result


def _left_out(call: ast.Call, function: str, names: dict[str, Any]) -> list[str]:
    if not re.fullmatch(r"[\w.]+", function):
        return []
    try:
        parameters = inspect.signature(eval(function, dict(names))).parameters.values()
    except (TypeError, ValueError, NameError, AttributeError):
        return []
    named = [k.arg for k in call.keywords]
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    rest = [p for p in parameters if p.kind is not inspect.Parameter.POSITIONAL_ONLY]
    positional = len(call.args)
    if len(rest) < len(parameters):
        positional -= len(parameters) - len(rest)
    return [
        p.name
        for n, p in enumerate(rest)
        if p.kind in kinds and p.name not in named and not p.name.startswith("_")
        if p.kind is inspect.Parameter.KEYWORD_ONLY or n >= positional
    ]


def wrong(*at: tuple[Place, str]) -> Wrong:
    """The text of one valid call with hostile values at these places of it."""
    valid = at[0][0].valid
    tree = ast.parse(valid.text, mode="eval")
    calls = _calls(tree, valid.subject)
    for place, value in at:
        _put(calls[place.call], place, ast.parse(value, mode="eval").body)
    first = at[0][0]
    arguments = tuple(p.argument for p, _ in at)
    return Wrong(ast.unparse(tree), valid.area, first.function, arguments, tuple(v for _, v in at))


def _put(call: ast.Call, place: Place, value: ast.expr) -> None:
    if isinstance(place.argument, int):
        call.args[place.argument] = value
        return
    for keyword in call.keywords:
        if keyword.arg == place.argument:
            keyword.value = value
            return
    call.keywords.append(ast.keyword(place.argument, value))


def traced(place: Place) -> Wrong:
    """The call inside of ``jit``, with a traced value in place of an argument."""
    valid = place.valid
    tree = ast.parse(valid.text, mode="eval")
    call = _calls(tree, valid.subject)[place.call]
    before = copy.deepcopy(call)
    _put(call, place, ast.Name("traced", ast.Load()))
    value = "1"
    if isinstance(place.argument, int):
        value = ast.unparse(before.args[place.argument])
    text = f"dv.jit(lambda traced: {ast.unparse(tree)})({value})"
    return Wrong(text, valid.area, place.function, (place.argument,), (value,), traced=True)


def random_wrong(rng: random.Random, names: dict[str, Any], area: str | None = None) -> Wrong:
    """A wrong input drawn at random: one argument, sometimes two, sometimes a traced one."""
    calls = [c for c in valid_calls() if area in (None, c.area)]
    while True:
        result = places(rng.choice(calls), names)
        if result:
            break
    place, how = rng.choice(result), rng.random()
    if how < 0.06:
        return traced(place)
    at = [(place, _value(rng))]
    others = [p for p in result if p.call == place.call and p != place]
    if how > 0.85 and others:
        at.append((rng.choice(others), _value(rng)))
    return wrong(*at)


def _value(rng: random.Random) -> str:
    return rng.choice(HOSTILE[rng.choice([*HOSTILE])])
