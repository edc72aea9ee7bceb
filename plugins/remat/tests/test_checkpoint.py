"""``checkpoint``: the same derivatives, with fewer values kept and more computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp
from dovetail_ad.test_util import check_grads
from dovetail_backends import device_put
from dovetail_batching import vmap
from dovetail_core import TracerBoolConversionError, parse_ir, print_ir
from dovetail_core.ir.programs import subprograms
from dovetail_jit import jit, make_jaxpr
from dovetail_remat import checkpoint, checkpoint_name, checkpoint_policies as policies, remat

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
W = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
ROWS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def chain(x: Any) -> Any:
    return total(lax.sin(lax.exp(lax.tanh(x))))


def layers(w: Any, x: Any) -> Any:
    for _ in range(3):
        x = checkpoint_name(lax.tanh(lax.dot(w, x)), "layer")
    return total(x)


def operations(f: Callable[..., Any], *args: Any) -> Counter[str]:
    """How often each operation occurs in the program of ``f``, sub-programs included."""
    count: Counter[str] = Counter()
    todo: list[Any] = [make_jaxpr(f)(*args).jaxpr]
    while todo:
        for eqn in todo.pop().eqns:
            count[eqn.primitive.name] += 1
            todo.extend(getattr(p, "jaxpr", p) for p in subprograms(eqn.params))
    return count


def close(result: Any, expected: Any) -> None:
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-6)


# --- the same values and derivatives --------------------------------------------------------------

POLICIES: dict[str, Any] = {
    "none": None,
    "everything": policies.everything_saveable,
    "nothing": policies.nothing_saveable,
    "dots": policies.dots_saveable,
    "dots without batch": policies.dots_with_no_batch_dims_saveable,
    "only names": policies.save_only_these_names("layer"),
    "other names": policies.save_any_names_but_these("other"),
    "all but names": policies.save_anything_except_these_names("layer"),
    "both": policies.save_from_both_policies(
        policies.dots_saveable, policies.save_only_these_names("layer")
    ),
}


@pytest.fixture(scope="module")
def expected() -> Any:
    """The gradient of the function itself."""
    return jit(grad(layers, (0, 1)))(W, X)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_policy_gives_the_same_gradients(policy: Any, expected: Any) -> None:
    for result, right in zip(jit(grad(checkpoint(layers, policy=policy), (0, 1)))(W, X), expected):
        close(result, right)


def test_the_gradient_is_the_same_under_every_transformation(expected: Any) -> None:
    f = checkpoint(layers, prevent_cse=False)
    close(f(W, X), layers(W, X))
    for g in (grad(f, (0, 1)), grad(jit(f), (0, 1)), jacfwd(f, (0, 1))):
        for result, right in zip(g(W, X), expected):
            close(result, right)
    close(vmap(grad(f, 1), (None, 0))(W, ROWS), vmap(grad(layers, 1), (None, 0))(W, ROWS))


def test_second_order_in_every_mode() -> None:
    f, expected = checkpoint(chain), jacrev(grad(chain))(X)
    for h in (
        jacrev(grad(f)), jacfwd(grad(f)), jacrev(jacfwd(f)), jacrev(checkpoint(grad(f))),
        jacrev(grad(checkpoint(f))),
    ):  # fmt: skip
        close(jit(h)(X), expected)
    check_grads(f, (X,), 2)


def test_jvp_linearize_and_vjp() -> None:
    f = checkpoint(lambda x: {"y": lax.sin(lax.exp(x))})
    expected = np.cos(np.exp(X)) * np.exp(X)
    y, t = jvp(f, (X,), (np.ones_like(X),))
    close(y["y"], np.sin(np.exp(X)))
    close(t["y"], expected)
    close(linearize(f, X)[1](np.ones_like(X))["y"], expected)
    close(vjp(f, X)[1]({"y": np.ones_like(X)})[0], expected)


def test_only_some_arguments_are_differentiated() -> None:
    f = checkpoint(lambda x, n, y: lax.mul(lax.sin(lax.mul(x, float(3))), lax.add(y, n)))
    value, gradient = value_and_grad(lambda x: total(f(x, np.int32(2).astype(np.float32), X)))(X)
    close(value, np.sum(np.sin(3 * X) * (X + 2)))
    close(gradient, 3 * np.cos(3 * X) * (X + 2))
    unused = grad(lambda x, y: total(checkpoint(lambda a, b: lax.sin(a))(x, y)), (0, 1))(X, X)
    close(unused[1], np.zeros(4))


# --- what is kept and what is computed again ------------------------------------------------------


def test_without_a_policy_all_is_computed_again() -> None:
    plain, again = operations(grad(chain), X), operations(grad(checkpoint(chain)), X)
    assert (plain["tanh"], plain["exp"], plain["sin"]) == (1, 1, 1)
    # The sine is computed in the first pass only: its derivative needs its operand alone.
    assert (again["tanh"], again["exp"], again["sin"]) == (2, 2, 1)
    assert again["remat2"] == 2 and plain["remat2"] == 0


def test_a_first_pass_that_is_not_needed_disappears() -> None:
    """Residuals are inputs here, so nothing is computed twice."""
    result = operations(grad(checkpoint(lambda x: total(lax.sin(x)))), X)
    assert result["cos"] == 1 and result["sin"] == 1


@pytest.mark.parametrize(
    "policy, dots, exps",
    [
        (None, 6, 6),
        (policies.nothing_saveable, 6, 6),
        (policies.everything_saveable, 3, 3),
        (policies.dots_saveable, 3, 6),
        (policies.dots_with_no_batch_dims_saveable, 3, 6),
        (policies.save_only_these_names("product"), 3, 6),
        (policies.save_anything_except_these_names("product"), 3, 3),
    ],
    ids=["none", "nothing", "everything", "dots", "dots without batch", "names", "all but names"],
)
def test_policies_say_what_is_kept(policy: Any, dots: int, exps: int) -> None:
    """Three layers; an exponential's derivative needs its result, a product's its operands."""

    def f(w: Any, x: Any) -> Any:
        for _ in range(3):
            x = lax.exp(checkpoint_name(lax.dot(w, x), "product"))
        return total(x)

    pull = lambda w, x: vjp(checkpoint(f, policy=policy), w, x)[1](np.float32(1))  # noqa: E731
    result = operations(pull, W, X)
    backward = 6  # two products per layer
    assert (result["dot_general"] - backward, result["exp"]) == (dots, exps)


def test_results_that_no_derivative_needs_are_not_computed_again() -> None:
    """The derivative of tanh needs its operand: the last layer's result is not found twice."""

    def f(w: Any, x: Any) -> Any:
        for _ in range(3):
            x = lax.tanh(lax.dot(w, x))
        return total(x)

    result = operations(lambda w, x: vjp(checkpoint(f), w, x)[1](np.float32(1)), W, X)
    assert (result["dot_general"] - 6, result["tanh"], result["tanh_slope"]) == (6, 5, 3)


def kept(f: Any, *args: Any) -> list[str]:
    """Types of what the linear part of ``f`` keeps, its arguments aside."""
    args = tuple(
        [device_put(a) for a in args]
    )  # of NumPy arrays, which may change, copies are kept
    linear = linearize(f, *args)[1].args[0]
    return sorted(
        f"{r.dtype}{list(r.shape)}" for r in linear.residuals if not any(r is a for a in args)
    )


def test_named_values_alone_are_kept() -> None:
    def f(x: Any) -> Any:
        a = checkpoint_name(lax.sin(x), "a")
        b = checkpoint_name(lax.exp(lax.concatenate([a, a], 0)), "b")
        return total(lax.sin(b))

    cases = {
        "a": (policies.save_only_these_names("a"), ["float32[4]"]),
        "b": (policies.save_only_these_names("b"), ["float32[8]"]),
        "both": (policies.save_only_these_names("a", "b"), ["float32[8]"]),  # a is not read
        "all but a": (policies.save_any_names_but_these("a"), ["float32[8]"]),
        "neither": (policies.save_only_these_names("c"), []),
    }
    for name, (policy, expected) in cases.items():
        assert kept(checkpoint(f, policy=policy), X) == expected, name


def test_names_inside_of_jitted_functions_are_kept() -> None:
    inner = jit(lambda x: checkpoint_name(lax.sin(x), "a"))
    middle = jit(lambda x: lax.exp(inner(x)))
    f = lambda x: total(lax.sin(middle(x)))  # noqa: E731
    only = checkpoint(f, policy=policies.save_only_these_names("a"))
    assert kept(only, X) == ["float32[4]"]
    result = operations(grad(only), X)
    assert (result["sin"], result["exp"]) == (2, 2), "one inner sine, kept, and the outer one"
    assert operations(grad(checkpoint(f)), X)["sin"] == 3
    close(jit(jacfwd(grad(only)))(X), jit(jacfwd(grad(f)))(X))


def test_everything_kept_is_only_what_is_needed() -> None:
    f = checkpoint(
        lambda x: total(lax.sin(lax.neg(lax.neg(x)))), policy=policies.everything_saveable
    )
    assert kept(f, X) in ([], ["float32[4]"])


def test_policies_are_asked_for_operations_with_types_and_parameters() -> None:
    asked: list[Any] = []

    def policy(prim: Any, *avals: Any, **params: Any) -> bool:
        asked.append((prim.name, [a.str_short() for a in avals], params))
        return False

    grad(checkpoint(lambda x: total(lax.reshape(lax.exp(x), (2, 2))), policy=policy))(X)
    assert ("reshape", ["f32[4]"], {"new_sizes": (2, 2)}) in asked
    assert ("reduce_sum", ["f32[2,2]"], {"axes": (0, 1)}) in asked


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, prim: Any, *avals: Any, **params: Any) -> bool:
        return prim.name == "exp"


def test_a_policy_need_not_be_hashable() -> None:
    f = checkpoint(chain, policy=Unhashable())
    close(grad(f)(X), grad(chain)(X))
    assert operations(grad(f), X)["exp"] == 1


# --- the barrier ----------------------------------------------------------------------------------


def test_the_barrier_is_in_the_second_computation_only() -> None:
    barrier = "optimization_barrier"
    f = checkpoint(chain)
    assert barrier not in jit(f).lower(X).as_text()
    assert barrier not in jit(lambda x: jvp(f, (x,), (x,))).lower(X).as_text()
    assert jit(grad(f)).lower(X).as_text().count(f"stablehlo.{barrier}") == 1
    free = checkpoint(chain, prevent_cse=False)
    assert barrier not in jit(grad(free)).lower(X).as_text()


def test_the_compiler_computes_again_late() -> None:
    """XLA's CPU compiler drops barriers before it orders operations, unless it is told not to."""
    ws = np.stack([W] * 12).repeat(8, 1).repeat(8, 2)
    x = np.ones((256, 32), np.float32)

    def run(block: Any) -> Any:
        def f(ws: Any, x: Any) -> Any:
            for i in range(12):
                x = block(x, ws[i])
            return total(x)

        return jit(value_and_grad(f)).lower(ws, x).compile()

    def block(x: Any, w: Any) -> Any:
        return lax.add(x, lax.sin(lax.dot(lax.tanh(lax.dot(x, w)), w)))

    plain, again = run(block), run(checkpoint(block))
    sizes = [c.memory_analysis().temp_size_in_bytes for c in (plain, again)]
    assert sizes[1] < 0.6 * sizes[0]
    for result, right in zip(again(ws, x), plain(ws, x)):
        close(result, right)


def test_small_loops_compile_with_barriers_in_them() -> None:
    step = checkpoint(lambda c, t: (lax.sin(lax.exp(lax.mul(c, t))), None))
    f = lambda c: lax.scan(step, c, X)[0]  # noqa: E731
    result = jit(grad(lambda c: lax.cond(lax.gt(c, 0.0), f, lambda v: v, c)))(np.float32(0.3))
    c, slope = 0.3, 1.0
    for t in X:
        slope *= np.cos(np.exp(c * t)) * np.exp(c * t) * t
        c = np.sin(np.exp(c * t))
    close(result, slope)


# --- compositions ---------------------------------------------------------------------------------


def test_nested_checkpoints() -> None:
    inner = checkpoint(lambda x: lax.sin(lax.exp(x)))
    f = lambda x: total(lax.tanh(inner(lax.tanh(x))))  # noqa: E731
    plain = lambda x: total(lax.tanh(lax.sin(lax.exp(lax.tanh(x)))))  # noqa: E731
    expected = jit(grad(plain))(X)
    for g in (f, checkpoint(f), checkpoint(checkpoint(f))):
        close(jit(grad(g))(X), expected)
    assert operations(grad(checkpoint(f)), X)["exp"] >= 3


@pytest.mark.parametrize("unroll", [1, 2])
def test_a_checkpointed_step_in_a_scan_keeps_the_carry_only(unroll: int) -> None:
    def step(c: Any, t: Any) -> Any:
        return lax.sin(lax.exp(lax.mul(c, lax.tanh(t)))), lax.exp(c)

    def run(body: Any) -> Callable[[Any, Any], Any]:
        def f(x: Any, xs: Any) -> Any:
            c, ys = lax.scan(body, x, xs, unroll=unroll)
            return lax.add(total(c), total(ys))

        return f

    xs = np.linspace(0.5, 1.5, 20, dtype=np.float32).reshape(5, 4)
    once, again = run(step), run(checkpoint(step))
    close(jit(vmap(grad(again), (0, None)))(ROWS, xs), jit(vmap(grad(once), (0, None)))(ROWS, xs))
    assert len(kept(again, X, xs)) < len(kept(once, X, xs))


@pytest.mark.parametrize("policy", [None, policies.everything_saveable], ids=["none", "all"])
def test_scan_cond_and_while_inside(policy: Any) -> None:
    def f(x: Any) -> Any:
        c, _ = lax.scan(lambda c, _: (lax.sin(c), None), x, None, length=3)
        c = lax.cond(lax.gt(total(c), 0.0), lambda v: lax.exp(v), lambda v: v, c)
        n = lax.while_loop(lambda i: lax.lt(i, 3), lambda i: lax.add(i, 1), 0)
        return total(lax.mul(c, lax.convert_element_type(n, np.float32)))

    g = checkpoint(f, policy=policy)
    close(jit(vmap(grad(g)))(ROWS), jit(vmap(grad(f)))(ROWS))
    close(jit(jacfwd(grad(g)))(X), jit(jacfwd(grad(f)))(X))


def test_collectives_inside() -> None:
    f = checkpoint(lambda x: lax.mul(lax.sin(x), lax.psum(lax.exp(x), "i")))
    result = grad(lambda m: total(vmap(f, axis_name="i")(m)))(ROWS)
    e, s = np.exp(ROWS), np.sin(ROWS)
    close(result, np.cos(ROWS) * e.sum(0) + e * s.sum(0))


def test_closing_over_arrays_and_tracers() -> None:
    w = lax.mul(W, 2.0)
    close(grad(checkpoint(lambda x: total(lax.dot(w, lax.sin(x)))))(X), (2 * W).sum(0) * np.cos(X))

    def f(a: Any, x: Any) -> Any:
        return total(checkpoint(lambda v: lax.sin(lax.mul(a, v)))(x))

    da, dx = grad(f, (0, 1))(np.float32(2), X)
    close(da, np.sum(X * np.cos(2 * X)))
    close(dx, 2 * np.cos(2 * X))


def test_static_arguments_keywords_and_trees() -> None:
    @checkpoint(static_argnums=(1, -1))
    def f(p: Any, how: str, x: Any, options: Any) -> Any:
        scale = options["scale"]  # neither an array nor hashable
        return {"y": lax.mul(getattr(lax, how)(p["w"]), scale), "x": (x, None)}

    result = f({"w": X}, "sin", 1.0, {"scale": 3.0})
    close(result["y"], 3 * np.sin(X))
    assert result["x"][1] is None
    g = grad(lambda x: total(f({"w": x}, "exp", 1.0, {"scale": 2.0})["y"]))
    close(g(X), 2 * np.exp(X))
    close(checkpoint(lambda a, *, b: lax.mul(a, b))(X, b=2.0), 2 * X)
    named = checkpoint(lambda a, *, how: getattr(lax, how)(a), static_argnames="how")
    close(named(X, how="exp"), np.exp(X))


def test_wrapping_keeps_name_and_signature() -> None:
    assert checkpoint(layers).__name__ == "layers"
    assert remat.__name__ == "remat" and remat.__doc__ == checkpoint.__doc__
    assert make_jaxpr(checkpoint(chain))(X).eqns[0].params["jaxpr"].jaxpr.name == "chain"


def test_programs_are_checked_and_print_as_text_that_parses() -> None:
    for f in (checkpoint(layers), lambda w, x: grad(checkpoint(layers), 1)(w, x)):
        program = make_jaxpr(f)(W, X)
        assert parse_ir(print_ir(program)) == program


# --- bad input ------------------------------------------------------------------------------------


def test_misuse_is_named() -> None:
    with pytest.raises(TypeError, match=r"checkpoint takes a function, got 3 of type int"):
        checkpoint(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"policy must be a function .*got 'dots_saveable'"):
        checkpoint(chain, policy="dots_saveable")  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match=r"concrete=True.*static_argnums"):
        checkpoint(chain, concrete=True)
    with pytest.raises(TypeError, match=r"checkpoint of chain: args\[0\]\['a'\]: 'text' of type"):
        checkpoint(chain)({"a": "text"})
    with pytest.raises(TypeError, match=r"checkpoint of <lambda>: kwargs\['k'\]: .*not a valid"):
        checkpoint(lambda x, k: x)(X, k=object())
    with pytest.raises(TypeError, match=r"<lambda> returned a value that is not an array"):
        checkpoint(lambda x: "text")(X)
    with pytest.raises(ValueError, match=r"names argument 2, but it was called with 1 positional"):
        checkpoint(chain, static_argnums=2)(X)
    with pytest.raises(TracerBoolConversionError, match=r"at .*test_checkpoint\.py"):
        checkpoint(lambda x: x if x > 0 else lax.neg(x))(1.0)
