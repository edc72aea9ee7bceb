"""Typed keys where arrays go: references, callbacks, derivatives, donation, stages, texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_ad import grad, hessian, jvp, vjp
from dovetail_batching import vmap
from dovetail_callbacks import pure_callback
from dovetail_callbacks.debug import print as debug_print
from dovetail_core import float0, parse_ir, print_ir
from dovetail_jit import ShapeDtypeStruct, effects_barrier, jit, make_jaxpr
from dovetail_refs import new_ref
from dovetail_remat import checkpoint


def data(keys: Any) -> Any:
    return np.asarray(random.key_data(keys)).tolist()


KEYS = random.split(random.key(0), 3)


def test_references_hold_keys() -> None:
    def advance(ref: Any) -> Any:
        ref[0] = random.fold_in(ref[1], 7)
        return ref[0], ref[1:]

    wanted = data(random.fold_in(KEYS[1], 7))
    for f in (advance, jit(advance)):
        ref = new_ref(KEYS)
        first, rest = f(ref)
        assert data(first) == wanted == data(ref[...])[0] and data(rest) == data(KEYS)[1:]
        assert repr(ref).startswith("Ref(Array((3,), dtype=key<fry>)")


def test_callbacks_get_and_return_keys() -> None:
    seen: list[Any] = []

    def host(key: Any) -> Any:
        seen.append(data(key))
        return random.wrap_key_data(np.asarray(random.key_data(key)) + 1)

    def f(key: Any) -> Any:
        return pure_callback(host, ShapeDtypeStruct((), key.dtype), key)

    for g in (f, jit(f)):
        assert data(g(random.key(3))) == [1, 4] and seen.pop() == [0, 3]


def test_keys_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for f in (debug_print, jit(lambda *args: debug_print(args[0], args[1]), static_argnums=0)):
        f("key: {}", random.key(3))
        effects_barrier()
        assert capsys.readouterr().out == "key: Array((), dtype=key<fry>) overlaying:\n[0 3]\n"


def test_keys_are_no_numbers_that_could_be_nan() -> None:
    key = random.key(3)
    assert dnp.nan_to_num(key) is key


def test_derivatives_pass_keys_by() -> None:
    def f(x: Any, key: Any) -> Any:
        return dnp.sum(x * random.normal(key, (3,))) ** 2

    x, key = dnp.ones(3), random.key(1)
    draws = np.asarray(random.normal(key, (3,)))
    wanted = 2 * draws.sum() * draws
    for g in (f, jit(f), checkpoint(f)):
        np.testing.assert_allclose(grad(g)(x, key), wanted, rtol=1e-5)
    np.testing.assert_allclose(hessian(f)(x, key), 2 * np.outer(draws, draws), rtol=1e-5)
    out, tangent = jvp(lambda k: k, (key,), (np.zeros((), float0),))
    assert data(out) == data(key) and tangent.dtype == float0
    assert vjp(f, x, key)[1](1.0)[1].dtype == float0
    mapped = vmap(grad(f), (None, 0))(x, KEYS)
    np.testing.assert_allclose(mapped, [grad(f)(x, k) for k in KEYS], rtol=1e-5)


def test_loops_with_keys_have_derivatives() -> None:
    def f(x: Any, key: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            y, key = carry
            key, draw = random.split(key)
            return (y * random.uniform(draw), key), y

        (last, _), ys = lax.scan(step, (x, key), None, length=4)
        return last + dnp.sum(ys)

    slopes = [grad(g)(2.0, random.key(5)) for g in (f, jit(f), checkpoint(f))]
    np.testing.assert_allclose(slopes, f(1.0, random.key(5)), rtol=1e-6)  # it is linear


def test_donated_keys_are_gone() -> None:
    advance = jit(lambda k: random.split(k)[0], donate_argnums=0)
    key = random.key(3)
    advance(key)
    assert key.is_deleted()
    for use in (random.normal, advance, repr, jit(lambda k: k)):
        with pytest.raises(RuntimeError, match=r"after it was donated to <lambda>"):
            use(key)


def test_stages_know_keys() -> None:
    lowered = jit(random.normal).lower(ShapeDtypeStruct((), random.key_dtype()))
    assert lowered.in_avals[0][0].str_short() == "key<fry>[]"
    compiled = lowered.compile()
    assert float(compiled(random.key(2))) == float(random.normal(random.key(2)))
    with pytest.raises(TypeError, match=r"takes key<fry>\[\] as leaf 0 .* got uint?32|u32\[2\]"):
        compiled(random.PRNGKey(0))


def test_programs_with_keys_have_a_text() -> None:
    program = make_jaxpr(
        lambda k: random.normal(random.fold_in(random.key(3), 2)) + random.bits(k)
    )(random.key(0))
    text = print_ir(program)
    assert "random_seed[impl=prng" in text and "random_fold_in" in text
    assert print_ir(parse_ir(text)) == text


def test_a_repeated_call_enters_no_python() -> None:
    """C++ takes keys apart and puts them together."""
    entered: list[int] = []

    def f(keys: Any) -> Any:
        entered.append(1)
        return {"next": keys[::-1], "raw": random.key_data(keys)}

    g = jit(f)
    for _ in range(3):
        result = g(KEYS)
    assert len(entered) == 1 and g._cache_size() == 1
    assert data(result["next"]) == data(KEYS)[::-1] and np.asarray(result["raw"]).tolist() == data(
        KEYS
    )

    keys = random.split(random.key(0))
    assert not dnp.isnan(keys).any() and not dnp.isinf(keys).any() and dnp.isfinite(keys).all()
    assert not dnp.allclose(*keys) and dnp.isclose(keys, keys).all()
    with pytest.raises(TypeError, match="isposinf does not accept dtype key<fry>"):
        dnp.isposinf(keys)
