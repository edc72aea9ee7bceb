"""The rooflines of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_ad as ad
import dovetail_numpy as dnp
from dovetail_core import dce_closed, here, is_inexact
from dovetail_jit import ShapeDtypeStruct, eval_shape, make_jaxpr
from dovetail_tree.util import tree_map

from .counting import Options, count
from .results import RooflineResult


def roofline(
    f: Callable[..., Any],
    mesh: Any = None,
    in_specs: Any = None,
    out_specs: Any = None,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    vjp: bool = False,
    print_jaxpr: bool = False,
) -> Callable[..., tuple[Any, RooflineResult]]:
    """Count what ``f`` computes and what memory it moves on one device; ``f`` is traced, not run.

    A loop counts its body as often as it runs, where that is known, else once; of branches the
    costliest counts. What no result needs does not count. Costs are those of the rule tables
    ``experimental.roofline`` (:func:`register_roofline`) and ``experimental.cost``.

    Args:
        f: a function of pytrees of arrays.
        mesh, in_specs, out_specs: None; programs on several devices have no rooflines.
        pin_lhs_in_vmem, pin_rhs_in_vmem: left, right operands of products are not read from memory.
        vjp: count the derivative of ``f`` by all arguments instead: what is computed forwards, and
            backwards.
        print_jaxpr: print the program that is counted.

    Returns: a function of the arguments of ``f`` (arrays, or their shapes and dtypes) to the types
        of its results, and a :class:`RooflineResult`.

    Raises:
        NotImplementedError: a mesh or specs are given.
    """
    _check_one_device("roofline", mesh, in_specs, out_specs)
    options = Options(mesh, bool(pin_lhs_in_vmem), bool(pin_rhs_in_vmem))

    def derivative(*args: Any) -> Any:
        outs, pullback = ad.vjp(f, *args)
        return outs, pullback(tree_map(dnp.ones_like, outs))

    def counted(*args: Any) -> tuple[Any, RooflineResult]:
        program = make_jaxpr(derivative if vjp else f)(*args)
        program, _ = dce_closed(program, [True] * len(program.out_avals), True)
        if print_jaxpr:
            print(program)
        return eval_shape(f, *args), count(program, options)

    return counted


def roofline_and_grad(
    f: Callable[..., Any],
    mesh: Any,
    in_specs: Any,
    out_specs: Any,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    print_jaxpr: bool = False,
) -> Callable[..., tuple[Any, RooflineResult, RooflineResult]]:
    """The rooflines of ``f``, and of its derivative in bfloat16.

    Arguments and errors are those of :func:`roofline`.

    Returns: a function of the arguments of ``f`` to the types of its results, its roofline, and
        that of its derivative where floating-point arguments are bfloat16.
    """
    _check_one_device("roofline_and_grad", mesh, in_specs, out_specs)
    pins = {"pin_lhs_in_vmem": pin_lhs_in_vmem, "pin_rhs_in_vmem": pin_rhs_in_vmem}

    def half(x: Any) -> Any:
        result = eval_shape(lambda x: x, x)
        short = is_inexact(result) and dnp.issubdtype(result.dtype, dnp.floating)
        return ShapeDtypeStruct(result.shape, dnp.bfloat16) if short else result

    def counted(*args: Any) -> tuple[Any, RooflineResult, RooflineResult]:
        outs, forwards = roofline(f, **pins, print_jaxpr=print_jaxpr)(*args)
        derivative = roofline(f, **pins, vjp=True, print_jaxpr=print_jaxpr)
        return outs, forwards, derivative(*tree_map(half, args))[1]

    return counted


def _check_one_device(what: str, *given: Any) -> None:
    if any(x is not None for x in given):
        raise NotImplementedError(
            f"{what}{here()}: programs on several devices have no rooflines. Pass None as mesh, "
            "in_specs and out_specs, and a function of what one device holds."
        )
