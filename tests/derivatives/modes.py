"""First and second derivatives of elementwise functions of a package, by all pairs of modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MODES = ("jvp", "vjp", "jvp of jvp", "jvp of vjp", "vjp of vjp", "vjp of jvp")


def function(root: Any, expression: str, **constants: Any) -> Callable[[Any], Any]:
    """The function of ``x`` that an expression says (see ``cases``), of a package."""
    modules = {"numpy": root.numpy, "lax": root.lax, "nn": root.nn, "scipy": root.scipy}
    names = {**modules, **constants, "special": root.scipy.special}
    code = compile(expression, expression, "eval")
    return lambda x: eval(code, {**names, "x": x, "of": x.dtype.type})


def derivatives(root: Any, f: Callable[[Any], Any]) -> list[Callable[[Any], Any]]:
    """The first and second derivatives of an elementwise function, one for each of ``MODES``."""

    def forward(g: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: root.jvp(g, (x,), (root.numpy.ones_like(x),))[1]

    def reverse(g: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def slope(x: Any) -> Any:
            y, pull = root.vjp(g, x)
            return pull(root.numpy.ones_like(y))[0]

        return slope

    return [forward(f), reverse(f), forward(forward(f)), forward(reverse(f)),
            reverse(reverse(f)), reverse(forward(f))]  # fmt: skip
