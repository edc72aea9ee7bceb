"""Calling LAPACK from lowered programs: column-major layouts, aliases, and NaN where it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count, islice
from typing import Any

import numpy as np

from dovetail_backends import Attribute, operand_aliases
from dovetail_core import ShapedArray
from dovetail_xla import ffi, lapack

from .kinds import compare, select

INDEX = np.dtype(np.int32)
PERTURBED = "tridiagonal_solve_perturbed"
"""A routine of jaxlib's own, for all types."""


def letter(char: str) -> str:
    """An option of a routine."""
    return f"{ord(char)} : ui8"


def call(
    b: Any,
    routine: str,
    operands: Sequence[Any],
    outs: Sequence[ShapedArray],
    options: str = "",
    aliases: Mapping[int, int] | None = None,
) -> list[Any]:
    """Call a routine (``"getrf"``) of the operands' type; matrices are passed by columns.

    Args:
        operands: the first or the last one holds matrices.
        options: attributes, as ``"uplo = 76 : ui8"``.
        aliases: operands (by position) whose memory results (by position) take.

    Raises:
        NotImplementedError: the program is for another platform than the CPU.
    """
    if b.platform != "cpu":
        raise NotImplementedError(
            f"{routine} is LAPACK's, which runs on the CPU; this program is compiled for "
            f"{b.platform}. Move the matrix to a CPU device (device_put), or register a lowering "
            "in the table 'backends.stablehlo' that has one for that platform."
        )
    if routine == PERTURBED:
        lapack.register()
        target = f"{routine}_ffi"
    else:
        target = lapack.target_name(routine, operands[0].aval.dtype)
    batch = max(len(operands[i].aval.shape) for i in (0, -1)) - 2
    attrs = (
        f'call_target_name = "{target}", api_version = 4 : i32, backend_config = {{{options}}}, '
        f"operand_layouts = [{', '.join(_layout(x.aval, batch) for x in operands)}], "
        f"result_layouts = [{', '.join(_layout(o, batch) for o in outs)}]"
    )
    if aliases:
        attrs += f", output_operand_aliases = {operand_aliases(aliases, len(outs))}"
    notes = _divisible(target, [x.aval for x in operands], outs, batch) if b.is_divided else ""
    return b.op("stablehlo.custom_call", list(operands), list(outs), attrs, (), notes)


def _divisible(
    target: str, ins: Sequence[ShapedArray], outs: Sequence[ShapedArray], batch: int
) -> dict[str, Any]:
    """Attributes by which each device calls a routine for its own elements of the batch.

    Matrices are not divided: each of their dimensions is one that no other array has.
    """
    ffi.divide_batches(target)
    names = chain("ijklmnopqrstuvwxyz", (f"z_{i}" for i in count(1)))  # in this order
    shared = list(islice(names, batch))
    sizes: dict[str, int] = {}

    def factors(aval: ShapedArray) -> str:
        own = [*shared, *islice(names, len(aval.shape) - batch)]
        sizes.update(zip(own, aval.shape))
        return f"[{', '.join(own)}]"

    left, right = ([factors(a) for a in avals] for avals in (ins, outs))
    lengths = ", ".join(f"{k}={n}" for k, n in sizes.items())
    rule = f"<({', '.join(left)})->({', '.join(right)}) {{{lengths}}}, custom>"
    return {
        "mhlo.frontend_attributes": Attribute(f'{{num_batch_dims = "{batch}"}}'),
        "sdy.sharding_rule": Attribute(f"#sdy.op_sharding_rule{rule}"),
    }


def _layout(aval: ShapedArray, batch: int) -> str:
    """Axes from the fastest varying on: rows of matrices, then all axes from the last to the first.

    What has fewer than two axes beside the batch axes is no matrix.
    """
    n = len(aval.shape)
    order = list(range(n - 1, -1, -1))
    if n - batch == 2:
        order[:2] = [n - 2, n - 1]
    return f"dense<{order if n else ''}> : tensor<{n}xindex>"


def checked(b: Any, info: Any, values: Sequence[Any]) -> list[Any]:
    """The values, or NaN for each batch element for which ``info`` is not zero."""
    fine = compare(b, "EQ", info, b.constant(0, info.aval))
    batch = tuple(range(len(info.aval.shape)))
    result: list[Any] = []
    for x in values:
        nan = b.constant(complex(np.nan, np.nan) if x.aval.dtype.kind == "c" else np.nan, x.aval)
        result.append(select(b, b.broadcast(fine, x.aval.shape, batch), x, nan))
    return result
