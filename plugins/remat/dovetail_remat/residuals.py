"""The residuals that reverse-mode differentiation of a function keeps, as records and as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal as Choice

from dovetail_ad import linearize
from dovetail_base.foreign import reword_errors
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    RegionInterface,
    Var,
    callable_name,
    stage,
    typeof,
)
from dovetail_cost import nbytes
from dovetail_tree.util import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_unflatten,
)

from .primitive import name_p, place_p

Kind = Choice["argument", "constant", "name", "operation"]


@dataclass(frozen=True)
class SavedResidual:
    """One value that is kept from the first pass for the backward pass.

    Attributes:
        aval: its type.
        kind: an ``argument`` of the function, a ``constant`` that the function closes over, a value
            with a ``name`` (see ``checkpoint_name``), or the result of an ``operation``.
        name: the argument's path (``"params['w']"``), the value's name, or the operation's.
        source: the user's source line, if any: ``"FILE:LINE (FUNCTION)"``.
        memory: the memory that it is moved to between the passes, if any.
        loop: the loops over whose iterations it is stacked, innermost first.
    """

    aval: AbstractValue
    kind: Kind
    name: str
    source: str = ""
    memory: str = ""
    loop: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return nbytes(self.aval)

    def __str__(self) -> str:
        what = {
            "argument": f"from the argument {self.name}",
            "constant": "from a constant",
            "name": f"named {self.name!r}",
            "operation": f"output of {self.name}",
        }[self.kind]
        stacked = "".join(f" in each step of {loop}" for loop in self.loop)
        memory = f" in memory {self.memory!r}" if self.memory else ""
        source = f" from {self.source}" if self.source else ""
        return f"{self.aval.str_short()} {what}{stacked}{memory}{source}"


@reword_errors
def saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[SavedResidual]:
    """The values that reverse-mode differentiation of ``f`` at these arguments keeps.

    Args:
        f: a function of pytrees of arrays. args, kwargs: its arguments, or their types
            (``ShapeDtypeStruct``); nothing is computed.

    Returns: a record of each value, arguments first, in the order of the program.
    """
    paths = [path for path, _ in tree_flatten_with_path((args, kwargs))[0]]
    program = linearization(f, args, kwargs)
    names = [_argument_name(f, path) for path in paths]
    inputs = dict(zip(program.jaxpr.invars, names))
    unique = dict.fromkeys(v for v in program.jaxpr.outvars if isinstance(v, Var))
    records = [_describe(program.jaxpr, v, inputs) for v in unique]
    order = ("argument", "constant", "name", "operation")
    early = [r for k in order[:2] for r in records if r.kind == k]
    return early + [r for r in records if r.kind in order[2:]]


@reword_errors
def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print what :func:`saved_residuals` returns, a line for each value."""
    for record in saved_residuals(f, *args, **kwargs):
        print(record)


def linearization(f: Callable[..., Any], args: Any, kwargs: Any) -> ClosedJaxpr:
    """The program from the leaves of the arguments to the residuals of ``f``."""
    leaves, in_tree = tree_flatten((args, kwargs))

    def flat(*xs: Any) -> list[Any]:
        args, kwargs = tree_unflatten(in_tree, xs)
        return tree_leaves(linearize(lambda *a: f(*a, **kwargs), *args)[1])

    jaxpr, consts = stage(flat, [typeof(x) for x in leaves], callable_name(f))
    return ClosedJaxpr(jaxpr, consts)


def _argument_name(f: Callable[..., Any], path: Sequence[Any]) -> str:
    """The leaf at ``path`` of ``(args, kwargs)``, named by the parameters of ``f``."""
    which, key, rest = path[0].idx, path[1], path[2:]
    if which == 1:
        return f"{key.key}{keystr(rest)}"
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return f"args[{key.idx}]{keystr(rest)}"
    for i, p in enumerate(parameters[: key.idx + 1]):
        if p.kind is p.VAR_POSITIONAL:
            return f"{p.name}[{key.idx - i}]{keystr(rest)}"
    return f"{parameters[key.idx].name}{keystr(rest)}"


def _describe(jaxpr: Jaxpr, var: Var, inputs: dict[Var, str]) -> SavedResidual:
    if var in inputs:
        return SavedResidual(var.aval, "argument", inputs[var])
    return _trace_back(jaxpr, var, var.aval, inputs, (), "")


def residual_record(jaxpr: Jaxpr, var: Var) -> SavedResidual:
    """The record of a value of a program whose inputs have no names."""
    return _trace_back(jaxpr, var, var.aval, {}, (), "")


def _trace_back(
    jaxpr: Jaxpr,
    var: Any,
    aval: AbstractValue,
    inputs: dict[Var, Any],
    loop: tuple[str, ...],
    memory: str,
) -> SavedResidual:
    """The record of the operation that defines ``var``, searched in calls and loops."""
    eqn = next((e for e in jaxpr.eqns if var in e.outvars), None)
    if eqn is None:
        known = inputs.get(var) if isinstance(var, Var) else None
        if isinstance(known, SavedResidual):
            return SavedResidual(aval, known.kind, known.name, known.source, memory, loop)
        kind: Kind = "argument" if known else "constant"
        return SavedResidual(aval, kind, known or "", memory=memory, loop=loop)
    if eqn.primitive is place_p:
        return _trace_back(jaxpr, eqn.invars[0], aval, inputs, loop, eqn.params["dst"])
    source = str(eqn.source) if eqn.source is not None else ""
    if eqn.primitive is name_p:
        return SavedResidual(aval, "name", eqn.params["name"], source, memory, loop)
    inner = _trace_into(eqn, eqn.outvars.index(var), jaxpr, aval, inputs, loop, memory)
    return inner or SavedResidual(aval, "operation", eqn.primitive.name, source, memory, loop)


def _trace_into(
    eqn: Eqn,
    result: int,
    jaxpr: Jaxpr,
    aval: AbstractValue,
    inputs: dict[Var, Any],
    loop: tuple[str, ...],
    memory: str,
) -> SavedResidual | None:
    """The record of the operation in a region that defines a result of a primitive with one region;
    None for other primitives."""
    if eqn.primitive.regions is None:
        return None
    interface: RegionInterface = eqn.primitive.regions(eqn.params)
    carried = interface.results[result].carried
    if len(interface.regions) != 1 or carried or interface.control is not None:
        return None
    region = interface.regions[0]
    inner = region.program.jaxpr
    out = inner.outvars[region.results.index(result)]
    if isinstance(out, Literal):
        return None
    if interface.result_depth(result):
        loop = (*loop, eqn.primitive.name)
    outer: dict[Var, Any] = {}
    for v, i in zip(inner.invars, region.operands):
        operand = eqn.invars[i]
        if v is out and isinstance(operand, Var):
            outer[v] = _trace_back(jaxpr, operand, aval, inputs, loop, memory)
    return _trace_back(inner, out, aval, outer, loop, memory)
