"""Differences between two calls of one function, argument by argument."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from struct import unpack
from typing import Any, NamedTuple

from dovetail_base.source import short_repr
from dovetail_core import axis_names
from dovetail_jit import Signature
from dovetail_tree.errors import tree_differences
from dovetail_tree.util import keystr, tree_flatten_with_path, tree_unflatten
from dovetail_xla.config import context_by_name


class Kind(NamedTuple):
    """A way in which calls differ: its text and a remedy."""

    name: str
    remedy: str


KINDS = {
    "shape": Kind(
        "another shape",
        "Pad arrays to a few shapes, or take the part that varies out of the function.",
    ),
    "dtype": Kind("another dtype", "Convert the argument to one dtype before the call (x.astype)."),
    "weak type": Kind(
        "a Python number is not an array",
        "Give the argument either as Python numbers or as arrays, always.",
    ),
    "type": Kind("another type", "Give values of one type."),
    "structure": Kind(
        "another structure",
        "Give trees of one structure, with None or empty arrays for what is missing.",
    ),
    "arguments": Kind(
        "passed in another way", "Pass the arguments in one way, by position or by name."
    ),
    "static": Kind(
        "a static argument",
        "Each value of a static argument is a program of its own: pass what takes many values as "
        "an ordinary argument.",
    ),
    "option": Kind("an option", "Set options once, before the first call."),
    "axes": Kind("named axes", "Give the named axes around the call the same names and sizes."),
}
"""The kinds of differences between calls, the weightiest last."""
_WEIGHTS = {kind: 1 + i for i, kind in enumerate(KINDS)}


COMPARED = 64
"""The number of earlier calls that a call is compared with."""


class Difference(NamedTuple):
    """A difference between calls: its subject, its kind, and the values now and before.

    Attributes:
        size: the amount of the difference, by which the nearest call is chosen.
    """

    what: str
    kind: str
    now: str = ""
    before: str = ""
    size: int = 1

    @property
    def change(self) -> str:
        """``x: f32[3], before f32[4]``."""
        return f"{self.what}: {self.now}, before {self.before}" if self.now else self.what


class Argument(NamedTuple):
    """An argument of a call: by position or name, its structure, and its leaves with types."""

    given: str
    tree: Any
    leaves: dict[str, Any]


def nearest(function: Any, now: Signature, earlier: Sequence[Signature]) -> list[Difference] | None:
    """The differences from the nearest earlier call, the latest of several; None without any.

    The last ``COMPARED`` calls are compared.
    """
    result: list[Difference] | None = None
    for before in reversed(earlier[-COMPARED:]):
        here = differences(function, now, before)
        if result is None or distance(here) < distance(result):
            result = here
    return result


def distance(result: Sequence[Difference]) -> tuple[int, int]:
    """The distance of two calls: the number of differences, and their weight."""
    return sum(d.size for d in result), sum(_WEIGHTS.get(d.kind, 0) for d in result)


def differences(function: Any, now: Signature, before: Signature) -> list[Difference]:
    """The differences between two calls; empty if they are equal."""
    result = [*_statics(function, now, before)]
    if now.in_tree != before.in_tree or now.avals != before.avals:
        result += _arguments(arguments_of(function, now), arguments_of(function, before))
    here, there = context_by_name(now.context), context_by_name(before.context)
    for name, value in here.items():
        if value != there.get(name):
            known = name.removeprefix("dovetail_")
            if known == "generation":
                result.append(Difference("a plugin registered rules meanwhile", "option"))
            else:
                result.append(Difference(known, "option", repr(value), repr(there.get(name))))
    if now.axes != before.axes:
        result.append(
            Difference(
                "the call",
                "axes",
                axis_names.describe_axes_key(now.axes),
                axis_names.describe_axes_key(before.axes),
            )
        )
    if not result and now != before:
        result.append(Difference("a static argument", "arguments"))
    return result


def _statics(function: Any, now: Signature, before: Signature) -> Iterator[Difference]:
    here, there = _static_values(function, now), _static_values(function, before)
    for name in dict.fromkeys([*here, *there]):
        a, b = here.get(name), there.get(name)
        if a != b:
            shown = ["not given" if x is None else shown_key(x[0]) for x in (a, b)]
            if shown[0] == shown[1]:
                shown = [f"{shown[0]} (an object that does not equal it)", shown[1]]
            yield Difference(name, "static", shown[0], shown[1])


def _static_values(function: Any, signature: Signature) -> dict[str, tuple[Any]]:
    if not signature.statics:
        return {}
    by_position, by_name = signature.statics
    names = parameter_names(function)
    result = {_positional(names, i): (key,) for i, key in by_position}
    return result | {name: (key,) for name, key in by_name}


def shown_key(key: Any) -> str:
    """The text of a static argument, from its key (see :func:`exact_key`)."""
    if not (isinstance(key, tuple) and len(key) == 2):
        return short_repr(key)
    kind, value = key
    if kind is float and isinstance(value, bytes):
        return repr(unpack("dd", value)[0])
    if kind is complex and isinstance(value, bytes):
        return repr(complex(*unpack("dd", value)))
    if isinstance(kind, type) and issubclass(kind, tuple):
        inner = ", ".join(map(shown_key, value))
        return f"({inner}{',' if len(value) == 1 else ''})"
    return short_repr(value)


def parameter_names(function: Any) -> list[str]:
    """The names of a function's positional parameters; empty if its signature is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in kinds]


def _positional(names: Sequence[str], i: int) -> str:
    return names[i] if i < len(names) else f"args[{i}]"


def arguments_of(function: Any, signature: Signature) -> dict[str, Argument]:
    """The dynamic arguments of a call, by name."""
    statics = {i for i, _ in signature.statics[0]} if signature.statics else set[int]()
    names = parameter_names(function)
    free = [_positional(names, i) for i in range(len(names)) if i not in statics]
    by_position, by_name = signature.in_tree.children()
    given = [(_positional(free, i), "by position", t) for i, t in enumerate(by_position.children())]
    keys = by_name.node_data()[1]
    given += [(str(k), "by name", t) for k, t in zip(keys, by_name.children())]
    result, start = dict[str, Argument](), 0
    for name, how, tree in given:
        labels = _labels(name, tree)
        result[name] = Argument(how, tree, dict(zip(labels, signature.avals[start:])))
        start += tree.num_leaves
    return result


def _labels(name: str, tree: Any) -> list[str]:
    """A name for each leaf of an argument: ``state['speed']``."""
    try:
        paths = tree_flatten_with_path(tree_unflatten(tree, range(tree.num_leaves)))[0]
    except Exception:  # a container of the user's that refuses such children
        return [f"{name}, leaf {i}" for i in range(tree.num_leaves)]
    return [f"{name}{keystr(path)}" for path, _ in paths]


def _arguments(now: dict[str, Argument], before: dict[str, Argument]) -> Iterator[Difference]:
    for name in dict.fromkeys([*now, *before]):
        a, b = now.get(name), before.get(name)
        if a is None or b is None or a.given != b.given:
            shown = [x.given if x is not None else "not given" for x in (a, b)]
            yield Difference(name, "arguments", shown[0], shown[1])
        if a is None or b is None:
            continue
        if a.tree != b.tree:
            yield from _structures(name, a.tree, b.tree)
        else:
            for leaf, aval in a.leaves.items():
                yield from type_difference(leaf, aval, b.leaves[leaf])


def _structures(name: str, now: Any, before: Any) -> Iterator[Difference]:
    lines = [x.partition(": ") for x in tree_differences(now, before)]
    for location, _, text in lines:
        path = location.removeprefix("at ").replace("the root", "")
        here, against, there = text.partition(" against ")
        if against:
            yield Difference(f"{name}{path}", "structure", here, there)
        else:
            changed = text.replace("in the first", "now").replace("in the second", "before")
            yield Difference(f"{name}{path}: {changed}", "structure")
    if not lines:  # metadata whose difference nobody can tell
        yield Difference(name, "structure", str(now), str(before))


def type_difference(what: str, now: Any, before: Any) -> Iterator[Difference]:
    """The difference of two types, if there is one."""
    if now == before:
        return
    differing = [
        kind
        for kind, attribute in _ATTRIBUTES.items()
        if getattr(now, attribute, None) != getattr(before, attribute, None)
    ] or ["type"]
    yield Difference(what, differing[0], now.str_short(), before.str_short(), len(differing))


_ATTRIBUTES = {"shape": "shape", "dtype": "dtype", "weak type": "weak_type"}


def _axes_text(key: tuple[Any, ...]) -> str:
    """A result of ``axes_key`` in words: ``'i' of size 3, 'x' of size 2 (of a mesh)``."""
    if not key:
        return "none"
    manual = dict(key[1])
    return ", ".join(_axis_text(name, size, manual.get(name)) for name, size in key[0])


def _axis_text(name: Any, size: int, checked: bool | None) -> str:
    kind = "" if checked is None else " (of a mesh)" if checked else " (of a mesh, unchecked)"
    return f"{name!r} of size {size}{kind}"
