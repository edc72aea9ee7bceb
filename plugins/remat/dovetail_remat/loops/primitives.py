"""The primitives for checkpointed loops.

``checkpointed_loop`` is a loop with a scheme for its reverse pass. Linearization makes it
``checkpointed_forward``, which also keeps states, and ``checkpointed_linear``, the linear part. The
transpose of the latter is ``checkpointed_reverse``, whose derivative is ``checkpointed_second``
(module ``second``). Each is decomposed into plain loops or into another of these, so that
derivatives of every order consist of them. The first two have the effects of their steps; the
others take loops without effects.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive

from .description import Loop, regions_of
from .effects import effects_of


def is_high(*, body: Any, **params: Any) -> bool:
    """True if the loop has values of high types."""
    return body.jaxpr.is_high


# checkpointed_loop(*consts, *carry, *xs) -> (*carry, *ys)

loop_p = Primitive("checkpointed_loop", multiple_results=True)
loop_p.def_regions(regions_of)


@loop_p.def_effectful_abstract_eval
def _loop_type(*avals: Any, **params: Any) -> Any:
    loop = Loop.of(params)
    return loop.out_types, effects_of(loop)


@loop_p.def_decomposition
def _plain_loop(*operands: Any, **params: Any) -> list[Any]:
    """The loop as a plain one that keeps no states: ``scan`` or ``while``."""
    from dovetail_lax import scan_p, while_p

    p = Loop.of(params)
    if p.condition is not None:
        return while_p.bind(
            *operands, cond_jaxpr=p.condition, body_jaxpr=p.body, num_consts=p.num_consts
        )  # fmt: skip
    return scan_p.bind(
        *operands, jaxpr=p.body, length=p.length, reverse=p.reverse, unroll=p.unroll,
        num_consts=p.num_consts, num_carry=p.num_carry,
    )  # fmt: skip


# checkpointed_forward(*consts, *carry, *xs) -> (*carry, *ys, *kept, control): also keeps the states
# of the carries that are marked in ``stored``. Kept states are not differentiated: they are a
# function of the operands, used instead of computing them again.

forward_p = Primitive("checkpointed_forward", multiple_results=True)
forward_p.is_high = is_high


@forward_p.def_effectful_abstract_eval
def _forward_type(*avals: Any, stored: tuple[bool, ...], **params: Any) -> Any:
    loop = Loop.of(params)
    carry = loop.parts(loop.body.in_avals)[1]
    kept = [loop.buffer(a) for a, s in zip(carry, stored) if s]
    return [*loop.out_types, *kept, loop.control], effects_of(loop)


@forward_p.def_decomposition
def _forward(*operands: Any, stored: tuple[bool, ...], **params: Any) -> list[Any]:
    from .forward import run_forward

    return run_forward(Loop.of(params), stored, operands)


# checkpointed_linear(control, *kept, *consts, *carry, *xs) -> (*carry, *ys) of those marked in
# ``unknown``: linear in these operands. All ``ys`` of the body are unknown; ``kept`` are states of
# the other carries, which are only used by the transpose.

linear_p = Primitive("checkpointed_linear", multiple_results=True)
linear_p.is_high = is_high


@linear_p.def_abstract_eval
def _linear_type(*avals: Any, unknown: tuple[bool, ...], **params: Any) -> list[Any]:
    loop = Loop.of(params)
    flags = loop.parts(unknown)[1]
    outs = loop.out_types
    return [a for a, u in zip(outs, flags) if u] + outs[loop.num_carry :]


@linear_p.def_decomposition
def _linear(*operands: Any, unknown: tuple[bool, ...], **params: Any) -> list[Any]:
    loop = Loop.of(params)
    flags = loop.parts(unknown)[1]
    outs = loop_p.bind(*operands[1 + flags.count(False) :], **params)
    return [x for x, u in zip(outs, flags) if u] + outs[loop.num_carry :]


# checkpointed_reverse([control, *kept,] *known, *cotangents) -> cotangents of the unknown operands.
# The transpose of ``checkpointed_linear``: ``cotangents`` are those of its carries and those of its
# ``ys`` that are marked in ``given``. If no states were kept (``cached`` is false), it keeps them
# first.

reverse_p = Primitive("checkpointed_reverse", multiple_results=True)
reverse_p.is_high = is_high


@reverse_p.def_abstract_eval
def reverse_type(*avals: Any, unknown: tuple[bool, ...], **params: Any) -> list[Any]:
    """The types of the results of ``checkpointed_reverse``."""
    types = Loop.of(params).in_types
    return [a.cotangent_type() for a, u in zip(types, unknown) if u]


@reverse_p.def_decomposition
def _reverse(*operands: Any, **params: Any) -> list[Any]:
    from .reverse import run_reverse

    return run_reverse(operands, params)
