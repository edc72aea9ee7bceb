"""``matmul`` and the operator ``@``: products over the last axes, by plans per operand types."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import dovetail_lax as lax
from dovetail_core import Cache, ShapedArray, config, here, type_shardings, typeof
from dovetail_lax.errors import ShapeError

from ..fusion import fused_when_evaluated, of_two_arrays
from ..operands import Array, ArrayLike, has_array_conversion, operand
from ..operations import transpose as permute
from ..promotion import common_type, convert
from ..ufuncs.plans import by_configuration

Plan = Callable[[Any, Any], Any]
_default = config.option("default_matmul_precision")
NO_AXES: tuple[int, ...] = ()


def contraction(dims: Any, precision: Any = None, preferred: Any = None) -> Plan:
    """``dot_general`` with fixed parameters, of operands of one element type."""
    bind = lax.dot_general_p.bind

    def plain(x: Any, y: Any) -> Any:
        if _default.value is not None:
            return lax.dot_general(x, y, dims)
        return bind(x, y, dimension_numbers=dims, precision=None, preferred_element_type=None)

    if precision is None and preferred is None:
        return plain
    return partial(lax.dot_general, dimension_numbers=dims, precision=precision,
                   preferred_element_type=preferred)  # fmt: skip


class MatMul:
    """Products of the last axes, with a plan kept for each pair of operand types."""

    __slots__ = ("name", "plans")

    def __init__(self, name: str) -> None:
        self.name = name
        self.plans: Cache[Any, Plan] = Cache()

    def __call__(self, x: Any, y: Any) -> Any:
        plan = self.plans.get((getattr(x, "aval", x.__class__), getattr(y, "aval", y.__class__)))
        if plan is None:
            return self.miss(x, y)
        try:
            return plan(x, y)
        except TypeError:
            if not (has_array_conversion(x) or has_array_conversion(y)):
                raise
        return self.miss(x, y)

    def miss(self, x: Any, y: Any, precision: Any = None, preferred: Any = None) -> Any:
        """The product of operands whose types were not seen before, or are NumPy's."""
        x, y = operand(self.name, x, 0), operand(self.name, y, 1)
        types: tuple[Any, Any] = (typeof(x), typeof(y))
        plain = precision is None and preferred is None
        plan = self.plans.get(types) if plain else None
        if plan is None and not plain:
            plan = self.plan(*types, precision, preferred)
        elif plan is None:
            same = types[0].dtype == types[1].dtype  # else promotion depends on options
            plan = self.plan(*types) if same else by_configuration(self._plan_of)
            self.plans[types] = plan
        return plan(x, y)

    def _plan_of(self, x: Any, y: Any) -> Plan:
        types: tuple[Any, Any] = (typeof(x), typeof(y))
        return self.plan(*types)

    def plan(
        self, a: ShapedArray, b: ShapedArray, precision: Any = None, preferred: Any = None
    ) -> Plan:
        """The function that multiplies operands of these types.
        Raises:
            ValueError: an operand is a scalar.
            ShapeError: the contracted axes have different sizes; names the shapes.
        """
        self._check(a, b)
        dtype, weak = common_type([a, b])
        product = _matmul_plan(a.shape, b.shape, precision, preferred)
        if a.dtype == b.dtype:
            return product
        return fused_when_evaluated(
            lambda x, y: product(convert(x, dtype, weak), convert(y, dtype, weak))
        )

    def _check(self, a: ShapedArray, b: ShapedArray) -> None:
        for i, v in enumerate((a, b)):
            if not v.shape:
                raise ValueError(
                    f"{self.name} needs operands of at least one dimension, operand {i} is a "
                    f"scalar{here()}. Use multiply."
                )
        k, j = a.shape[-1], b.shape[-2 if len(b.shape) > 1 else 0]
        if k != j:
            raise ShapeError(
                f"{self.name} got operands of shapes {a.shape} and {b.shape}: the last dimension "
                f"of the first ({k}) and the {'second to last' if len(b.shape) > 1 else 'only'} "
                f"one of the second ({j}) must be equal{here()}. Transpose one of them, or name "
                "the axes with einsum or tensordot."
            )


def _matmul_plan(a: tuple[int, ...], b: tuple[int, ...], precision: Any, preferred: Any) -> Plan:
    n, m = len(a), len(b)
    if m <= 2:
        return contraction((((n - 1,), (max(m - 2, 0),)), (NO_AXES, NO_AXES)), precision, preferred)
    if n == m and a[:-2] == b[:-2]:
        batch = tuple(range(n - 2))
        return contraction((((n - 1,), (m - 2,)), (batch, batch)), precision, preferred)
    return _broadcast_plan(a, b, precision, preferred)


def _broadcast_plan(a: tuple[int, ...], b: tuple[int, ...], precision: Any, preferred: Any) -> Plan:
    """Batch axes that only one operand has are free axes of it: nothing is repeated."""
    rows = (len(a) - 1,) if len(a) == 1 else (len(a) - 2, len(a) - 1)
    stack_a, stack_b = a[: len(a) - len(rows)], b[:-2]
    rank = max(len(stack_a), len(stack_b))
    full_a = (None,) * (rank - len(stack_a)) + stack_a
    full_b = (None,) * (rank - len(stack_b)) + stack_b
    drop_a, drop_b, batch, only_a, only_b = [], [], [], [], []
    for i, (p, q) in enumerate(zip(full_a, full_b)):
        if p == q:
            batch.append(i)
        elif q is None or (q == 1 and p is not None):
            only_a.append(i)
            drop_b += [] if q is None else [i - (rank - len(stack_b))]
        elif p is None or p == 1:
            only_b.append(i)
            drop_a += [] if p is None else [i - (rank - len(stack_a))]
        else:
            raise ShapeError(
                f"matmul got shapes {a} and {b}, whose leading dimensions do not broadcast{here()}"
            )
    left = [i for i in range(rank) if i in batch or i in only_a]
    right = [i for i in range(rank) if i in batch or i in only_b]
    summed = (len(left) + len(rows) - 1,), (len(right),)
    dims = summed, (tuple(left.index(i) for i in batch), tuple(right.index(i) for i in batch))
    # The product's axes: batch, the first operand's own, its row axis, the second's, columns.
    names = [*batch, *only_a, *(["row"] if len(rows) == 2 else []), *only_b, "column"]
    wanted = [*range(rank), *(["row"] if len(rows) == 2 else []), "column"]
    order = tuple(names.index(w) for w in wanted)
    product = contraction(dims, precision, preferred)

    def plan(x: Any, y: Any) -> Any:
        x = lax.squeeze(x, drop_a) if drop_a else x
        y = lax.squeeze(y, drop_b) if drop_b else y
        return permute(product(x, y), order)

    return fused_when_evaluated(plan)


MATMUL = MatMul("matmul")


PRODUCT_OPTIONS = ("precision", "preferred_element_type", "out_sharding")


@lambda f: of_two_arrays(f, *PRODUCT_OPTIONS)
def matmul(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The matrix product over the last two axes; other axes broadcast. Vectors are contracted.

    Raises:
        ValueError: an operand is a scalar.
        TypeError: sizes do not match; names the shapes.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            matmul,
            a,
            b,
            precision=precision,
            preferred_element_type=preferred_element_type,
        )
    if precision is None and preferred_element_type is None:
        return MATMUL(a, b)
    return MATMUL.miss(a, b, precision, preferred_element_type)
