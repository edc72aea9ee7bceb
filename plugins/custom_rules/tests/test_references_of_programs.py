"""Rules that are given references which the program makes: when what they do happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import lax

f32 = np.float32
grad, jit, vmap, checkpoint = dovetail.grad, dovetail.jit, dovetail.vmap, dovetail.checkpoint
Function = Callable[[Any], Any]
SCHEMES = [dovetail.Periodic(2), dovetail.Binomial(1), dovetail.Online(2)]


@dovetail.custom_vjp
def counting(x: Any, ref: Any) -> Any:
    """x times what the reference holds, which is one more afterwards."""
    n = ref[...]
    ref[...] = n + 1.0
    return n * x


def _counted(x: Any, ref: Any) -> Any:
    n = ref[...]
    ref[...] = n + 1.0
    return n * x, (n, ref)


def _counted_back(residuals: Any, ct: Any) -> Any:
    n, ref = residuals
    ref[...] += 10.0  # of no consequence for what went before
    return n * ct, None


counting.defvjp(_counted, _counted_back)


@dovetail.custom_vjp
def waiting(x: Any, ref: Any) -> Any:
    """x; cotangents are multiplied by how many came before, and one."""
    return x * 1.0


def _waited_back(ref: Any, ct: Any) -> Any:
    ref[...] += 1.0
    return ct * ref[...], None


waiting.defvjp(lambda x, ref: (x * 1.0, ref), _waited_back)


def twice(f: Any, first: float) -> Function:
    """Two calls with one reference that the function makes."""

    def g(x: Any) -> Any:
        ref = dovetail.new_ref(f32(first))
        return f(f(x, ref), ref)

    return g


def twice_in_calls(f: Any, first: float) -> Function:
    def g(x: Any) -> Any:
        ref = dovetail.new_ref(f32(first))
        return f(jit(f)(x, ref), ref)

    return g


def twice_in_a_loop(f: Any, first: float) -> Function:
    def g(x: Any) -> Any:
        ref = dovetail.new_ref(f32(first))
        return lax.fori_loop(0, 2, lambda _, c: f(c, ref), x)

    return g


def beside_a_differentiated_one(f: Any, first: float) -> Function:
    """In a compiled call that writes to a reference which holds what is differentiated."""
    inner = twice(f, first)

    def g(x: Any) -> Any:
        kept = dovetail.new_ref(x)
        jit(lambda ref: ref.__setitem__(..., inner(ref[...])))(kept)
        return kept[...]

    return g


PROGRAMS = [twice, twice_in_calls, twice_in_a_loop, beside_a_differentiated_one]
REVERSE: dict[str, Callable[[Function], Function]] = {
    "grad": grad,
    "jit(grad)": lambda f: jit(grad(f)),
    "grad(jit)": lambda f: grad(jit(f)),
    "grad(jit(jit))": lambda f: grad(jit(lambda x: jit(f)(x))),
    "grad(checkpoint)": lambda f: grad(checkpoint(f)),
    "jit(grad(checkpoint))": lambda f: jit(grad(checkpoint(f))),
    "grad(checkpoint(jit))": lambda f: grad(checkpoint(jit(f))),
    "vjp(jit)": lambda f: lambda x: dovetail.vjp(jit(f), x)[1](f32(1.0))[0],
    "vmap(grad)": lambda f: lambda x: vmap(grad(f))(x[None])[0],
    "grad(vmap)": lambda f: grad(lambda x: vmap(f)(x[None])[0]),
    "grad(jit(vmap))": lambda f: grad(jit(lambda x: vmap(f)(x[None])[0])),
    "grad(cond)": lambda f: grad(lambda x: lax.cond(x > 0, f, lambda x: x, x)),
}
FORWARD: dict[str, Callable[[Function], Function]] = {
    "jvp": lambda f: lambda x: dovetail.jvp(f, (x,), (f32(1.0),)),
    "jit(jvp)": lambda f: jit(lambda x: dovetail.jvp(f, (x,), (f32(1.0),))),
    "jvp(jit)": lambda f: lambda x: dovetail.jvp(jit(f), (x,), (f32(1.0),)),
    "jvp(checkpoint)": lambda f: lambda x: dovetail.jvp(checkpoint(f), (x,), (f32(1.0),)),
    "linearize(jit)": lambda f: lambda x: (f(x), dovetail.linearize(jit(f), x)[1](f32(1.0))),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_backward_rules_do_nothing_to_what_went_before(program: Any) -> None:
    f, x = program(counting, 1.0), f32(0.5)  # 2 x
    assert float(f(x)) == float(jit(f)(x)) == 1.0
    for name, transform in REVERSE.items():
        assert float(transform(f)(x)) == 2.0, name
    for name, transform in FORWARD.items():
        assert tuple(map(float, transform(f)(x))) == (1.0, 2.0), name


@pytest.mark.parametrize("program", PROGRAMS)
def test_backward_rules_happen_in_their_order(program: Any) -> None:
    f, x = program(waiting, 0.0), f32(0.5)  # the cotangent is multiplied by 1, and then by 2
    for name, transform in REVERSE.items():
        assert float(transform(f)(x)) == 2.0, name


def squared(f: Function) -> Function:
    return lambda x: f(x) ** 2


def test_second_derivatives() -> None:
    for program in PROGRAMS:
        f = program(counting, 1.0)
        square = squared(f)  # 4 x^2
        for g in (square, jit(square), checkpoint(square), squared(jit(f))):
            assert float(grad(grad(g))(f32(0.5))) == 8.0
            assert float(dovetail.jvp(grad(g), (f32(0.5),), (f32(1.0),))[1]) == 8.0
            assert float(jit(grad(lambda x: dovetail.jvp(g, (x,), (f32(1.0),))[1]))(f32(0.5))) == 8  # noqa: B023


def loops(body: Function, scheme: Any) -> list[Function]:
    how = {} if scheme is None else {"checkpoint": scheme}

    def step(c: Any, _: Any) -> tuple[Any, None]:
        return body(c), None

    result: list[Function] = [
        lambda x: lax.scan(step, x, None, length=3, **how)[0],
        lambda x: lax.fori_loop(0, 3, lambda i, c: body(c), x, **how),
    ]
    if isinstance(scheme, dovetail.Online):
        counted = lambda c: (c[0] + 1, body(c[1]))  # noqa: E731
        result.append(lambda x: lax.while_loop(lambda c: c[0] < 3, counted, (0, x), **how)[1])
    return result


@pytest.mark.parametrize("scheme", [None, *SCHEMES], ids=repr)
def test_each_step_of_a_loop_makes_one(scheme: Any) -> None:
    for program, slope in ((counting, 8.0), (waiting, 8.0)):
        for f in loops(twice(program, 1.0 if program is counting else 0.0), scheme):
            assert float(grad(f)(f32(1.0))) == float(jit(grad(f))(f32(1.0))) == slope
            assert float(grad(checkpoint(f))(f32(1.0))) == float(grad(jit(f))(f32(1.0))) == slope
            assert float(vmap(grad(f))(np.ones(1, f32))[0]) == slope
    for f in loops(twice(counting, 1.0), scheme):
        assert tuple(map(float, dovetail.jvp(f, (f32(1.0),), (f32(1.0),)))) == (8.0, 8.0)
        assert float(grad(grad(squared(f)))(f32(1.0))) == 128.0


def closing(ref: Any, in_body: bool) -> Any:
    """A function whose rules, and perhaps whose body, close over a reference."""
    f = dovetail.custom_vjp(lambda x: x * (ref[...] if in_body else 2.0))
    f.defvjp(lambda x: (x * ref[...], None), lambda _, ct: (ct * ref[...],))
    return f


def once(f: Any) -> Function:
    return lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0]


def test_forward_mode_where_body_and_rules_close_over_one() -> None:
    for wrap in (lambda f: f, jit, once, checkpoint):
        for name, transform in FORWARD.items():
            f = wrap(closing(dovetail.new_ref(f32(2.0)), True))
            assert tuple(map(float, transform(f)(f32(0.5)))) == (1.0, 2.0), name
        f = wrap(closing(dovetail.new_ref(f32(2.0)), True))
        np.testing.assert_array_equal(dovetail.jacfwd(f)(np.ones(2, f32)), 2 * np.eye(2))


@pytest.mark.parametrize("backend", [None, "reference"])
def test_forward_mode_where_a_rule_alone_closes_over_one(backend: Any) -> None:
    f = closing(dovetail.new_ref(f32(2.0)), False)
    text = (
        r"computed by a rule that closes over Ref\{f32\[\]\}, which the program that is compiled "
        r"does not have. Make it an argument of the function that has the rule\."
    )
    with pytest.raises(TypeError, match=text):
        jit(lambda x: dovetail.jvp(f, (x,), (f32(1.0),)), backend=backend)(f32(0.5))
    assert tuple(map(float, dovetail.jvp(f, (f32(0.5),), (f32(1.0),)))) == (1.0, 2.0)


def test_equations_that_use_one() -> None:
    """The root of 2 y = 2 x, by a function that makes a reference."""

    def root(x: Any) -> Any:
        f = twice_in_a_loop(counting, 1.0)
        return lax.custom_root(
            lambda y: 2.0 * y - f(x), f32(0.0), lambda g, y: y - g(y) / 2.0, lambda g, y: y / 2.0
        )

    for g in (root, jit(root), checkpoint(root)):
        assert float(g(f32(0.5))) == 0.5
        assert float(grad(g)(f32(0.5))) == float(jit(grad(g))(f32(0.5))) == 1.0
        assert float(vmap(grad(g))(np.ones(1, f32))[0]) == 1.0


def test_functions_without_derivative_rules() -> None:
    """What these are linearized as holds functions that have one."""
    f = twice(counting, 1.0)
    mapped, reduced = dovetail.custom_batching.custom_vmap(f), dovetail.custom_dce(f)
    mapped.def_vmap(lambda n, batched, x: (vmap(f)(x), True))
    reduced.def_dce(lambda used, x: f(x) if used else None)
    for g in (mapped, reduced, jit(mapped), jit(reduced)):
        assert float(grad(g)(f32(0.5))) == float(jit(grad(g))(f32(0.5))) == 2.0
        assert float(dovetail.linearize(g, f32(0.5))[1](f32(1.0))) == 2.0
