"""``fwd_and_bwd``: the forward and the backward pass as two functions, each compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_jit import jit

from .arguments import canonical_argnums, check_callable
from .functions import vjp


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The forward and the backward pass of ``fun``, which need not run in one compiled function.

    Args:
        argnums: the arguments to differentiate with respect to.
        has_aux: whether ``fun`` returns a pair of which the second is not differentiated.
        jitted: whether both are compiled. (The residuals of a forward pass that is not compiled
            have a structure of their own each time, for which a compiled function is made anew.)

    Returns:
        ``fwd`` and ``bwd``. ``fwd(*args)`` returns ``(value, residuals)``, or ``(value, residuals,
        aux)``; ``bwd(residuals, cotangent)`` returns one cotangent for each of ``argnums``, a
        single one where that is a number.

    Raises:
        TypeError: ``fun`` is not callable. ValueError (of ``fwd``): an argument does not exist.
    """
    check_callable(fun, "fwd_and_bwd")

    def forward(*args: Any) -> tuple[Any, ...]:
        nums = canonical_argnums(argnums, len(args), "fwd_and_bwd")

        def of_chosen(*chosen: Any) -> Any:
            full = list(args)
            for n, x in zip(nums, chosen):
                full[n] = x
            return fun(*full)

        return vjp(of_chosen, *[args[n] for n in nums], has_aux=has_aux)

    def backward(residuals: Any, cotangent: Any) -> Any:
        result = residuals(cotangent)
        return result[0] if isinstance(argnums, int) else result

    return (jit(forward), jit(backward)) if jitted else (forward, backward)
