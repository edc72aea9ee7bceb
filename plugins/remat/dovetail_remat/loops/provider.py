"""The provider ``loop_checkpointing``, by which ``lax`` binds loops with a scheme.

Contents of references are carried, so that they are kept and restored, too. A reference that the
body writes becomes a carry, and one that it only reads a constant; a reference that is sliced
becomes slices of its contents, and writes to the slices a stacked result. Each reference is read
once, before the loop, and written once, after it, however often steps are run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    InputEffect,
    current_source,
    describe_source,
    here,
    mutable_values,
)

from .description import Loop
from .effects import check_effects
from .primitives import loop_p
from .schemes import LONGEST, Online, Scheme
from .steps import pick


class LoopCheckpointing:
    """Binds loops with a scheme for their reverse pass; ``what`` names the user's function."""

    def check(self, what: str, scheme: Any) -> None:
        """Raise TypeError unless ``scheme`` is one."""
        if isinstance(scheme, type) or not isinstance(scheme, (Online, Scheme)):
            raise TypeError(
                f"{what}{here()}: checkpoint must be a scheme "
                "(Binomial(snapshots=...), Online(snapshots=...) or Periodic(every=...)), got "
                f"{scheme!r} of type {type(scheme).__name__}"
            )

    def scan(self, what: str, scheme: Any, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        """Bind a loop of a known number of steps: ``params`` are those of ``scan``."""
        self.check(what, scheme)
        loop = Loop(
            params["jaxpr"], None, params["num_consts"], params["num_carry"], params["length"],
            params["reverse"], params["unroll"], scheme,
        )  # fmt: skip
        _check_length(what, params["length"])
        return _bind(what, loop, operands)

    def while_loop(
        self, what: str, scheme: Any, operands: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """Bind a loop of any number of steps: ``params`` are those of ``while``."""
        self.check(what, scheme)
        if not isinstance(scheme, Online):
            raise ValueError(
                f"{what}{here()}: {scheme!r} needs to know the number "
                "of steps while tracing, which this loop does not say. Use "
                "Online(snapshots=...), or scan or fori_loop with bounds that are known."
            )
        body: ClosedJaxpr = params["body_jaxpr"]
        n: int = params["num_consts"]
        carry = len(body.in_avals) - n
        return _bind(
            what, Loop(body, params["cond_jaxpr"], n, carry, None, False, 1, scheme), operands
        )


PROVIDER = LoopCheckpointing()


def _bind(what: str, loop: Loop, operands: Sequence[Any]) -> list[Any]:
    check_effects(what, loop)
    if any(a.is_mutable for a in loop.body.in_avals):
        return bind_with_contents(what, _bind_plain, loop, operands)
    return _bind_plain(loop, operands)


def _bind_plain(loop: Loop, operands: Sequence[Any]) -> list[Any]:
    """Bind a loop over arrays; references made in a step are discharged, unless derivative rules
    take them."""
    condition = loop.condition and mutable_values.discharge(loop.condition)
    body = mutable_values.discharge_local(loop.body)
    plain = loop.with_body(body, loop.num_consts, loop.num_carry, condition=condition)
    return loop_p.bind(*operands, **plain.params)


def _check_length(what: str, length: int) -> None:
    if length > LONGEST:
        raise ValueError(
            f"{what}{here()}: a checkpointed loop takes at most "
            f"{LONGEST} steps, not {length}. Nest two loops, each with its own scheme."
        )


def bind_with_contents(what: str, bind: Any, loop: Loop, operands: Sequence[Any]) -> list[Any]:
    """Bind a loop over references by ``bind(loop, operands)``, which binds one over arrays."""
    is_ref = [a.is_mutable for a in loop.body.in_avals]
    for aval in pick(loop.body.in_avals, is_ref):
        if len(aval.content_types()) != 1:
            raise TypeError(
                f"{what}{describe_source(current_source())}: the body closes over "
                f"{aval.str_short()}, which a checkpointed loop cannot carry: only references to "
                "arrays. Carry what it holds, and set it after the loop."
            )
    _refuse_untouched(what, loop, is_ref)
    inner, order, written = _discharged(loop, is_ref)
    contents = [x[...] if ref else x for x, ref in zip(operands, is_ref)]
    outs = bind(inner, [contents[k] for k in order])
    first, last = loop.num_carry, len(outs) - sum(k >= loop.num_consts for k in written)
    after = first + sum(k < loop.num_consts for k in written)
    for k, final in zip(written, [*outs[first:after], *outs[last:]]):
        operands[k][...] = final
    return [*outs[:first], *outs[after:last]]


def _refuse_untouched(what: str, loop: Loop, is_ref: Sequence[bool]) -> None:
    """Refuse a reference that only a derivative rule uses, as the reverse pass has its contents."""
    programs = [loop.body, *([] if loop.condition is None else [loop.condition])]
    effects = [e for p in programs for e in p.effects if isinstance(e, InputEffect)]
    touched = {e.input_index for e in effects}
    for k, ref in enumerate(is_ref):
        if ref and k not in touched:
            raise TypeError(
                f"{what}{describe_source(current_source())}: the body gives "
                f"{loop.body.in_avals[k].str_short()} to a function whose derivative rule may use "
                "it, but does not read or write it itself. The reverse pass of a checkpointed loop "
                "cannot write to references: return what the rule wants to keep, or leave "
                "checkpoint= away."
            )


def _discharged(loop: Loop, is_ref: Sequence[bool]) -> tuple[Loop, list[int], Sequence[int]]:
    """The loop on contents, the indices of the original operands in its order, and the indices of
    those that it writes: constants become carries, slices are returned as stacked results."""
    nc, nk = loop.num_consts, loop.num_carry
    result = mutable_values.discharge_provider().program(loop.body, tuple(is_ref), keeps_rules=True)
    written_consts = [k for k in result.written if k < nc]
    consts = [k for k in range(nc) if k not in written_consts]
    order = [*consts, *range(nc, nc + nk), *written_consts, *range(nc + nk, len(is_ref))]
    n = len(loop.body.out_avals)
    finals = range(n, n + len(result.written))
    m = len(written_consts)
    body = _permuted(result.program, order, [*range(nk), *finals[:m], *range(nk, n), *finals[m:]])
    condition = loop.condition
    if condition is not None:
        test = (
            mutable_values.discharge_provider()
            .program(condition, (*is_ref[:nc], *[False] * nk))
            .program
        )
        condition = _permuted(test, [k for k in order if k < nc + nk], [0])
    return loop.with_body(body, len(consts), nk + m, condition=condition), order, result.written


def _permuted(program: ClosedJaxpr, ins: Sequence[int], outs: Sequence[int]) -> ClosedJaxpr:
    jaxpr = program.jaxpr
    invars, outvars = [jaxpr.invars[k] for k in ins], [jaxpr.outvars[k] for k in outs]
    return ClosedJaxpr(jaxpr.replace(invars=invars, outvars=outvars), program.consts)
