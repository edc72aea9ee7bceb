"""The rows ``remat`` (a call whose values are computed again), ``name`` and ``place``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, RegionInterface, Primitive, Region

remat_p = Primitive("remat", multiple_results=True)
"""``remat(*operands, program, policy, prevent_cse, differentiated, effects)``.

``prevent_cse`` says which operands of the second computation stand behind a barrier: a bool for
all of them, or one for each. ``differentiated`` marks the second computation. With ``effects`` of
``"replay"`` the second computation has the effects of the first.
"""


@remat_p.def_effectful_abstract_eval
def _type(*avals: Any, program: ClosedJaxpr, **params: Any) -> Any:
    return program.out_avals, program.effects


@remat_p.def_regions
def _form(params: dict[str, Any]) -> RegionInterface:
    program: ClosedJaxpr = params["program"]
    ins, outs = range(len(program.in_avals)), range(len(program.out_avals))

    def rebuild(
        programs: Sequence[ClosedJaxpr], widths: Sequence[int], out_widths: Sequence[int]
    ) -> dict[str, Any]:
        barrier = params["prevent_cse"]
        if isinstance(barrier, tuple):
            barrier = tuple(b for b, n in zip(barrier, widths) for _ in range(n))
        return {**params, "program": programs[0], "prevent_cse": barrier}

    return RegionInterface((Region(program, tuple(ins), tuple(outs)),), rebuild)


name_p = Primitive("name")
"""The identity, which gives its operand a name that policies can refer to."""


@name_p.def_abstract_eval
def _name_type(x: Any, *, name: str) -> Any:
    return x


@name_p.def_decomposition
def _name(x: Any, *, name: str) -> Any:
    return x


place_p = Primitive("place")
"""The identity, whose result is in memory ``dst`` while its operand is in memory ``src``.

Memories are named as devices name theirs (``"device"``, ``"pinned_host"``). They are no part of
types: a value computes the same wherever it is.
"""


@place_p.def_abstract_eval
def _place_type(x: Any, *, src: str, dst: str) -> Any:
    return x
