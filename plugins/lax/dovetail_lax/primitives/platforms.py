"""``platform_dependent``: one of several programs, by the platform that it is lowered for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Kind, Primitive, Region, RegionInterface

from ._effects import effects_of
from .traits import describe

platform_dependent_p = Primitive("platform_dependent", multiple_results=True)
"""``platforms`` names those of each branch; the last branch may be for all others, None."""


@platform_dependent_p.def_effectful_abstract_eval
def _platform_dependent_type(
    *operands: Any, branches: tuple[ClosedJaxpr, ...], platforms: Any
) -> Any:
    params = {"branches": branches, "platforms": platforms}
    return branches[0].out_avals, effects_of(platform_dependent_p, params, *branches)


@platform_dependent_p.def_regions
def _platform_dependent_regions(params: dict[str, Any]) -> RegionInterface:
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    operands = tuple(range(len(branches[0].in_avals)))
    results = tuple(range(len(branches[0].out_avals)))
    return RegionInterface(
        tuple(Region(b, operands, results) for b in branches),
        (Kind.CONSTANT,) * len(operands),
        (Kind.PLAIN,) * len(results),
        lambda programs, _: {"branches": tuple(programs), "platforms": params["platforms"]},
    )


def branch_for(platform: str, branches: Sequence[Any], platforms: Sequence[Any]) -> Any:
    """The branch that is meant for a platform.

    Raises:
        NotImplementedError: there is none; names those that there are.
    """
    for branch, names in zip(branches, platforms):
        if names is None or platform in names:
            return branch
    known = ", ".join(sorted({n for names in platforms for n in names}))
    raise NotImplementedError(
        f"lax.platform_dependent has no branch for the platform {platform!r}, only for {known}: "
        f"give {platform}=, or default=."
    )


describe(__name__)
