"""Every error that custom rules raise names the rule, the function, the place and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail.custom_batching import custom_vmap
from dovetail.custom_derivatives import (
    custom_vjp_primal_tree_values,
    linear_call,
)
from dovetail_core import RegistryError, UnexpectedTracerError


def raises(kind: type[Exception], text: str, f: Callable[..., Any], *args: Any, **kw: Any) -> None:
    with pytest.raises(kind) as result:
        f(*args, **kw)
    assert text in str(result.value), str(result.value)


# What is decorated, and what it is called with.


def test_decorators_take_functions() -> None:
    raises(TypeError, "custom takes a function, got 3 of type int", dt.custom, 3)
    raises(TypeError, "custom_jvp takes a function, got None", dt.custom_jvp, None)
    f = dt.custom(square)
    raises(TypeError, "the dce rule of square must be a function, got 3 of type int", f.def_dce, 3)
    raises(TypeError, "the vjp rule of square is two functions, fwd and bwd; got None",
           f.def_vjp, square, None)  # fmt: skip
    raises(TypeError, "linear_call takes two functions, got 1", linear_call, 1, square, 1.0, 1.0)


def test_rules_must_be_defined_before_the_call() -> None:
    for decorator, method in [
        (dt.custom_jvp, "defjvp"), (dt.custom_vjp, "defvjp"), (dt.custom_dce, "def_dce"),
        (custom_vmap, "def_vmap"),
    ]:  # fmt: skip
        text = f"{decorator.__name__} was applied to square, but no"
        raises(AttributeError, text, decorator(square), 1.0)
        raises(AttributeError, f"Define one with square.{method}", decorator(square), 1.0)
    both = dt.custom_jvp(dt.custom_dce(square))
    both.defjvp(lambda p, t: (p[0], t[0]))
    raises(AttributeError, "custom_dce was applied to square, but no dce rule", both, 1.0)


def test_arguments_that_are_named() -> None:
    raises(ValueError, "square has 1 positional arguments, but argument 2 was named",
           dt.custom_jvp, square, nondiff_argnums=2)  # fmt: skip
    raises(ValueError, "square has no argument 'y'; it has x",
           dt.custom_vjp, square, nondiff_argnames="y")  # fmt: skip
    raises(TypeError, "custom_jvp of square: argument numbers must be integers, got ('a',)",
           dt.custom_jvp, square, nondiff_argnums=("a",))  # fmt: skip


def test_arguments_that_do_not_fit() -> None:
    f = dt.custom(square)
    raises(TypeError, "the arguments do not fit square(x: 'Any') -> 'Any': missing a required", f)
    raises(TypeError, "got an unexpected keyword argument 'y'", f, 1.0, y=2)
    raises(TypeError, "square: argument 0['a']: 'text' of type str is not a valid array value",
           dt.jit(lambda: f({"a": "text"})))  # fmt: skip
    raises(TypeError, "name arguments that are not arrays with nondiff_argnums",
           dt.jit(lambda: f({"a": "text"})))  # fmt: skip
    bad = dt.custom(lambda x: "text")
    raises(TypeError, "<lambda> returned a value that is not an array", dt.jit(bad), 1.0)


def test_traced_values_in_static_positions() -> None:
    f = dt.custom_dce(lambda x, n: (x, x * n), static_argnums=1)
    f.def_dce(lambda n, used, x: (x, x * n))
    raises(UnexpectedTracerError, "argument 1 of <lambda> is static (static_argnums), but a traced "
           "value of type i32[]~ was passed", dt.jit(lambda n: f(1.0, n)), 3)  # fmt: skip
    raises(UnexpectedTracerError, "leave 1 out of static_argnums", dt.vmap(lambda n: f(1.0, n)),
           np.arange(3))  # fmt: skip


def test_tables_that_do_not_exist() -> None:
    raises(RegistryError, "'nosuch'", dt.custom(square).def_rule, "nosuch", square)


# Derivative rules.


def square(x: Any) -> Any:
    return x * x


def pair(x: Any) -> Any:
    return {"a": x * 1.0, "b": x * 1.0}


def named(rule: Any) -> Any:
    rule.__name__ = "rule"
    return rule


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda p, t: 1.0, "the jvp rule rule of pair must return a pair (primal_out, "
         "tangent_out), got a float."),
        (lambda p, t: ({"a": 1.0}, t), "the jvp rule rule of pair returned a result of another "
         "structure than pair itself"),
        (lambda p, t: (pair(*p), {"a": 1.0}), "returned a tangent of another structure than its "
         "primal result"),
        (lambda p, t: (pair(*p), {"a": 1.0, "b": dnp.ones(3)}), "returned the tangent f32[3] for "
         "the output ['b'], where the primal result wants f32[]"),
        (lambda p, t: (pair(*p), {"a": 1.0, "b": 1}), "returned the tangent i32[]~ for the output "
         "['b'], where the primal result wants f32[]"),
        (lambda p, t: ({"a": dnp.ones(2), "b": 1.0}, t), "returned f32[2] for the output ['a'], "
         "where pair returns f32[]"),
        (lambda p, t: (pair(*p), {"a": np.zeros(2, dt.float0), "b": 1.0}), "returned the tangent "
         "float0[2] for the output ['a'], where the primal result wants f32[]"),
    ],
)  # fmt: skip
def test_jvp_rules_that_return_something_else(rule: Any, text: str) -> None:
    f = dt.custom_jvp(pair)
    f.defjvp(named(rule))
    raises(TypeError, text, dt.jit(lambda x: dt.jvp(f, (x,), (1.0,))), 1.0)


def test_jvp_rules_in_eager_calls_and_lin_rules() -> None:
    f = dt.custom_jvp(pair)
    f.defjvp(named(lambda p, t: (pair(*p), {"a": 1.0})))
    raises(TypeError, "returned a tangent of another structure", dt.jvp, f, (1.0,), (1.0,))
    g = dt.custom(square)
    g.def_lin(named(lambda x: x))
    raises(TypeError, "the lin rule rule of square must return a pair (primal_out, linear function "
           "of tangents), got a ", dt.grad(g), 1.0)  # fmt: skip


def test_defjvps() -> None:
    f = dt.custom_jvp(lambda x, y: x * y)
    f.defjvps(None)
    raises(TypeError, "defjvps of <lambda> was given 1 functions, but <lambda> was called with 2",
           dt.grad(f), 1.0, 2.0)  # fmt: skip
    g = dt.custom_jvp(lambda x, y: x * y, nondiff_argnums=0)
    g.defjvps(None, None)
    raises(TypeError, "cannot be used with nondiff_argnums", dt.grad(g, 1), 1.0, 2.0)


@pytest.mark.parametrize(
    ("bwd", "kind", "text"),
    [
        (lambda r, ct: ct, TypeError, "the backward rule rule of two must return a tuple with one "
         "cotangent per differentiated argument (2), got a "),
        (lambda r, ct: (ct,), TypeError, "(2), got a tuple of length 1."),
        (lambda r, ct: ({"c": ct}, ct), TypeError, "returned a cotangent of another structure than "
         "argument 0"),
        (lambda r, ct: (None, dnp.ones(2)), ValueError, "the backward rule rule of two returned, "
         "for argument 1, f32[2], where the argument wants f32[]"),
        (lambda r, ct: ({"a": 1j, "b": None}, None), ValueError, "returned, for argument 0, c64[]~ "
         "for the output ['a'], where the argument wants f32[]"),
    ],
)  # fmt: skip
def test_backward_rules_that_return_something_else(bwd: Any, kind: Any, text: str) -> None:
    def two(p: Any, y: Any) -> Any:
        return p["a"] * p["b"] * y

    f = dt.custom_vjp(two)
    f.defvjp(lambda p, y: (f(p, y), None), named(bwd))
    for g in (dt.grad(f), dt.jit(dt.grad(f)), dt.grad(dt.jit(f))):
        raises(kind, text, g, {"a": 1.0, "b": 2.0}, 3.0)


def test_a_cotangent_may_be_a_prefix_of_its_argument_and_a_tangent_not() -> None:
    f = dt.custom_vjp(lambda x: 2 * x["a"][0])
    f.defvjp(lambda x: (f(x), None), named(lambda r, ct: ({"a": ct, "b": None},)))
    assert dt.grad(f)({"a": [1.0, 2.0], "b": 3.0}) == {"a": [1.0, 1.0], "b": 0.0}
    g = dt.custom_jvp(lambda x: [2 * x])
    g.defjvp(named(lambda p, t: (g(*p), t[0])))
    raises(TypeError, "returned a tangent of another structure than its primal result: at the "
           "root: list with 1 child against a leaf", dt.jvp, g, (1.0,), (1.0,))  # fmt: skip


def test_forward_rules_that_return_something_else() -> None:
    f = dt.custom_vjp(square)
    f.defvjp(named(lambda x: x), lambda r, ct: (ct,))
    raises(TypeError, "the forward rule rule of square must return a pair (result, residuals), got",
           dt.grad(f), 1.0)  # fmt: skip
    f.defvjp(named(lambda x: ([x], None)), lambda r, ct: (ct,))
    raises(TypeError, "the forward rule rule of square returned a result of another structure than "
           "square itself", dt.jit(dt.grad(f)), 1.0)  # fmt: skip
    f.defvjp(named(lambda x: (x, "text")), lambda r, ct: (ct,))
    raises(TypeError, "returned a residual that is not an array: 'text'", dt.grad(f), 1.0)
    raises(TypeError, "custom_vjp_primal_tree_values takes CustomVJPPrimal leaves, got 1.0",
           custom_vjp_primal_tree_values, [1.0])  # fmt: skip


def halving(x: Any, ct: Any) -> Any:
    step = lambda s: (s[0] + 1, s[1] * 0.5)  # noqa: E731
    return (dt.lax.while_loop(lambda s: s[0] < 3, step, (0, ct))[1],)


@pytest.mark.parametrize(
    ("bwd", "why"),
    [
        (halving, "while_loop"),
        (lambda x, ct: (dnp.sin(ct),), "'sin' is not linear"),
        (lambda x, ct: (ct * ct,), "mul is not linear in operand 1 beside the others"),
        (lambda x, ct: (ct if ct > 0 else -ct,), "used as a Python condition"),
    ],
)
def test_backward_functions_that_cannot_be_transposed(bwd: Any, why: str) -> None:
    f = dt.custom_vjp(square)
    f.defvjp(lambda x: (f(x), x), named(bwd))
    text = "forward-mode differentiation of square runs its backward function rule transposed"
    for use in (
        lambda: dt.jvp(f, (1.0,), (1.0,)), lambda: dt.linearize(f, 1.0)[1](1.0),
        lambda: dt.jacfwd(f)(1.0), lambda: dt.jit(lambda x: dt.jvp(f, (x,), (1.0,)))(1.0),
    ):  # fmt: skip
        raises(TypeError, text, use)
        raises(TypeError, why, use)
        raises(TypeError, "Give square a rule of forward mode (def_jvp), or differentiate in "
               "reverse mode", use)  # fmt: skip


def closing(kind: str) -> Callable[..., Any]:
    """A function of two arguments, whose custom function and rules close over the first."""

    def outer(y: Any, x: Any) -> Any:
        f = dt.custom(lambda x: x * y)
        if kind == "jvp":
            f.def_jvp(lambda p, t: (p[0] * y, t[0] * y))
        else:
            f.def_vjp(lambda x: (x * y, None), lambda _, ct: (ct * y,))
        return f(x)

    return outer


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_values_that_are_closed_over(kind: str) -> None:
    outer = closing(kind)
    assert dt.grad(outer, 1)(3.0, 2.0) == 3.0
    assert dt.jit(dt.grad(outer, 1))(3.0, 2.0) == 3.0
    text = "is differentiated with respect to a value that the function closes over"
    raises(UnexpectedTracerError, text, dt.grad(outer), 3.0, 2.0)
    raises(UnexpectedTracerError, text, dt.jit(dt.grad(outer)), 3.0, 2.0)
    # The rules run when the trace of ``outer`` is over.
    assert dt.grad(dt.jit(outer), 1)(3.0, 2.0) == 3.0
    raises(UnexpectedTracerError, text, dt.grad(dt.jit(outer)), 3.0, 2.0)


def test_arguments_marked_as_not_differentiable() -> None:
    f = dt.custom_jvp(lambda x, n: x * n, nondiff_argnums=1)
    f.defjvp(lambda n, p, t: (p[0] * n, t[0]))
    raises(UnexpectedTracerError, "with respect to its argument 1, which is marked as not "
           "differentiable", dt.grad(f, 1), 1.0, 2.0)  # fmt: skip


# Rules of dead-code elimination.


@pytest.mark.parametrize(
    ("made", "kind", "text"),
    [
        (lambda x: {"a": None, "b": [x, None]}, TypeError, "the dce rule rule of tree returned "
         "another structure than tree itself"),
        (lambda x: {"b": (x, None)}, TypeError, "expected PyTreeDef({'a': *, 'b': (*, *)}), got"),
        (lambda x: {"a": None, "b": (x,)}, TypeError, "another structure than tree itself"),
        (lambda x: {"a": None, "b": ([x], None)}, TypeError, "another structure than tree"),
        (lambda x: {"a": x, "b": (None, x)}, ValueError, "the dce rule rule of tree returned None "
         "for the output ['b'][0], which is used: tree returns f32[]"),
        (lambda x: {"a": x, "b": None}, ValueError, "None for the output ['b'][0], which is used"),
        (lambda x: {"a": x, "b": (dnp.ones(3), x)}, ValueError, "the dce rule rule of tree "
         "returned f32[3] for the output ['b'][0], where tree returns f32[]"),
        (lambda x: {"a": x, "b": (1, x)}, ValueError, "returned i32[]~ for the output ['b'][0], "
         "where tree returns f32[]"),
        (lambda x: {"a": x, "b": ("text", x)}, TypeError, "'text' of type str"),
    ],
)  # fmt: skip
def test_dce_rules_that_return_something_else(made: Any, kind: Any, text: str) -> None:
    def tree(x: Any) -> Any:
        return {"a": x * 1.0, "b": (x * 2.0, x * 3.0)}

    f = dt.custom_dce(tree)
    f.def_dce(named(lambda used, x: made(x)))
    raises(kind, text, dt.jit(lambda x: f(x)["b"][0]), 1.0)


def test_dce_rules_that_close_over_traced_values() -> None:
    def closing(y: Any) -> Any:
        f = dt.custom_dce(lambda x: (x, x * y))
        f.def_dce(named(lambda used, x: (None, x * y)))
        return f(2.0)[1]

    assert dt.jit(closing)(3.0) == 6.0

    def outer(y: Any) -> Any:
        f = dt.custom_dce(lambda x: (x, x * 2.0))
        f.def_dce(named(lambda used, x: (None, x * y)))
        return f(2.0)[1]

    raises(UnexpectedTracerError, "rule, a rule of <lambda>, uses a traced value that is not among "
           "its arguments", dt.jit(outer), 3.0)  # fmt: skip


# Rules of batching and transposition.


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda size, b, x: x, "the vmap rule rule of square must return a pair (result, "
         "out_batched), got"),
        (lambda size, b, x: (x, [True]), "returned out_batched of another structure than its "
         "result"),
        (lambda size, b, x: ([x], [True]), "returned a result of another structure than square"),
        (lambda size, b, x: (x.sum(), True), "the vmap rule rule of square returned f32[], where "
         "square mapped over 3 elements returns f32[3]"),
        (lambda size, b, x: (x > 0, True), "returned bool[3], where square mapped over 3 elements "
         "returns f32[3]"),
    ],
)  # fmt: skip
def test_vmap_rules_that_return_something_else(rule: Any, text: str) -> None:
    f = custom_vmap(square)
    f.def_vmap(named(rule))
    kind = ValueError if "structure" in text else TypeError
    raises(kind, text, dt.vmap(f), np.ones(3, np.float32))


def test_vmap_rules_do_not_know_what_is_closed_over() -> None:
    def outer(y: Any) -> Any:
        f = custom_vmap(lambda x: x * y)
        f.def_vmap(lambda size, b, x: (x, True))
        return f(2.0)

    raises(UnexpectedTracerError, "<lambda> closes over a value that is mapped by vmap, but its "
           "vmap rule only speaks of its arguments", dt.vmap(outer), np.ones(3))  # fmt: skip


def test_transpose_rules() -> None:
    call = lambda r, x: linear_call(lambda r, x: x * r, named(lambda r, ct: [ct]), r, x)  # noqa: E731
    raises(TypeError, "the transpose rule rule of <lambda> returned a cotangent of another "
           "structure than argument 1", dt.grad(call, 1), 1.0, 2.0)  # fmt: skip
    wrong = lambda r, x: linear_call(lambda r, x: x * r, named(lambda r, ct: dnp.ones(3)), r, x)  # noqa: E731
    raises(ValueError, "the transpose rule rule of <lambda> returned, for argument 1, f32[3], "
           "where the argument wants f32[]", dt.grad(wrong, 1), 1.0, 2.0)  # fmt: skip
    text = "is transposed with respect to a residual argument, in which it is not linear"
    raises(NotImplementedError, text,
           lambda: dt.linear_transpose(lambda r: call(r, 2.0), 1.0)(1.0))  # fmt: skip


def test_out_types_of_custom_transpose() -> None:
    f = dt.custom_transpose(lambda r, x: x / r)
    f.def_transpose(lambda r, ct: ct / r)
    three = dt.ShapeDtypeStruct((3,), np.float32)
    raises(TypeError, "<lambda> returned f32[]~, where out_types says", f, three, 1.0, 2.0)
    raises(TypeError, "another structure than out_types says", f, [three], 1.0, 2.0)


def test_zero_cotangents_are_arrays_to_a_rule() -> None:
    seen: list[Any] = []
    f = dt.custom_vjp(lambda x: (2 * x, x))
    f.defvjp(lambda x: (f(x), None), lambda r, ct: (seen.append(ct), ct[0])[1:])
    dt.grad(lambda x: f(x)[0])(1.0)
    assert all(isinstance(x, dt.Array) for x in seen[0])
