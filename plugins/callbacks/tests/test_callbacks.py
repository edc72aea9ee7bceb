"""Functions called from programs: values, types, batching, effects and their order, errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jvp, value_and_grad
from dovetail_backends import evaluate
from dovetail_base.options import enable_checks
from dovetail_batching import vmap
from dovetail_callbacks import debug, pure_callback
from dovetail_callbacks.experimental import io_callback
from dovetail_core import (
    IOEffect,
    Jaxpr,
    OrderedIOEffect,
    ShapedArray,
    Var,
    parse_ir,
    print_ir,
)
from dovetail_jit import ShapeDtypeStruct, effects_barrier, eval_shape, jit, make_jaxpr
from dovetail_services.disk_cache.options import cache_dir

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
SCALAR = ShapeDtypeStruct((), np.float32)
VECTOR = ShapeDtypeStruct((4,), np.float32)
HERE = r"at .*test_callbacks\.py:\d+"


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with enable_checks(True):
        yield
    effects_barrier()


def host_sin(x: Any) -> Any:
    assert isinstance(x, np.ndarray) and not x.flags.writeable
    return np.sin(x)


# --- values ---------------------------------------------------------------------------------------


def test_values_are_those_of_the_function() -> None:
    f = lambda x: lax.mul(pure_callback(host_sin, VECTOR, x), 2.0)  # noqa: E731
    program = make_jaxpr(f)(X)
    for result in (f(X), jit(f)(X), jit(f)(X), evaluate(program, X)[0]):
        np.testing.assert_allclose(result, 2 * np.sin(X), rtol=1e-6)


def test_arguments_and_results_are_trees() -> None:
    def host(p: Any, *, scale: Any) -> Any:
        return {"a": p["a"] * scale, "n": (p["n"] + 1,)}

    shapes = {"a": VECTOR, "n": (ShapeDtypeStruct((), np.int32),)}
    f = lambda p: pure_callback(host, shapes, p, scale=np.float32(3))  # noqa: E731
    for g in (f, jit(f)):
        result = g({"a": X, "n": 1})
        np.testing.assert_allclose(result["a"], 3 * X, rtol=1e-6)
        assert int(result["n"][0]) == 2 and result["n"][0].dtype == np.int32


def test_results_are_narrowed_as_arrays_are() -> None:
    f = lambda: pure_callback(lambda: np.arange(4.0), VECTOR)  # noqa: E731
    assert f().dtype == np.float32 and jit(f)().dtype == np.float32
    assert int(jit(lambda: pure_callback(lambda: 7, ShapeDtypeStruct((), np.int32)))()) == 7


def test_results_are_weakly_typed_where_that_is_declared() -> None:
    """A call that replaces a function, declared as ``eval_shape`` tells, has the function's type:
    in a branch beside the function itself, and so as the start of a loop."""
    start, ok = lax.full((), 0), np.True_
    assert start.weak_type  # pyright: ignore[reportAttributeAccessIssue]
    declared = eval_shape(lambda: start)

    def checked(x: Any, ok: Any) -> Any:
        fails = lambda: pure_callback(lambda: np.int32(7), declared)  # noqa: E731
        return lax.cond(ok, lambda: x, fails)

    def counted(x: Any, ok: Any) -> Any:
        return lax.while_loop(lambda x: x < 2.0, lambda x: x + 0.5, checked(x, ok))

    for f in (checked, jit(checked), vmap(checked, (None, None), axis_size=1, out_axes=None)):
        assert f(start, ok).weak_type
    for f in (counted, jit(counted)):
        result = f(start, ok)
        assert float(result) == 2.0 and result.dtype == np.float32
    for given in (start, np.int32(0), ShapeDtypeStruct((), np.int32)):  # an example is no type
        assert not pure_callback(lambda: np.int32(7), given).weak_type
    batched = vmap(lambda x: pure_callback(lambda x: x, declared, x, vmap_method="sequential"))
    assert batched(np.arange(3, dtype=np.int32)).weak_type


def test_a_pure_call_that_nothing_uses_is_not_made() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        pure_callback(lambda v: seen.append(v) or v, VECTOR, x)
        return lax.sin(x)

    jit(f)(X)
    assert not seen


@pytest.mark.parametrize("order", ["axes", "transposed"])
def test_arrays_come_in_row_major_order(order: str) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = a.T if order == "transposed" else a
    shape = ShapeDtypeStruct(b.T.shape, np.float32)
    f = jit(lambda x: pure_callback(lambda v: v.T, shape, x))
    np.testing.assert_array_equal(f(b), b.T)


@pytest.mark.parametrize(
    "method, shapes",
    [
        ("sequential", [((), ())] * 4),
        ("sequential_unrolled", [((), ())] * 4),
        ("expand_dims", [((4,), (1,))]),
        ("broadcast_all", [((4,), (4,))]),
        ("legacy_vectorized", [((4,), ())]),
    ],
)
def test_methods_of_vmap(method: str, shapes: Any) -> None:
    seen: list[Any] = []

    def host(a: Any, b: Any) -> Any:
        seen.append((a.shape, b.shape))
        return np.add(a, b)

    def f(a: Any, b: Any) -> Any:
        return pure_callback(host, SCALAR, a, b, vmap_method=method)

    for g in (vmap(f, (0, None)), jit(vmap(f, (0, None)))):
        seen.clear()
        np.testing.assert_allclose(g(X, 1.0), X + 1)
        assert seen == shapes


def test_calls_in_loops_and_branches() -> None:
    def step(c: Any, x: Any) -> Any:
        y = pure_callback(np.sin, SCALAR, x)
        return lax.cond(lax.gt(y, 0.5), lambda: lax.add(c, pure_callback(np.cos, SCALAR, x)),
                        lambda: c), y  # fmt: skip

    total, ys = jit(lambda x: lax.scan(step, np.float32(0), x))(X)
    np.testing.assert_allclose(ys, np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(total, np.cos(X)[np.sin(X) > 0.5].sum(), rtol=1e-6)


# --- effects --------------------------------------------------------------------------------------


def test_effects_are_in_the_program() -> None:
    for ordered, wanted in ((False, debug.DebugEffect), (True, debug.OrderedDebugEffect)):
        program = make_jaxpr(lambda x: debug.print("{}", x, ordered=ordered))(1.0)  # noqa: B023
        (effect,) = program.effects
        assert type(effect) is wanted and effect == wanted() and isinstance(effect, IOEffect)
        assert effect.ordered is ordered
        assert ("! ordered_debug('debug')" in str(program)) is ordered
        a = Var(ShapedArray((), np.float32))
        again = parse_ir(print_ir(Jaxpr([], [a], [a], [], effects=program.effects)))
        assert again.effects == program.effects
    f = lambda x: io_callback(lambda v: v, SCALAR, x, ordered=True)  # noqa: E731
    assert make_jaxpr(jit(f))(1.0).effects == {OrderedIOEffect("io")}
    assert not make_jaxpr(lambda x: pure_callback(np.sin, SCALAR, x))(1.0).effects


def ordered_program(log: list[Any]) -> Any:
    def say(what: str, *args: Any) -> None:
        def host(*values: Any) -> None:
            log.append((what, *[round(float(v), 3) for v in values]))

        io_callback(host, None, *args, ordered=True)

    def f(x: Any) -> Any:
        say("begin")

        def step(c: Any, t: Any) -> Any:
            say("step", t)
            lax.cond(lax.gt(t, 0.5), lambda: say("large", t), lambda: None)
            return lax.add(c, t), None

        def test(n: Any) -> Any:
            say("test", n)
            return lax.lt(n, 2)

        def body(n: Any) -> Any:
            say("body", n)
            return lax.add(n, 1)

        total, _ = lax.scan(step, np.float32(0), x)
        say("between", total)
        jit(lambda: say("call"))()
        lax.while_loop(test, body, 0)
        say("end")
        return total

    return f


ORDERED = [
    ("begin",), ("step", 0.1), ("step", 0.4), ("step", 0.7), ("large", 0.7), ("step", 1.0),
    ("large", 1.0), ("between", 2.2), ("call",), ("test", 0), ("body", 0), ("test", 1),
    ("body", 1), ("test", 2), ("end",),
]  # fmt: skip


def test_ordered_effects_keep_their_order_through_control_flow() -> None:
    log: list[Any] = []
    f = ordered_program(log)
    f(X)
    assert log == ORDERED
    compiled = jit(f)
    for _ in range(3):
        log.clear()
        compiled(X)
        compiled(X)
        effects_barrier()
        assert log == ORDERED * 2
    log.clear()
    evaluate(make_jaxpr(f)(X), X)
    assert log == ORDERED


def test_an_effect_happens_once_however_the_program_is_differentiated() -> None:
    log: list[Any] = []

    def f(x: Any) -> Any:
        debug.callback(lambda v: log.append(float(v)), x, ordered=True)
        return lax.mul(x, x)

    for g in (grad(f), jit(grad(f)), grad(jit(f)), value_and_grad(f)):
        log.clear()
        g(2.0)
        effects_barrier()
        assert log == [2.0]
    log.clear()
    jvp(grad(f), (3.0,), (1.0,))
    assert log == [3.0]
    log.clear()
    grad(lambda x: lax.scan(lambda c, t: (f(c), None), x, None, length=2)[0])(2.0)
    effects_barrier()
    assert log == [2.0, 4.0]


def test_mapped_effects_happen_once_per_element_in_order() -> None:
    log: list[Any] = []
    f = vmap(lambda x: debug.callback(lambda v: log.append(float(v)), x))
    for g in (f, jit(f)):
        log.clear()
        g(X)
        effects_barrier()
        np.testing.assert_allclose(log, X)


def test_effects_of_calls_that_are_not_waited_for_all_happen() -> None:
    log: list[Any] = []
    f = jit(lambda x: debug.callback(lambda v: log.append(int(v)), x))
    for i in range(100):
        f(i)
    effects_barrier()
    assert sorted(log) == list(range(100))


def test_a_callback_may_run_programs_that_have_effects() -> None:
    log: list[Any] = []

    def outer(x: Any) -> Any:
        jit(lambda: io_callback(lambda: log.append("inner"), None, ordered=True))()
        return np.asarray(jit(lax.sin)(np.asarray(x)))

    big = np.full((300, 300), 0.01, np.float32)
    shape = ShapeDtypeStruct(big.shape, np.float32)
    f = jit(lambda x: io_callback(outer, shape, lax.dot(x, x), ordered=True))
    np.testing.assert_allclose(f(big), np.sin(big @ big), rtol=1e-5)
    effects_barrier()
    assert log == ["inner"]


def test_threads_call_programs_with_callbacks() -> None:
    f = jit(lambda x: pure_callback(lambda v: v + 1, VECTOR, x))
    wrong: list[Any] = []

    def work() -> None:
        for k in range(50):
            if not np.allclose(f(X * k), X * k + 1):
                wrong.append(k)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_programs_from_the_disk_cache_call_the_functions_of_this_process(tmp_path: Any) -> None:
    with cache_dir(str(tmp_path)):
        for k in (1.0, 2.0):
            f = jit(lambda x, k=k: pure_callback(lambda v: v + np.float32(k), VECTOR, x))
            np.testing.assert_allclose(f(X), X + k)
    assert len(list(tmp_path.iterdir())) == 1


# --- debug.print ----------------------------------------------------------------------------------


def test_printed_values(capsys: Any) -> None:
    f = lambda x: debug.print("{a} {} {:.2f} {b[k]}", "text", x, a=1, b={"k": x})  # noqa: E731
    f(2.5)
    jit(f)(np.float32(1.5))
    effects_barrier()
    assert capsys.readouterr().out == "1 text 2.50 2.5\n1 text 1.50 1.5\n"


def test_formats_are_checked_when_traced() -> None:
    with pytest.raises(IndexError, match=rf"debug\.print {HERE}.*asks for argument 1, but got 1 p"):
        jit(lambda x: debug.print("{} {}", x))(1.0)
    with pytest.raises(KeyError, match=r"asks for argument 'x', but got 0 .* \['y'\]. Pass it"):
        debug.print("{x}", y=1)
    with pytest.raises(ValueError, match=rf"{HERE}.*does not use argument 'y'. Name it"):
        debug.print("{x}", x=2, y=1)
    jit(lambda x: debug.print("{x}", y=1, x=x, skip_format_check=True))(1.0)


def test_options_are_given_before_the_rest(capsys: Any, caplog: Any) -> None:
    def f(x: Any) -> None:
        debug.print(ordered=True)("{ordered}, {partitioned}, {}", x, ordered=x + 1, partitioned=0)
        debug.callback(ordered=True)(lambda v, ordered: seen.append((v, ordered)), x, ordered=x * 2)
        debug.log(skip_format_check=True)("x is {x}", x=x, y=1)

    seen: list[Any] = []
    with caplog.at_level("INFO", "dovetail.debug"):
        f(np.float32(1.5))
        jit(f)(np.float32(2.5))
        effects_barrier()
    assert capsys.readouterr().out == "2.5, 0, 1.5\n3.5, 0, 2.5\n"
    assert seen == [(1.5, 3.0), (2.5, 5.0)] and caplog.messages == ["x is 1.5", "x is 2.5"]
    params = [e.params for e in make_jaxpr(f)(1.0).eqns if "ordered" in e.params]
    assert [p["ordered"] for p in params] == [True, True, False]


def test_there_must_be_something_to_call_with_arguments() -> None:
    said = rf"debug\.print {HERE}.*: no format is given, but 0 pos.* \['x'\]. Give the format fi"
    with pytest.raises(TypeError, match=said):
        debug.print(ordered=True, x=3)
    with pytest.raises(
        TypeError, match=r"debug\.callback .*no function is given, but 0 pos.*\['x'"
    ):
        debug.callback(x=3)
    with pytest.raises(KeyError, match=rf"debug\.log {HERE}.*: the format asks for argument 'x'"):
        debug.log(ordered=True)("{x}")


# --- bad input ------------------------------------------------------------------------------------


def identity(x: Any) -> Any:
    return x


@pytest.mark.parametrize("call", [pure_callback, io_callback], ids=["pure", "io"])
def test_arguments_are_checked(call: Any) -> None:
    with pytest.raises(TypeError, match=r"\w+_callback takes a function, got 3 of type int"):
        call(3, SCALAR, 1.0)
    said = rf"_callback of identity: args\[1\]\['k'\] {HERE}.*'s' of type str is not a valid array"
    with pytest.raises(TypeError, match=said):
        call(identity, SCALAR, 1.0, {"k": "s"})
    with pytest.raises(TypeError, match=rf"pytree of values with shape and dtype.*has 3 {HERE}"):
        call(identity, 3, 1.0)
    with pytest.raises(TypeError, match=r"debug\.callback takes a function, got 3"):
        debug.callback(3, 1.0)  # type: ignore[arg-type]
    said = rf"pure_callback of identity {HERE}.*='bogus' is unknown\. .*'sequential'"
    with pytest.raises(ValueError, match=said):
        pure_callback(identity, SCALAR, 1.0, vmap_method="bogus")


WRONG: dict[str, tuple[Any, str]] = {
    "shape": (lambda x: x[:2], r"returned f32\[2\] as leaf 0 .* says f32\[4\]\. Convert it"),
    "dtype": (lambda x: x.astype(np.int8), r"returned i8\[4\] as leaf 0 .* says f32\[4\]"),
    "tree": (lambda x: (x, x), r"returned a result of structure .*but result_shape_dtypes has"),
    "no array": (lambda x: object(), r"returned a object, which is no array, as leaf 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_results_are_checked(case: str) -> None:
    host, said = WRONG[case]
    said = rf"(?s)pure_callback of <lambda> {HERE}.*{said}"
    f = lambda x: pure_callback(host, VECTOR, x)  # noqa: E731
    with pytest.raises(TypeError, match=said):
        f(X)
    with pytest.raises(TypeError, match=said):
        jit(f)(X).block_until_ready()
    np.testing.assert_allclose(jit(lambda x: pure_callback(identity, VECTOR, x))(X), X)


def test_derivatives_and_unspecified_mapping_are_refused() -> None:
    said = rf"pure_callback of host_sin {HERE}.*derivative of a Python function is not known. Wrap"
    f = lambda x: pure_callback(host_sin, SCALAR, x)  # noqa: E731
    for g in (grad(f), jit(grad(f)), grad(jit(f))):
        with pytest.raises(ValueError, match=said):
            g(1.0)
    with pytest.raises(NotImplementedError, match=rf"host_sin {HERE}.*Pass vmap_method='sequen"):
        vmap(f)(X)
    with pytest.raises(ValueError, match=rf"host_sin {HERE}.*have no order. Pass ordered=False"):
        vmap(lambda x: io_callback(host_sin, SCALAR, x, ordered=True))(X)
    assert float(grad(lambda x: lax.mul(x, f(lax.stop_gradient(x))))(1.0)) == pytest.approx(
        np.sin(1.0)
    )


def test_results_of_64_bits_are_refused_where_they_are_not_enabled():
    for call in (pure_callback, io_callback):
        with pytest.raises(ValueError, match="dtype int64, and types of 64 bits are not enabled"):
            call(lambda x: x, ShapeDtypeStruct((), np.int64), 1)


def test_results_without_arrays_may_be_of_any_structure():
    assert pure_callback(lambda x: None, (), 1.0) == ()
    assert pure_callback(lambda x: [], None, 1.0) is None


def test_results_may_be_lists_where_tuples_are_declared_and_the_other_way_round():
    f = lambda x: pure_callback(lambda x: [x, {"a": (2 * x,)}], (SCALAR, {"a": [SCALAR]}), x)  # noqa: E731
    for call in (f, jit(f)):
        first, second = call(3.0)
        assert float(first) == 3 and [float(v) for v in second["a"]] == [6]
    with pytest.raises(TypeError, match="returned a result of structure"):
        pure_callback(lambda x: {"b": x}, {"a": SCALAR}, 1.0)
