"""Programs as authors build and read them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dovetail_base.source import Source, current_source
from dovetail_base.source_info import SourceInfo
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Jaxpr as KernelJaxpr,
    Primitive,
    Var,
    eval_jaxpr as _eval_jaxpr,
    programs,
)
from dovetail_jax_names.debug_info import DebugInfo

from .classes import Covering


class Jaxpr(KernelJaxpr, metaclass=Covering):
    """A program, made as JAX's are. Every open program of Dovetail is an instance."""

    __slots__ = ()
    _covers = KernelJaxpr

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Any],
        eqns: Sequence[Eqn],
        effects: Any = None,
        debug_info: DebugInfo | None = None,
        is_high: bool | None = None,
    ) -> None:
        if debug_info is None:
            text = "Jaxpr without debug_info is deprecated: pass api_util.debug_info(...)"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        given = None if effects is None else frozenset(effects)
        super().__init__(
            constvars, invars, outvars, eqns, effects=given, debug_info=debug_info, is_high=is_high
        )


class DropVar(Var):
    """A result that nothing uses."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "_"


def new_jaxpr_eqn(
    invars: Sequence[Any],
    outvars: Sequence[Var],
    primitive: Primitive,
    params: dict[str, Any],
    effects: Any,
    source_info: SourceInfo | Source | None = None,
    ctx: Any = None,
) -> Eqn:
    """An equation; at the user's line that runs now, if ``source_info`` does not say another."""
    source = source_info.source if isinstance(source_info, SourceInfo) else source_info
    source = current_source() if source is None else source
    return Eqn(primitive, list(invars), list(outvars), params, frozenset(effects), source)


def eval_jaxpr(
    jaxpr: KernelJaxpr | ClosedJaxpr,
    consts: Sequence[Any],
    *args: Any,
    propagate_source_info: bool = True,
) -> list[Any]:
    """Run a program under the current trace, equation by equation."""
    if isinstance(jaxpr, ClosedJaxpr):
        jaxpr, consts = jaxpr.jaxpr, consts or jaxpr.consts
    return _eval_jaxpr(jaxpr, list(consts), *args)


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr, *args: Any) -> Any:
    """The program as a function of its inputs; given these, its results."""
    if args:
        return eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args)

    def run(*args: Any) -> list[Any]:
        return eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args)

    return run


def jaxprs_in_params(params: Mapping[str, Any]) -> Iterator[KernelJaxpr]:
    """The sub-programs in an equation's parameters."""
    for value in params.values():
        yield from map(programs.open_program, programs.subprograms(value))


def subjaxprs(jaxpr: KernelJaxpr) -> Iterator[KernelJaxpr]:
    """The sub-programs in a program's equations, those inside of them left out."""
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


def gensym() -> Callable[[AbstractValue], Var]:
    """The function that makes new variables of a type."""
    return Var
