"""The forward Laplacian: every array with its Jacobian's rows and its Laplacian, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

import dovetail_tree.util as tree
from dovetail_core import Carrier, LiftTrace, RuleTable, algebra, is_inexact, lift_call, typeof

Jet = tuple[Any, ...]
"""An array; its derivatives by each of the n inputs, along a new first axis; its Laplacian. What is
left out at the end is zero: one entry is a constant, two are linear in the inputs."""

forward_rules: RuleTable[Callable[..., Any]] = RuleTable("laplacian.forward")
"""Rules are ``rule(carrier, args, params)``: from jets of the operands, of which at least one is
not constant, to the jet of the result (a list of them where there are multiple results)."""


class LaplacianTrace(LiftTrace[Jet]):
    """Runs operations on jets by the rules of ``laplacian.forward``."""

    __slots__ = ()
    what = "laplacian"


class LaplacianCarrier(Carrier[Jet, int]):
    """Lifted values are jets by ``size`` inputs; their structure is how many entries follow the
    first. Loops carry the Jacobian's rows behind the axes that they run over."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.key = ("laplacian", size)

    def trace(self, parent: Any) -> LaplacianTrace:
        return LaplacianTrace(parent, self, forward_rules)

    def pure(self, x: Any) -> Jet:
        return (x,)

    def aval(self, value: Jet) -> Any:
        return typeof(value[0])

    def structure(self, value: Jet, depth: int) -> int:
        return len(value) - 1

    def join_structures(self, a: int, b: int) -> int:
        return max(a, b)

    def types(self, aval: Any, structure: int) -> tuple[Any, ...]:
        rows = aval.update(shape=(self.size, *aval.shape)) if structure else None
        return (aval, rows, aval)[: structure + 1]

    def arrays(self, value: Jet, structure: int, depth: int) -> Jet:
        return _moved([self.entry(value, k) for k in range(structure + 1)], 0, depth)

    def value(self, arrays: Sequence[Any], structure: int, depth: int) -> Jet:
        return _moved(arrays, depth, 0)

    def known(self, value: Jet) -> Any:
        return value[0] if len(value) == 1 else None

    def primal(self, value: Jet) -> Any:
        return value[0]

    def entry(self, value: Jet, k: int) -> Any:
        """The array, the rows of its Jacobian, or its Laplacian."""
        if k < len(value):
            return value[k]
        return algebra().full(self.types(typeof(value[0]), k)[k], 0)


def forward_laplacian(f: Callable[..., Any]) -> Callable[..., tuple[Any, Any, Any]]:
    """Value, gradient and Laplacian of a function, in one forward pass.

    Args:
        f: a function of an array of real numbers, and perhaps of further arguments, which are
            constant.

    Returns: a function ``(x, *args, **kwargs)``, which returns three pytrees like the result of
        ``f``: its value; its gradient, with the axes of ``x`` behind those of the value; and its
        Laplacian, the sum of the second derivatives by each element of ``x``. (Where a result is
        not of floating-point or complex numbers, derivatives are zeros of its type.)

    Raises:
        TypeError: ``x`` is not an array of real floating-point numbers.
        MissingRule: ``f`` applies an operation that has no derivative either.
    """

    def transformed(x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        aval: Any = typeof(x)
        if not is_inexact(getattr(aval, "dtype", None)) or aval.dtype.kind == "c":
            raise TypeError(
                f"laplacian: x has type {aval.str_short()}; it must be one array of real "
                "floating-point numbers. Convert it, or concatenate several."
            )
        carrier = LaplacianCarrier(prod(aval.shape))
        rows = np.eye(carrier.size, dtype=aval.dtype).reshape(carrier.size, *aval.shape)
        found: list[Any] = []

        def flat(x: Any) -> list[Any]:
            found[:] = tree.tree_flatten(f(x, *args, **kwargs))
            return found[0]

        jet = x, algebra().convert(rows, carrier.types(aval, 1)[1])
        jets = [carrier.arrays(y, 2, 0) for y in lift_call(carrier, flat, [jet])]
        entries = zip(*[(y, _gradient(js, aval.shape), lap) for y, js, lap in jets])
        value, gradient, lap = (
            tree.tree_unflatten(found[1], xs) for xs in list(entries) or [()] * 3
        )
        return value, gradient, lap

    return transformed


def laplacian(f: Callable[..., Any]) -> Callable[..., Any]:
    """The Laplacian alone: the last result of :func:`forward_laplacian`."""
    return lambda x, *args, **kwargs: forward_laplacian(f)(x, *args, **kwargs)[2]


def _moved(jet: Sequence[Any], source: int, destination: int) -> Jet:
    """A jet whose rows are along another axis."""
    x, *rest = jet
    return (x, *(algebra().move_axis(rows, source, destination) for rows in rest[:1]), *rest[1:])


def _gradient(rows: Any, shape: tuple[int, ...]) -> Any:
    """The rows of a Jacobian, with the axes of x behind those of the value."""
    rows = algebra().move_axis(rows, 0, rows.ndim - 1)
    return rows.reshape(*rows.shape[:-1], *shape)
