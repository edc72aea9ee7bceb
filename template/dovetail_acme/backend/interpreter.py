"""The backend ``acme``: it gets whole programs. This one interprets them with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from dovetail_backends import asarray_on, reference_rules
from dovetail_core import ClosedJaxpr, Literal, ShapedArray, float0, registry


class InterpreterBackend:
    """Runs programs in the Python process; its arrays are the CPU's."""

    platform = "acme"  # jit(f, backend="acme")
    priority = -1  # never the default: it computes no single operations

    def problem(self) -> str:
        """Why it cannot be used here, and the remedy; or an empty string. It starts nothing."""
        return ""

    def devices(self) -> list[Any]:
        """The devices that hold arguments and results."""
        return registry().backend("cpu").devices()

    local_devices = devices

    def compile(self, program: ClosedJaxpr) -> Callable[[Sequence[Any]], list[Any]]:
        """The program as a function of its operands; it is kept with the program.

        All passes have run. Write here what your machine or compiler wants of each equation.

        Raises:
            MissingRule: a primitive has no rule in ``backends.reference``.
        """
        steps = [(eqn, reference_rules[eqn.primitive]) for eqn in program.eqns]
        jaxpr, out_avals = program.jaxpr, cast("Sequence[ShapedArray]", program.out_avals)

        def run(operands: Sequence[Any]) -> list[Any]:
            values: dict[Any, Any] = dict(zip(jaxpr.constvars, map(np.asarray, program.consts)))
            values.update(zip(jaxpr.invars, map(np.asarray, operands)))

            def read(x: Any) -> Any:
                return np.asarray(x.val, x.aval.dtype) if x.__class__ is Literal else values[x]

            with np.errstate(all="ignore"):  # infinities and NaNs are results, not accidents
                for eqn, rule in steps:
                    found = rule(*map(read, eqn.invars), **eqn.params)
                    several = eqn.primitive.multiple_results
                    values.update(zip(eqn.outvars, found if several else [found]))
            results = zip(map(read, jaxpr.outvars), out_avals)
            return [self.array(np.asarray(x), aval) for x, aval in results]

        return run

    def array(self, x: Any, aval: ShapedArray) -> Any:
        """A result as users get it. (Derivatives of integers have no elements: NumPy keeps them.)"""
        return x if aval.dtype == float0 else asarray_on(x, aval, self.devices()[0])


BACKEND = InterpreterBackend()
