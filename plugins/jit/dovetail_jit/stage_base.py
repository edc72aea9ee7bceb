"""The base of the stages of a function: its arguments and results, their names and formats."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dovetail_core import AbstractValue, ClosedJaxpr, low_types
from dovetail_tree.util import keystr, tree_flatten_with_path, tree_unflatten
from dovetail_xla import execution

from .structs import ArgInfo, Format, Layout, shape_struct

if TYPE_CHECKING:
    from .call.executable import Executable
    from .call.program import Program


class Stage:
    """The base of the stages: the arguments and the result of the call.

    Trees of arguments are pairs of a tuple and a dict: those by position and those by keyword, the
    static ones left out.
    """

    in_tree: Any
    out_tree: Any
    _program: Program
    _donated: Sequence[bool]

    def _types(self) -> Sequence[AbstractValue]:
        return self._program.call.in_avals[len(self._program.consts) :]

    def _arguments(self, leaves: Sequence[Any]) -> Any:
        return tree_unflatten(self.in_tree, list(leaves))

    @property
    def in_avals(self) -> Any:
        """The types of the arguments."""
        return self._arguments(self._types())

    @property
    def args_info(self) -> Any:
        """An ``ArgInfo`` for each argument."""
        given = set(self.donate_argnums)
        return self._arguments([ArgInfo(a, i in given) for i, a in enumerate(self._types())])

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The numbers of the arguments that are donated, the leaves of ``in_avals`` counted."""
        flags = self._donated[len(self._program.consts) :]
        return tuple([i for i, donated in enumerate(flags) if donated])

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the result."""
        return tree_unflatten(self.out_tree, [shape_struct(a) for a in self._result_types()])

    def _result_types(self) -> Sequence[AbstractValue]:
        return self._program.call.out_avals


def argument_formats(executable: Executable, program: Program) -> list[Format]:
    """The format of each argument of a program; without a layout for what is made of arrays."""
    kept = iter(executable.module.kept)
    constants = len(executable.constants)
    layouts = iter(execution.parameter_layouts(executable.loaded)[constants:])
    shardings = iter(executable.ins[constants:])
    result: list[Format] = []
    for aval in program.call.in_avals:
        arrays = low_types(aval.content_types() if aval.is_mutable else (aval,))
        own = [(next(layouts), next(shardings)) for _ in arrays if next(kept)]
        layout = Layout(*own[0][0]) if own and len(arrays) == 1 else None
        result.append(Format(layout, own[0][1] if own else None))
    return result[len(program.consts) :]


def result_formats(executable: Executable, types: Sequence[AbstractValue]) -> list[Format]:
    """The format of each result; without a layout where one is made of arrays."""
    if any(a.is_high for a in types):
        shardings = iter(executable.outs)
        own = [[next(shardings) for _ in low_types((a,))] for a in types]
        return [Format(None, s[0] if s else executable.sharding) for s in own]
    layouts = execution.output_layouts(executable.loaded)
    pairs = zip(layouts, executable.outs, types)
    return [Format(Layout(*layout), where) for layout, where, _ in pairs]


def leaf_names(fun: Any, in_tree: Any, static_nums: Sequence[int]) -> list[str]:
    """A name for each leaf of a call's dynamic arguments: ``x``, ``state['speed']``."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    static = {n % len(positional) for n in static_nums} if positional else set(static_nums)
    dynamic = [n for i, n in enumerate(positional) if i not in static]
    numbers = tree_unflatten(in_tree, list(range(in_tree.num_leaves)))
    result: list[str] = []
    for path, _ in tree_flatten_with_path(numbers)[0]:
        head: Any = path[1]
        if path[0].idx == 0:  # type: ignore[attr-defined]
            known = head.idx < len(dynamic)
            name = dynamic[head.idx] if known else f"args[{head.idx}]"
        else:
            name = str(head.key)
        result.append(name + keystr(path[2:]))
    return result


def array_names(program: ClosedJaxpr, consts: int, leaves: Sequence[str]) -> list[str]:
    """A name for each array that a lowered program takes; "" for what it closes over.

    The arrays of a high value are named after it, by number: ``q.0``, ``q.1``.
    """
    result: list[str] = []
    for aval, name in zip(program.in_avals, [*[""] * consts, *leaves]):
        held = low_types(aval.content_types() if aval.is_mutable else (aval,))
        is_array = not (aval.is_mutable or aval.is_high)
        result += [name if is_array or not name else f"{name}.{i}" for i in range(len(held))]
    return result


def result_names(out_tree: Any) -> list[str]:
    """The path of each leaf in a result: ``result['speed']``."""
    numbers = tree_unflatten(out_tree, list(range(out_tree.num_leaves)))
    return ["result" + keystr(path) for path, _ in tree_flatten_with_path(numbers)[0]]
