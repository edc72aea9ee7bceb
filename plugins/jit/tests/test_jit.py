"""``jit``: arguments, caching, donation, nesting, errors."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_base.options import disable_jit
from dovetail_batching import vmap
from dovetail_core import UnexpectedTracerError, float0
from dovetail_jit import (
    ShapeDtypeStruct,
    api,
    clear_caches,
    eval_shape,
    jit,
    make_jaxpr,
)
from dovetail_jit.static_key import static_key, value_of

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


class Counter:
    """A function that counts how often it is traced."""

    def __init__(self, f: Any) -> None:
        self.f = f
        self.calls = 0
        self.__name__ = "counted"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.f(*args, **kwargs)


@pytest.fixture(autouse=True, scope="module")
def plugins_loaded() -> None:
    """Plugins add options, and options are part of the key under which programs are remembered."""
    jit(lax.sin)(X)


def test_one_trace_per_signature() -> None:
    f = Counter(lambda x: lax.mul(x, 2.0))
    g = jit(f)
    for x in (X, X + 1, X):
        np.testing.assert_allclose(g(x), 2 * x)
    assert f.calls == 1
    g(X[:2])
    g(X.astype(np.int32).astype(np.float16))
    assert f.calls == 3


def test_python_scalars_do_not_retrace_by_value() -> None:
    f = Counter(lambda x: lax.mul(x, x))
    g = jit(f)
    assert [float(g(v)) for v in (1.0, 2.0, 3.0)] == [1.0, 4.0, 9.0]
    assert f.calls == 1


def test_two_wrappers_of_one_function_share_its_trace() -> None:
    f = Counter(lax.sin)
    jit(f)(X)
    jit(f)(X)
    assert f.calls == 1


def test_trees_keywords_and_defaults() -> None:
    @jit
    def f(p: Any, *, scale: Any = 2.0) -> Any:
        return {"out": (lax.mul(p["a"], scale), None)}

    np.testing.assert_allclose(f({"a": X})["out"][0], 2 * X)
    np.testing.assert_allclose(f({"a": X}, scale=3.0)["out"][0], 3 * X)
    assert f({"a": X})["out"][1] is None


@pytest.mark.parametrize(
    "how", [{"static_argnums": 1}, {"static_argnames": "n"}, {"static_argnums": -1}]
)
def test_static_arguments_by_position_and_name(how: Any) -> None:
    f = Counter(lambda x, n: lax.mul(x, float(n)))
    f.__signature__ = __import__("inspect").signature(lambda x, n: None)  # type: ignore[attr-defined]
    g = jit(f, **how)
    np.testing.assert_allclose(g(X, 3), 3 * X)
    np.testing.assert_allclose(g(X, 3), 3 * X)
    assert f.calls == 1
    np.testing.assert_allclose(g(X, 4), 4 * X)
    np.testing.assert_allclose(g(X, n=4), 4 * X)


def test_one_static_argument_by_name_is_the_same_as_by_position() -> None:
    seen: list[Any] = []

    def f(x: Any, n: Any = 5) -> Any:
        seen.append(n)
        return lax.mul(x, np.float32(n))

    g = jit(f, static_argnames="n")
    given: list[Any] = [3, True, 1, 1.0]
    for n in (*given, *given):
        for result in (g(X, n), g(X, n=n), g(n=n, x=X)):
            np.testing.assert_allclose(result, X * np.float32(n))
    np.testing.assert_allclose(g(X), 5 * X)
    assert {(type(n), n) for n in seen} == {(type(n), n) for n in (*given, 5)}
    assert seen.count(3) == 2  # given with the other argument by name it is another call

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        assert len(args) == 1  # a signature that is not its own
        return f(*args, **kwargs)

    wrapper.__wrapped__ = f  # type: ignore[attr-defined]
    np.testing.assert_allclose(jit(wrapper, static_argnames="n")(X, n=4), 4 * X)
    with pytest.raises(TypeError, match="multiple values for argument 'n'"):
        g(X, 2, n=2)


def test_unhashable_static_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"unhashable|not hashable"):
        jit(lambda x, n: x, static_argnums=1)(X, [1])


def test_static_arguments_that_do_not_exist_are_named() -> None:
    with pytest.raises(ValueError, match="argument number 3 does not exist"):
        jit(lambda x: x, static_argnums=3)
    with pytest.raises(ValueError, match="there is no argument 'n'"):
        jit(lambda x: x, static_argnames="n")
    with pytest.raises(TypeError, match="static_argnums must be an integer"):
        jit(lambda x: x, static_argnums="x")  # type: ignore[arg-type]


def test_arguments_that_are_no_arrays_are_named() -> None:
    with pytest.raises(
        TypeError, match=r"jit of <lambda>: args\[0\]\['a'\] at .*'text' of type str is not a valid"
    ):
        jit(lambda p: p)({"a": "text"})
    with pytest.raises(TypeError, match="returned a value that is not an array"):
        jit(lambda x: "text")(X)


def test_donated_arguments_are_deleted_and_their_use_is_named() -> None:
    x = lax.mul(X, 1.0)
    y = jit(lambda v: lax.add(v, 1.0), donate_argnums=0)(x)
    np.testing.assert_allclose(y, X + 1)
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        lax.add(x, 1.0)


def test_donation_that_cannot_be_used_warns() -> None:
    with pytest.warns(UserWarning, match=r"donated argument of type f32\[4\] is not used"):
        jit(
            lambda v: lax.reshape(v, (2, 2))[0] if False else lax.slice(v, (0,), (1,)),
            donate_argnums=0,
        )(X)


def test_nested_and_inlined_functions() -> None:
    inner = jit(lambda x: lax.sin(x))
    jaxpr = make_jaxpr(lambda x: inner(inner(x)))(X)
    assert [e.primitive.name for e in jaxpr.eqns] == ["jit", "jit"]
    assert jaxpr.eqns[0].params["jaxpr"] is jaxpr.eqns[1].params["jaxpr"]
    inlined = jit(lambda x: lax.sin(x), inline=True)
    jaxpr = make_jaxpr(lambda x: inlined(inlined(x)))(X)
    assert [e.primitive.name for e in jaxpr.eqns] == ["sin", "sin"]
    weak = jit(lambda s, x: (s.astype(x.dtype) * x, s.weak_type), inline=True)
    scaled = vmap(lambda x: weak(0.5, x)[0])(X)
    np.testing.assert_array_equal(scaled, 0.5 * np.asarray(X))
    vmap(lambda x: x * weak(np.float32(0.5), x)[0])(X)


def test_equal_programs_share_a_function_when_lowered() -> None:
    def f(x: Any) -> Any:
        return jit(lambda v: lax.sin(v))(jit(lambda v: lax.sin(v))(x))

    text = jit(f).lower(X).as_text()
    assert text.count("func.func private") == 1 and text.count("call @") == 2


def test_closing_over_arrays_and_tracers() -> None:
    big = lax.mul(np.ones(1000, np.float32), 3.0)
    f = jit(lambda x: lax.mul(x, big))
    np.testing.assert_allclose(f(np.float32(2)), np.full(1000, 6.0))
    text = f.lower(np.float32(2)).as_text()
    assert "dense<3" not in text, "a large constant is an argument, not text"
    g = grad(lambda y: jit(lambda x: lax.mul(x, y))(2.0))
    assert float(g(5.0)) == 2.0


def test_methods() -> None:
    class Model:
        def __init__(self, w: float) -> None:
            self.w = w

        @jit
        def __call__(self, x: Any) -> Any:
            return lax.mul(x, 2.0)

        @staticmethod
        @jit
        def static(x: Any) -> Any:
            return lax.neg(x)

    np.testing.assert_allclose(Model.static(X), -X)


def test_disable_jit_runs_python() -> None:
    seen: list[Any] = []

    @jit
    def f(x: Any) -> Any:
        seen.append(float(np.asarray(x)[0]))
        return lax.sin(x)

    with disable_jit(disable=True):
        f(X)
        f(X)
    assert seen == [float(X[0])] * 2


def test_clear_caches_traces_again() -> None:
    f = Counter(lax.sin)
    g = jit(f)
    g(X)
    clear_caches()
    g(X)
    assert f.calls == 2


def test_clear_caches_forgets_calls_of_functions_that_died() -> None:
    f = Counter(lax.sin)
    jit(f)(X)
    clear_caches()
    jit(f)(X)
    assert f.calls == 2


def test_clear_cache_traces_one_function_again() -> None:
    f, other = Counter(lax.sin), Counter(lax.cos)
    g, h = jit(f), jit(other)
    for call in (g, h):
        call(X)
    g.clear_cache()
    for call in (g, h, jit(f)):
        call(X)
    assert f.calls == 2 and other.calls == 1


@pytest.mark.parametrize(
    "options", [{"static_argnums": 1}, {"static_argnames": "n"}, {"donate_argnames": "n"}]
)
def test_guarded_functions_tell_how_many_calls_are_known(options: Any) -> None:
    g = jit(lambda x, n: (x * n, n + 1), **options)
    for n in (2.0, 2.0, np.float32(3)):
        g(X, n)
    assert g._cache_size() == 2
    assert not hasattr(vmap(g, (0, None)), "_cache_size")
    g.clear_cache()
    assert g._cache_size() == 0


def numbers(x: Any, value: Any, *, other: Any = 1) -> Any:
    """What a static argument is: its number, its sign and its type."""
    result = []
    for v in (value, other):
        (v,) = v if isinstance(v, tuple) else (v,)
        kind = [int, float, bool, np.float32].index(type(v))
        result += [v, np.copysign(1.0, v), kind]
    return lax.mul(x, np.array(result, np.float32))


def test_static_arguments_are_told_apart_by_type_and_bits() -> None:
    values: list[Any] = [0, 0.0, -0.0, False, 1, 1.0, True, float("nan"), np.float32(-0.0)]
    values += [(v,) for v in values]
    f = Counter(numbers)
    g = jit(f, static_argnums=(1,), static_argnames=("other",))
    ones = np.ones(6, np.float32)
    for value in [*values, *reversed(values)]:
        expected = np.asarray(numbers(ones, value))
        assert np.asarray(g(ones, value)).tobytes() == expected.tobytes(), value
    assert f.calls == len(values)
    for value in [*values, *reversed(values)]:
        expected = np.asarray(numbers(ones, 1, other=value))
        assert np.asarray(g(ones, 1, other=value)).tobytes() == expected.tobytes(), value
        with disable_jit():
            assert np.asarray(g(ones, 1, other=value)).tobytes() == expected.tobytes()
    d = jit(numbers, static_argnums=(-1,), donate_argnums=0)
    for value in (0.0, -0.0):
        assert np.signbit(d(lax.mul(ones, 1.0), value)[0]) == np.signbit(value)


class Pair(NamedTuple):
    left: Any
    right: Any


class Shape(tuple[Any, ...]):
    __slots__ = ()


@pytest.mark.parametrize("by_name", [False, True])
def test_collections_of_numbers_are_told_apart_at_any_depth(by_name: bool) -> None:
    def f(x: Any, value: Any) -> Any:
        return lax.mul(x, np.float32(len(repr(value))))

    g = jit(f, static_argnames="value")
    kinds: list[Any] = [
        lambda v: (v, 2), lambda v: ("a", (None, (v,))), lambda v: Pair((v,), ()),
        lambda v: frozenset([v]), lambda v: Shape((v,)), lambda v: (frozenset([(v,)]), print),
    ]  # fmt: skip
    for make in kinds:
        for value in (1, 1.0, True, np.int8(1), 1, True):
            given = {"value": make(value)} if by_name else {}
            args = () if by_name else (make(value),)
            result = g(np.float32(1), *args, **given)
            assert float(result) == len(repr(make(value))), (make(value), result)


def test_numbers_in_a_tuple_count_by_their_places() -> None:
    nan = float("nan")
    values: list[Any] = [(True, 1), (1, True), (0.0, -0.0), (-0.0, 0.0), (1, 1.0), (1.0, 1)]
    values += [(Pair, (True,)), (Pair, (1,)), (Pair(1, True), True), (Pair(True, 1), True)]
    values += [(nan, True), (nan, 1), (1j, 0.5), (1j, np.float32(0.5)), ((), 0.5), (0.5, ())]
    f = Counter(lambda x, value: lax.mul(x, np.float32(seen.append(repr(value)) or 1)))
    seen: list[str] = []
    g = jit(f, static_argnums=1)
    for value in [*values, *reversed(values)]:
        g(1.0, value)
    assert seen == [repr(v) for v in values]


def test_wrappers_of_one_function_never_mix_up_tuples() -> None:
    values: list[Any] = [(1,), (True,), (1.0,), (Decimal(1),), (np.int8(1),), (None, 1)]
    values += [(None, True), (len, None), (len,), ((1, len), None), ((True, len), None)]
    known = [repr((v, o)) for v in values for o in (0.0, -0.0)]

    def f(x: Any, one: Any, other: Any = 0.0) -> Any:
        return lax.mul(x, np.float32(known.index(repr((one, other)))))

    for first in values:  # of which a wrapper may have seen no numbers
        g, h = jit(f, static_argnums=(1, 2)), jit(f, static_argnums=1)
        for value in [(len,), first, *values]:
            expected = known.index(repr((value, 0.0)))
            assert [int(g(1.0, value, o)) for o in (0.0, -0.0)] == [expected, expected + 1]
            assert int(h(1.0, value)) == int(h(1.0, one=value)) == expected


def test_static_objects_of_classes_and_unhashable_ones() -> None:
    class Own:
        pass

    f = Counter(lambda x, own: lax.mul(x, 2.0))
    g = jit(f, static_argnums=1)
    one, other = Own(), Own()
    for own in (one, other, one, Own, len, one):
        assert float(g(1.0, own)) == 2
    assert f.calls == 4
    for wrong in ([1], {"a": 1}, (1, [2]), np.ones(2)):
        with pytest.raises(ValueError, match="static argument 1 of type"):
            g(1.0, wrong)


def test_a_function_that_is_jitted_again_is_not_asked_about_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    before = api.miss
    monkeypatch.setattr(api, "miss", lambda s, *rest: asked.append(s.name) or before(s, *rest))

    def f(x: Any, n: Any = 2) -> Any:
        return x * n

    for options in ({}, {"keep_unused": True}, {"static_argnums": 1}):
        for _ in range(3):
            assert float(jit(f, **options)(3.0)) == 6
    assert asked == ["f"] * 3
    assert float(jit(f, static_argnums=1)(3.0, 3)) == float(jit(f)(3.0, 3)) == 9
    g = jit(f)
    assert float(g(3.0)) == 6 and len(asked) == 5
    g.clear_cache()
    assert float(g(3.0)) == 6 and len(asked) == 6


def test_tracers_that_leak_are_named() -> None:
    leaked: list[Any] = []

    @jit
    def f(x: Any) -> Any:
        leaked.append(lax.sin(x))
        return x

    f(X)
    with pytest.raises(
        UnexpectedTracerError, match=r"type f32\[4\] left the trace of 'f'.*made at .*test_jit.py"
    ):
        lax.sin(leaked[0])
    with pytest.raises(UnexpectedTracerError, match="left the trace of 'f'"):
        jit(lambda y: lax.add(y, leaked[0]))(X)


def test_shapes_without_computing() -> None:
    result = eval_shape(
        lambda p: {"y": lax.sin(p["a"])}, {"a": ShapeDtypeStruct((2, 3), np.float32)}
    )
    assert result["y"] == ShapeDtypeStruct((2, 3), np.float32)
    jaxpr, shape = make_jaxpr(lax.sin, return_shape=True)(X)
    assert shape == ShapeDtypeStruct((4,), np.float32) and len(jaxpr.eqns) == 1


def test_many_threads_trace_once() -> None:
    f = Counter(lambda x: lax.sin(lax.mul(x, 2.0)))
    g = jit(f)
    result: list[Any] = []
    threads = [threading.Thread(target=lambda: result.append(np.asarray(g(X)))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(result) == 8 and all(np.allclose(y, np.sin(2 * X)) for y in result)


def test_large_programs_meet_no_recursion_limit() -> None:
    def f(x: Any) -> Any:
        for _ in range(20000):
            x = lax.add(x, 1.0)
        return x

    jaxpr = make_jaxpr(grad(f))(1.0)
    assert len(jaxpr.eqns) >= 20000
    assert len(jit(f).trace(1.0).lower()._module.text) > 20000  # pyright: ignore[reportPrivateUsage]


def test_what_is_not_a_function_is_refused() -> None:
    with pytest.raises(TypeError, match="jit takes a function, got 3"):
        jit(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is a generator"):

        @jit
        def g() -> Any:
            yield 1


def test_tangents_of_integers_come_out_as_float0() -> None:
    f = jit(grad(lambda x, n: lax.mul(x, 2.0), (0, 1), allow_int=True))
    for _ in range(3):
        slope, nothing = f(1.0, np.array([3, 4]))
        assert slope == 2.0
        assert isinstance(nothing, np.ndarray) and nothing.dtype == float0 and nothing.shape == (2,)


def test_constants_as_static_arguments_are_told_apart_again_and_again():
    """The same objects come at each call; others of the same numbers, with other types, between."""
    seen = []

    def f(x, shape, how):
        seen.append(shape)
        return lax.mul(x, x.dtype.type(shape[0]))

    run, x = jit(f, static_argnums=(1, 2)), np.float32(1)
    ints, bools, floats = (1, 2), (True, 2), (1.0, 2)
    for _ in range(3):
        for shape in (ints, bools, floats, tuple(map(int, "12"))):
            assert run(x, shape, "a").item() == 1
    assert [[type(n) for n in shape] for shape in seen] == [[int] * 2, [bool, int], [float, int]]
    for n in range(600):  # nothing is taken for what had its identity before
        assert value_of(static_key(tuple(map(int, (n, 1))))) == (n, 1)
