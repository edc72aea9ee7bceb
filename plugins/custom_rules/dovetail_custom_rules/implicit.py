"""``custom_root`` and ``custom_linear_solve``, differentiated as solutions and not step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_ad import jvp, linear_transpose, linearize
from dovetail_base.foreign import reword_errors
from dovetail_base.source import here
from dovetail_core import EVAL, UnexpectedTracerError, algebra, get_trace, typeof
from dovetail_tree.util import (
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

from .checks import (
    check_aval,
    check_value,
    differences,
    is_zero,
    name_of,
    names_rule,
    zero_from_primal,
)
from .closures import Converted, closure_convert
from .flat_rules import pick
from .function import custom, is_only_differentiated
from .linear_solve import LinearSolveTuple, linear_solve_p


@reword_errors
def custom_root(
    f: Callable[..., Any], initial_guess: Any, solve: Callable[..., Any],
    tangent_solve: Callable[..., Any], has_aux: bool = False,
) -> Any:  # fmt: skip
    """A root of ``f``, differentiable with respect to what ``f`` closes over.

    Args:
        f: a function of a pytree of arrays that returns one of the same structure and types.
        initial_guess: the value at which ``solve`` begins; the root does not depend on it.
        solve: ``solve(f, initial_guess)`` returns ``x`` with ``f(x) = 0`` (not checked). It need
            not be differentiable.
        tangent_solve: ``tangent_solve(g, y)``, where ``g`` is ``f`` linearized at the root, returns
            ``x`` with ``g(x) = y`` and is linear in ``y``; for scalars ``lambda g, y: y / g(1.0)``.
        has_aux: ``solve`` returns a pair of the root and further values, without derivatives.

    Returns: the result of ``solve``. Its tangent is, by the implicit function theorem,
    ``-g^{-1}(df)``, where ``df`` is the tangent of ``f`` at the root, held constant.

    Raises:
        TypeError: ``f`` or ``solve`` returns another structure or type than the guess.
    """
    guess = initial_guess
    leaves, tree = tree_flatten(guess)
    name = name_of(f)
    converted = Converted(f, leaves, tree, name)
    avals = [typeof(x) for x in leaves]
    _check(
        f"custom_root: f ({name})",
        converted.out_tree,
        converted.out_avals,
        tree,
        avals,
        "initial_guess",
    )

    def root(consts: Any, guess: Any) -> Any:
        result = solve(lambda x: converted(consts, x), guess)
        if has_aux and not (isinstance(result, (tuple, list)) and len(result) == 2):  # type: ignore[arg-type]
            raise TypeError("custom_root with has_aux=True: solve must return a pair (root, aux)")
        x = result[0] if has_aux else result
        types = [check_value(y, "custom_root: solve returned") for y in tree_leaves(x)]
        what = f"custom_root: solve ({name_of(solve)})"
        _check(what, tree_structure(x), types, tree, avals, "initial_guess")
        return result

    root.__name__ = f"root_of_{name}"
    if get_trace() is EVAL:
        return root(converted.consts, guess)
    change = _converted_tangent(converted, guess, tangent_solve)
    if is_only_differentiated(get_trace(), tree_leaves((converted.consts, guess))):
        try:
            made = _differentiable(root, converted, change, has_aux)
            return made(change.consts, converted.consts, guess)
        except UnexpectedTracerError as e:
            if not names_rule(e):
                raise
    # solve may use values that are being transformed: traced, it has them as operands. The root
    # does not depend on them, so their tangents are ignored.
    traced, values = closure_convert(root, converted.consts, guess)
    made = _differentiable(traced, converted, change, has_aux)
    return made(change.consts, converted.consts, guess, *values)


def _converted_tangent(f: Converted, guess: Any, tangent_solve: Callable[..., Any]) -> Converted:
    """``tangent_solve(g, y)`` of ``(consts, x, y)``, where ``g`` is ``f`` linearized at ``x``.

    It is traced, so that the values that ``tangent_solve`` closes over are operands of the root: a
    rule gets them as primals, under every transformation of the call.
    """

    def change(given: Any) -> Any:
        consts, x, y = given
        _, g = linearize(lambda v: f(consts, v), x)
        return tangent_solve(g, y)

    leaves, tree = tree_flatten((f.consts, guess, tree_map(zero_from_primal, guess)))
    return Converted(change, leaves, tree, name_of(tangent_solve))


def _differentiable(
    root: Callable[..., Any], f: Converted, change: Converted, has_aux: bool
) -> Any:
    """``root(consts, guess, *values)`` with the values that ``change`` closes over as first
    argument, differentiable with respect to ``consts`` only."""

    def root_with_values(_: Any, *args: Any) -> Any:
        return root(*args)

    def root_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
        values, consts = primals[:2]
        result = made(*primals)
        x = result[0] if has_aux else result
        # Constants without tangents are not differentiated: else zeros would go into references.
        moves = [not is_zero(t) for t in tangents[1]]
        given, pushed = tuple(pick(consts, moves)), tuple(pick(tangents[1], moves))

        def moved(*values: Any) -> Any:
            rest = iter(values)
            return f([next(rest) if m else c for c, m in zip(consts, moves)], x)

        _, df = jvp(moved, given, pushed)
        dx = change(values, (consts, x, tree_map(lambda t: algebra().neg(t), df)))
        return result, (dx, tree_map(zero_from_primal, result[1])) if has_aux else dx

    root_with_values.__name__ = root.__name__
    made = custom(root_with_values)
    made.rules.ignores_closure = True
    made.def_jvp(root_jvp, symbolic_zeros=True)
    return made


@reword_errors
def custom_linear_solve(
    matvec: Callable[..., Any], b: Any, solve: Callable[..., Any],
    transpose_solve: Callable[..., Any] | None = None, symmetric: bool = False,
    has_aux: bool = False,
) -> Any:  # fmt: skip
    """The solution ``x`` of ``matvec(x) = b``, differentiable in ``b`` and what ``matvec`` closes
    over.

    Args:
        matvec: a linear function from a pytree of arrays to one of the same structure and types.
        b: the right-hand side.
        solve: ``solve(matvec, b)`` returns the solution. It need not be differentiable.
        transpose_solve: the same for the transposed map, ``transpose_solve(vecmat, b)``; reverse
            mode needs it, unless the map is ``symmetric``.
        has_aux: both return a pair of the solution and further values, without derivatives.

    Returns: the result of ``solve``. The tangent solves ``matvec(dx) = db - d(matvec)(x)``, and the
    transpose of the solve is the solve of the transpose.

    Raises:
        TypeError: ``matvec`` or ``solve`` returns another structure or type than ``b``; when
            differentiated in reverse mode, there is no ``transpose_solve``.
    """
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    leaves, tree = tree_flatten(b)
    name = name_of(matvec)
    mv = Converted(matvec, leaves, tree, name)
    avals = [typeof(x) for x in leaves]
    _check("custom_linear_solve: matvec", mv.out_tree, mv.out_avals, tree, avals, "b")

    def forward(x: Any) -> Any:
        return mv(mv.consts, x)

    solver = _solver(solve, forward, leaves, tree, has_aux)
    vm = back = None
    if transpose_solve is solve and symmetric:
        vm, back = mv, solver
    elif transpose_solve is not None:

        def transposed(x: Any) -> Any:
            return forward(x) if symmetric else linear_transpose(forward, b)(x)[0]

        vm = mv if symmetric else Converted(transposed, leaves, tree, f"{name}_transposed")
        back = _solver(transpose_solve, transposed, leaves, tree, has_aux)
    parts = (mv, vm, solver, back)
    outs = linear_solve_p.bind(
        *(c for p in parts if p is not None for c in p.consts),
        *leaves,
        const_lengths=LinearSolveTuple(*[0 if p is None else len(p.consts) for p in parts]),
        jaxprs=LinearSolveTuple(*[None if p is None else p.program for p in parts]),
    )
    return tree_unflatten(solver.out_tree, outs)


def _solver(
    solve: Callable[..., Any], matvec: Callable[..., Any], leaves: Any, tree: Any, has_aux: bool
) -> Converted:
    result = Converted(lambda x: solve(matvec, x), leaves, tree, name_of(solve))
    x_tree, x_leaves = result.out_tree, result.jaxpr.outvars
    if has_aux:
        out = _unflattened(result)
        if not (isinstance(out, (tuple, list)) and len(out) == 2):  # type: ignore[arg-type]
            raise TypeError(
                f"custom_linear_solve with has_aux=True: {name_of(solve)} must return a pair "
                "(solution, aux)"
            )
        x_tree, x_leaves = tree_structure(out[0]), tree_leaves(out[0])
    what = f"custom_linear_solve: solve ({name_of(solve)})"
    types, avals = [v.aval for v in x_leaves], [typeof(x) for x in leaves]
    _check(what, x_tree, types, tree, avals, "b")
    return result


def _unflattened(result: Converted) -> Any:
    return tree_unflatten(result.out_tree, result.jaxpr.outvars)


class MismatchError(TypeError, ValueError):
    """A function's result does not have the required structure and types."""


def _check(what: str, tree: Any, types: Any, want: Any, avals: Any, reference: str) -> None:
    if tree != want:
        raise MismatchError(
            f"{what} must return the structure of {reference}{here()}: {differences(want, tree)}"
        )
    for i, (x, a) in enumerate(zip(types, avals)):
        check_aval(x, a, f"{what} returned", want, i, f"{reference} has", _mismatch)


def _mismatch(text: str) -> Exception:
    return MismatchError(f"{text}{here()}")
