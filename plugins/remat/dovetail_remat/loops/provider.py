"""What ``lax`` asks for when a loop is given a scheme (role ``loop_checkpointing``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, here, mutable_values

from .description import Loop
from .effects import check_effects
from .primitives import loop_p
from .schemes import LONGEST, Online, Scheme


class LoopCheckpointing:
    """Binds loops that are to be reversed by a scheme; ``what`` names the user's function."""

    def check(self, what: str, scheme: Any) -> None:
        """Raise TypeError unless ``scheme`` is one."""
        if isinstance(scheme, type) or not isinstance(scheme, (Online, Scheme)):
            raise TypeError(
                f"{what}{here()}: checkpoint must be a scheme "
                "(Binomial(snapshots=...), Online(snapshots=...) or Periodic(every=...)), got "
                f"{scheme!r} of type {type(scheme).__name__}"
            )

    def scan(self, what: str, scheme: Any, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        """A loop of a known number of steps: ``params`` are those of ``scan``."""
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
        """A loop of any number of steps: ``params`` are those of ``while``."""
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
        from .references import bind_with_contents

        return bind_with_contents(what, _bind_plain, loop, operands)
    return _bind_plain(loop, operands)


def _bind_plain(loop: Loop, operands: Sequence[Any]) -> list[Any]:
    """Bind a loop over arrays; references that a step makes are contents from here on, but where
    rules of derivatives are given them."""
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
