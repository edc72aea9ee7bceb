"""Programs in which parts are called compute what they did, by fewer equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, random
from dovetail_backends.reference import REFERENCE
from dovetail_base.options import enable_checks
from dovetail_core import ClosedJaxpr
from dovetail_repeats.options import compile_repeats_once
from dovetail_repeats.outlining import outlined
from dovetail_repeats.primitive import repeated_p

RNG = np.random.RandomState(0)
D, LAYERS = 8, 6
WEIGHTS = [
    {k: (RNG.randn(D, D) / 4).astype(np.float32) for k in ("q", "k", "v", "up", "down")}
    for _ in range(LAYERS)
]
X = RNG.randn(5, D).astype(np.float32)


def norm(x: Any) -> Any:
    centred = x - dnp.mean(x, -1, keepdims=True)
    return centred * lax.rsqrt(dnp.mean(centred**2, -1, keepdims=True) + 1e-5)


def block(x: Any, w: Any) -> Any:
    """Attention and a dense part: some 60 equations, half of them cheap."""
    h = norm(x)
    q, k, v = h @ w["q"], h @ w["k"], h @ w["v"]
    x = x + dovetail.nn.softmax(q @ k.T / 3.0 - dnp.tri(5) * 0.5) @ v
    h = norm(x) @ w["up"]
    h = dnp.tanh(h * 0.5 + h**3 * 0.1) * (h + 1.0) - dnp.where(h > 0, h, 0.1 * h)
    return x + norm(h) @ w["down"]


def model(weights: Any, x: Any) -> Any:
    for w in weights:
        x = block(x, w)
    return dnp.sum(x**2)


def program_of(f: Callable[..., Any], *args: Any) -> ClosedJaxpr:
    return dovetail.make_jaxpr(f)(*args)


def calls(program: ClosedJaxpr) -> list[ClosedJaxpr]:
    return [e.params["jaxpr"] for e in program.eqns if e.primitive is repeated_p]


def both(f: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """The results of a function with parts compiled once and without."""
    result: list[Any] = []
    for value in (True, False):
        with compile_repeats_once(value), enable_checks(True):
            result.append(dovetail.jit(lambda *a: f(*a))(*args))
    return result[0], result[1]


def in_float64(value: Any) -> Any:
    """The same values as float64; what is not of float32 stays."""
    return np.asarray(value, np.float64) if dnp.result_type(value) == np.float32 else value


def agree(f: Callable[..., Any], *args: Any) -> None:
    """The results of both forms are equal but for rounding.

    The two are different modules, whose sums XLA adds up in orders that depend on the processor's
    vectors. The layers magnify a rounding up to 70 times, and cancellation more for single
    elements: in float32 either form is up to 8e-6 of its largest element away from the exact
    value. In float64 that is 1e-14, far below what a wrong call would change.
    """
    with dovetail.enable_x64(True):
        results = both(f, *dovetail.tree.map(in_float64, args))
    for a, b in zip(*map(dovetail.tree.leaves, results), strict=True):
        assert a.dtype == np.float64
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12 * float(np.max(abs(b))))


def test_the_layers_of_a_model_and_of_its_gradient_become_calls_of_two_programs():
    plain = program_of(dovetail.value_and_grad(model, (0, 1)), WEIGHTS, X)
    made = outlined(plain)
    result = calls(made)
    assert len(made.eqns) < len(plain.eqns) / 4
    assert len({id(p) for p in result}) == 2
    assert len(result) >= 2 * LAYERS - 1
    agree(dovetail.value_and_grad(model, (0, 1)), WEIGHTS, X)


def test_a_call_is_one_function_of_the_module_that_xla_keeps():
    f = dovetail.jit(dovetail.value_and_grad(model, (0, 1)))
    lowered = f.lower(WEIGHTS, X)
    text = lowered.as_text(dialect="stablehlo")
    assert text.count('inlineable = "false"') >= 2 * LAYERS - 1
    assert lowered.compile().as_text().count(" call(") >= 2 * LAYERS - 1


def test_no_more_memory():
    temporary: list[int] = []
    for value in (True, False):
        with compile_repeats_once(value):
            f = dovetail.jit(lambda *a: dovetail.value_and_grad(model, (0, 1))(*a))
            temporary.append(f.lower(WEIGHTS, X).compile().memory_analysis().temp_size_in_bytes)
    # Of arrays of 160 bytes: what a call returns is in memory of its own, a multiple of 64 bytes.
    assert temporary[0] <= temporary[1] + 64 * 2 * LAYERS


TRANSFORMED: dict[str, Any] = {
    "plain": model,
    "grad": dovetail.grad(model),
    "jvp": lambda w, x: dovetail.jvp(lambda y: model(w, y), (x,), (x,)),
    "nested": dovetail.jit(dovetail.grad(dovetail.jit(model))),
    "vmap": lambda w, x: dovetail.vmap(model, (None, 0))(w, dnp.stack([x, 2 * x])),
    "grad of vmap": dovetail.grad(lambda w, x: dnp.sum(TRANSFORMED["vmap"](w, x))),
    "vmap of grad": lambda w, x: dovetail.vmap(dovetail.grad(model), (None, 0))(w, dnp.stack([x])),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformed(name: str):
    assert calls(outlined(program_of(TRANSFORMED[name], WEIGHTS, X)))
    agree(TRANSFORMED[name], WEIGHTS, X)


def test_checkpointed_layers_and_own_rules():
    @dovetail.custom_vjp
    def double(x: Any) -> Any:
        return 2 * x

    double.defvjp(lambda x: (2 * x, None), lambda _, g: (3 * g,))

    def f(weights: Any, x: Any) -> Any:
        for w in weights:
            x = double(dovetail.checkpoint(block)(x, w)) * 0.3
        return dnp.sum(x)

    agree(dovetail.grad(f), WEIGHTS, X)


@pytest.mark.usefixtures("optimized")
def test_what_an_instance_draws_is_its_own():
    def f(weights: Any, x: Any, key: Any) -> Any:
        for i, w in enumerate(weights):
            x = block(x, w) * random.bernoulli(random.fold_in(key, i), 0.7, x.shape)
        return x

    assert calls(outlined(program_of(f, WEIGHTS, X, random.key(0))))
    agree(f, WEIGHTS, X, random.key(0))


def test_within_loops_and_branches():
    def f(weights: Any, x: Any, n: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            for w in weights:
                carry = block(carry, w)
            return carry, None

        x, _ = lax.scan(step, x, None, length=2)
        return lax.cond(n > 0, lambda x: step(x, None)[0], lambda x: x, x)

    text = dovetail.jit(f).lower(WEIGHTS, X, 1).as_text()
    assert 'inlineable = "false"' in text
    agree(f, WEIGHTS, X, 1)


def test_donated_arguments_are_overwritten():
    def step(weights: Any, x: Any) -> Any:
        slopes = dovetail.grad(model)(weights, x)
        return dovetail.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)

    arrays = dovetail.tree.map(dnp.asarray, WEIGHTS)
    expected = dovetail.jit(step)(WEIGHTS, X)
    result = dovetail.jit(step, donate_argnums=0)(arrays, X)
    assert all(w.is_deleted() for w in dovetail.tree.leaves(arrays))
    for a, b in zip(dovetail.tree.leaves(result), dovetail.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def test_effects_stay_where_they_are():
    seen: list[int] = []

    def f(weights: Any, x: Any) -> Any:
        for i, w in enumerate(weights):
            x = block(x, w)
            dovetail.debug.callback(lambda _, i=i: seen.append(i), x[0, 0], ordered=True)
        return x

    dovetail.jit(f)(WEIGHTS, X)
    dovetail.effects_barrier()
    assert seen == list(range(LAYERS))


def test_programs_stay_as_they_are_where_calls_would_not_pay():
    def short(x: Any) -> Any:
        for _ in range(300):
            x = dnp.tanh(x @ dnp.ones((D, D)))
        return x

    def elementwise(x: Any) -> Any:
        for _ in range(6):
            for k in range(20):
                x = dnp.sin(x) * (k + 1.0) - x
        return x

    def different(x: Any) -> Any:
        for i in range(1, 7):
            x = block(dnp.concatenate([x] * i, 0)[:5] * i, WEIGHTS[0])[:, ::-1]
        return x

    for f in (short, elementwise):
        plain = program_of(f, X)
        assert outlined(plain) is plain
    agree(different, X)


def test_what_instances_add_up_is_added_up_at_once():
    """The gradient of stacked weights has their size for each layer."""

    def f(stacked: Any, x: Any) -> Any:
        return model([{k: stacked[k][i] for k in stacked} for i in range(LAYERS)], x)

    stacked = {k: np.stack([w[k] for w in WEIGHTS] * 5) for k in WEIGHTS[0]}
    result = calls(outlined(program_of(dovetail.grad(f), stacked, X)))
    assert len(result) >= LAYERS - 1
    assert not any(v.aval.shape[:1] == (5 * LAYERS,) for p in result for v in p.outvars)
    agree(dovetail.grad(f), stacked, X)


def test_not_with_the_option_off():
    plain = program_of(model, WEIGHTS, X)
    with compile_repeats_once(False):
        assert outlined(plain) is plain
    assert calls(outlined(plain))


def test_not_for_other_platforms_nor_several_devices():
    assert "call @repeated" in dovetail.jit(model).lower(WEIGHTS, X).as_text()
    text = dovetail.jit(model).trace(WEIGHTS, X).lower(lowering_platforms=("cuda",)).as_text()
    assert "repeated" not in text
    mesh = dovetail.make_mesh((1,), ("a",))
    with dovetail.set_mesh(mesh):
        spec = dovetail.P()
        divided = dovetail.jit(model, in_shardings=spec, out_shardings=spec)
        assert "repeated" not in divided.lower(WEIGHTS, X).as_text()


def test_backends_that_take_whole_programs_get_them_without_calls(monkeypatch: pytest.MonkeyPatch):
    seen: list[ClosedJaxpr] = []
    plain = REFERENCE.run

    def run(program: ClosedJaxpr, values: Any) -> Any:
        seen.append(program)
        return plain(program, values)

    monkeypatch.setattr(REFERENCE, "run", run)
    result = dovetail.jit(lambda *a: model(*a), backend="reference")(WEIGHTS, X)
    np.testing.assert_allclose(result, model(WEIGHTS, X), rtol=1e-4)
    assert seen
    assert not any(map(calls, seen))
