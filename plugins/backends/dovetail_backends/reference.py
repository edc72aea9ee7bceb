"""The backend ``reference``: programs evaluated operation by operation with NumPy.

It is the oracle of tests, and the example of a backend that is not PJRT: it takes a program as it
is, and has no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_base.source import get_override, set_override
from dovetail_core import (
    Cache,
    ClosedJaxpr,
    Eqn,
    Literal,
    MissingRule,
    Primitive,
    ShapedArray,
    describe_source,
    float0,
    lower_to_lo,
    lower_values,
    mutable_values,
    raise_values,
    stage_closed,
    trace_key,
)

from .tables import ReferenceRule, reference_rules

NumpyArray = np.ndarray[Any, Any]


def evaluate(program: ClosedJaxpr, *args: Any) -> list[NumpyArray]:
    """The results of a program, computed with NumPy.

    Args:
        args: one value per input, of the input's shape; its dtype is converted. Values of high
            types go in and come out as such, made of NumPy arrays.

    Raises:
        TypeError: the number of arguments or a shape is wrong; or a rule of the table
            ``backends.reference`` returned another type than the program says (names both).
    """
    program = mutable_values.discharge(program)
    if program.is_high:
        low = evaluate(lower_to_lo(program), *lower_values(args, "asked for to evaluate a program"))
        return raise_values(low, program.out_avals)
    jaxpr = program.jaxpr
    if len(args) != len(jaxpr.invars):
        raise TypeError(f"the program takes {len(jaxpr.invars)} inputs, {len(args)} given")
    env: dict[Any, Any] = {}
    for kind, variables, values in (
        ("constant", jaxpr.constvars, program.consts),
        ("input", jaxpr.invars, args),
    ):
        for i, (v, x) in enumerate(zip(variables, values)):
            env[v] = _given(x, v.aval, kind, i)

    def read(x: Any) -> NumpyArray:
        return _literal(x) if x.__class__ is Literal else env[x]

    with np.errstate(all="ignore"):  # infinities and NaNs are results here, not accidents
        _apply_all(jaxpr.eqns, env, read)
    return [read(x) for x in jaxpr.outvars]


def _apply_all(eqns: Sequence[Eqn], env: dict[Any, Any], read: Callable[[Any], Any]) -> None:
    outer = get_override()
    try:
        try:
            for eqn in eqns:
                operands = [read(x) for x in eqn.invars]
                set_override(eqn.source)
                env.update(zip(eqn.outvars, _apply(eqn, operands)))
        finally:  # as in base.scopes.run_with, without its frame
            set_override(outer)
    finally:
        set_override(outer)


def _given(x: Any, aval: Any, kind: str, position: int) -> NumpyArray:
    value = np.asarray(x)
    if value.shape != aval.shape:
        raise TypeError(
            f"{kind} {position} of the program has type {aval.str_short()}, a value of shape "
            f"{value.shape} is given"
        )
    if aval.dtype == float0:
        return np.zeros(aval.shape, float0)
    return value.astype(aval.dtype, copy=False)


def _literal(x: Literal) -> NumpyArray:
    return np.asarray(x.val, x.aval.dtype)  # type: ignore[attr-defined]


def _apply(eqn: Eqn, operands: Sequence[NumpyArray]) -> Sequence[NumpyArray]:
    primitive = eqn.primitive
    rule = reference_rules.rules.get(primitive)
    if rule is None:
        rule = reference_rules.miss(primitive)
    result = rule(*operands, **eqn.params)
    results: list[Any] = list(result) if primitive.multiple_results else [result]
    if len(results) != len(eqn.outvars):
        raise TypeError(f"{_rule_of(eqn)} returned {len(results)} results, not {len(eqn.outvars)}")
    return [_checked(eqn, i, x) for i, x in enumerate(results)]


def _checked(eqn: Eqn, position: int, value: Any) -> NumpyArray:
    """The result as an array; TypeError if its type is not exactly the program's."""
    aval: Any = eqn.outvars[position].aval
    array = np.asarray(value)
    python = value.__class__ in (bool, int, float, complex)
    if array.shape != aval.shape or array.dtype != aval.dtype or python:
        got = type(value).__name__ if python else f"{array.dtype.name}{list(array.shape)}"
        raise TypeError(
            f"{_rule_of(eqn)} returned {got} as result {position}, where the type is "
            f"{aval.str_short()}. Make the rule return exactly this type."
        )
    return array


def _rule_of(eqn: Eqn) -> str:
    origin = reference_rules.origins.get(eqn.primitive)
    location = f" ({origin})" if origin else ""
    return (
        f"the rule of {eqn.primitive.name!r} in table 'backends.reference'{location}, used"
        f"{describe_source(eqn.source)},"
    )


@reference_rules.deriver
def _derive(primitive: Primitive) -> ReferenceRule | None:
    """The rule that evaluates an operation's decomposition; None if it has none."""
    decomposition = primitive.decomposition
    if decomposition is None:
        return None
    programs: Cache[Any, ClosedJaxpr] = Cache()

    def rule(*operands: NumpyArray, **params: Any) -> Any:
        avals = tuple(ShapedArray(x.shape, x.dtype) for x in operands)
        try:
            program = _staged(primitive, decomposition, avals, params, programs)
            results = evaluate(program, *operands)
        except MissingRule as e:
            raise e.used_by(primitive) from None
        return results if primitive.multiple_results else results[0]

    return rule


def _staged(
    primitive: Primitive,
    decomposition: Callable[..., Any],
    avals: tuple[ShapedArray, ...],
    params: dict[str, Any],
    programs: Cache[Any, ClosedJaxpr],
) -> ClosedJaxpr:
    def body(*xs: Any) -> list[Any]:
        out = decomposition(*xs, **params)
        return list(out) if primitive.multiple_results else [out]

    key: Any = (avals, tuple(params.items()), trace_key())
    try:
        result = programs.get(key)
    except TypeError:  # an unhashable parameter
        return stage_closed(body, avals, primitive.name)
    if result is None:
        result = programs[key] = stage_closed(body, avals, primitive.name)
    return result


class ReferenceBackend:
    """Runs programs in the Python process. Its arrays are the CPU's."""

    platform = "reference"
    priority = -1

    def problem(self) -> str:
        """An empty string: the backend can always be used."""
        return ""

    def devices(self) -> list[Any]:
        """The devices that hold its arguments and results: the CPU's."""
        from .cpu import BACKEND

        return BACKEND.devices()

    def local_devices(self) -> list[Any]:
        """The devices of this process."""
        from .cpu import BACKEND

        return BACKEND.local_devices()

    def run(self, program: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
        """The results of a program as arrays of the CPU.

        Raises:
            TypeError: as :func:`evaluate`.
        """
        from .transfer import asarray_on

        device = self.local_devices()[0]
        results = evaluate(program, *args)
        avals: list[Any] = list(program.out_avals)
        return [
            x if a.dtype == float0 else asarray_on(x, a, device) for x, a in zip(results, avals)
        ]


REFERENCE = ReferenceBackend()
