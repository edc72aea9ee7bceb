"""``custom_root``: roots of functions, differentiated implicitly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_ad import jvp, linearize
from dovetail_core import UnexpectedTracerError, get_trace, typeof
from dovetail_core.tree.util import tree_flatten, tree_leaves, tree_map, tree_structure
from dovetail_core.types.algebra import algebra

from .calls import looks_through
from .checks import check_aval, check_value, differences, name_of, names_rule
from .closures import Converted, closure_convert
from .function import custom
from .zeros import zero_from_primal


def custom_root(
    f: Callable[..., Any], initial_guess: Any, solve: Callable[..., Any],
    tangent_solve: Callable[..., Any], has_aux: bool = False,
) -> Any:  # fmt: skip
    """A root of ``f``, differentiable with respect to what ``f`` closes over.

    Args:
        f: a function of a pytree of arrays that returns one of the same structure and types.
        initial_guess: where ``solve`` begins; the root does not depend on it.
        solve: ``solve(f, initial_guess)`` returns ``x`` with ``f(x) = 0`` (not checked). It need
            not be differentiable.
        tangent_solve: ``tangent_solve(g, y)``, where ``g`` is ``f`` linearized at the root, returns
            ``x`` with ``g(x) = y`` and is linear in ``y``; for scalars ``lambda g, y: y / g(1.0)``.
        has_aux: ``solve`` returns a pair of the root and further values, without derivatives.

    Returns: what ``solve`` returns. Its tangent is, by the implicit function theorem,
    ``-g^{-1}(df)``, where ``df`` is the tangent of ``f`` at the root held fixed.

    Raises:
        TypeError: ``f`` or ``solve`` returns another structure or type than the guess.
    """
    guess = initial_guess
    leaves, tree = tree_flatten(guess)
    name = name_of(f)
    converted = Converted(f, leaves, tree, name)
    avals = [typeof(x) for x in leaves]
    _check("f", name, converted.out_tree, converted.out_avals, tree, avals)

    def root(consts: Any, guess: Any) -> Any:
        found = solve(lambda x: converted(consts, x), guess)
        if has_aux and not (isinstance(found, (tuple, list)) and len(found) == 2):  # type: ignore[arg-type]
            raise TypeError("custom_root with has_aux=True: solve must return a pair (root, aux)")
        x = found[0] if has_aux else found
        types = [check_value(y, "custom_root: solve returned") for y in tree_leaves(x)]
        _check("solve", name_of(solve), tree_structure(x), types, tree, avals)
        return found

    root.__name__ = f"root_of_{name}"

    if looks_through(get_trace()):
        try:
            return _differentiable(root, converted, tangent_solve, has_aux)(converted.consts, guess)
        except UnexpectedTracerError as e:
            if not names_rule(e):
                raise
    # solve may use values that are being transformed: traced, it has them as operands. The root
    # does not depend on them, so that their tangents do not count.
    traced, values = closure_convert(root, converted.consts, guess)
    made = _differentiable(traced, converted, tangent_solve, has_aux)
    return made(converted.consts, guess, *values)


def _differentiable(
    root: Callable[..., Any], f: Converted, tangent_solve: Callable[..., Any], has_aux: bool
) -> Any:
    """``root(consts, guess, *values)``, differentiable with respect to ``consts`` alone."""

    def root_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
        consts = primals[0]
        found = made(*primals)
        x = found[0] if has_aux else found
        _, df = jvp(lambda c: f(c, x), (consts,), (tangents[0],))
        _, g = linearize(lambda y: f(consts, y), x)
        dx = tangent_solve(g, tree_map(lambda t: algebra().neg(t), df))
        return found, (dx, tree_map(zero_from_primal, found[1])) if has_aux else dx

    made = custom(root)
    made.rules.ignores_closure = True
    made.def_jvp(root_jvp)
    return made


def _check(what: str, name: str, tree: Any, types: Any, want: Any, avals: Any) -> None:
    if tree != want:
        raise TypeError(
            f"custom_root: {what} ({name}) must return the structure of initial_guess: "
            f"{differences(want, tree)}"
        )
    for i, (x, a) in enumerate(zip(types, avals)):
        text = f"custom_root: {what} ({name}) returned"
        check_aval(x, a, text, want, i, "initial_guess has")
