"""A backend of a third party that runs programs by the reference, right or with a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core import ClosedJaxpr, Manifest, registry

MANIFEST = Manifest(
    "conformance", requires=("backends",), backends={"thirdparty": f"{__name__}:BACKEND"}
)


def unchanged(x: Any) -> Any:
    return x


class ThirdParty:
    """``change`` and ``finish`` are what it does to a program before, and to results after."""

    platform = "thirdparty"
    priority = -1
    change: Callable[[ClosedJaxpr], ClosedJaxpr] = staticmethod(unchanged)
    finish: Callable[[Any], Any] = staticmethod(unchanged)

    def problem(self) -> str:
        return ""

    def devices(self) -> list[Any]:
        return registry().backend("cpu").devices()

    local_devices = devices

    def run(self, program: ClosedJaxpr, args: Any) -> list[Any]:
        result = registry().backend("reference").run(self.change(program), args)
        return [self.finish(x) for x in result]


BACKEND = ThirdParty()


def with_equations(program: ClosedJaxpr, f: Callable[[Any], Any]) -> ClosedJaxpr:
    """The program with each equation changed."""
    return ClosedJaxpr(program.jaxpr.replace(eqns=[f(e) for e in program.eqns]), program.consts)


def first_branch(program: ClosedJaxpr) -> ClosedJaxpr:
    """Whatever the index is, the first branch."""

    def change(e: Any) -> Any:
        branches = e.params.get("branches")
        same = {**e.params, "branches": branches and branches[:1] * len(branches)}
        return e.replace(params=same) if branches else e

    return with_equations(program, change)
