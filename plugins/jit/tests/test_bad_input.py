"""What ``jit`` refuses, what it says, and that a refused or failed call leaves nothing behind."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_backends import PjrtBackend, device_put
from dovetail_base.source import get_override
from dovetail_batching import vmap
from dovetail_core import EVAL, axis_env, enable_x64, get_trace
from dovetail_jit import eval_shape, jit, make_jaxpr
from dovetail_xla.client import make_cpu_client
from dovetail_xla.config import tracing_state

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
HERE = r"at .*test_bad_input\.py:\d+"


def fresh() -> Any:
    """A new array on the device."""
    return lax.mul(X, 1.0)


# --- donated and deleted arrays -------------------------------------------------------------------

SAID = (
    r"an array of type f32\[4\] is used at .*test_bad_input\.py.* after it was donated to step "
    r"\(donate.*a copy"
)


def donate_twice(step: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Two donated arrays: by the first call, which enters Python, and by one that stays in C++."""
    first, second = fresh(), fresh()
    step(first)
    step(second)
    return first, second


def step(v: Any) -> Any:
    return lax.add(v, 1.0)


add_one = step


def test_a_donated_array_is_named_by_every_use_that_enters_python() -> None:
    step = jit(add_one, donate_argnums=0)
    lax.sub(fresh(), 2.0)  # the operation itself is known to C++
    for x in donate_twice(step):
        assert x.is_deleted()
        for use in (
            lambda x: lax.sub(x, 2.0),
            lambda x: lax.reduce_sum_p.bind(x, axes=(0,)),
            np.asarray,
            jit(lambda v: lax.neg(v)),
            grad(lambda v: lax.reduce_sum_p.bind(lax.mul(v, v), axes=(0,))),
            vmap(lax.sin),
            lambda x: jit(lambda: lax.mul(x, 2.0))(),
            jit(lax.sin).lower(X).compile(),
            lambda x: lax.scan(lambda c, t: (c, t), 0.0, x),
        ):
            with pytest.raises(RuntimeError, match=SAID):
                use(x)


def test_a_donated_array_given_to_a_call_that_cpp_knows_is_named_all_the_same() -> None:
    step = jit(add_one, donate_argnums=0)
    use = jit(lambda v: lax.mul(v, 3.0))
    use(fresh())
    for x in donate_twice(step):
        use(fresh())
        with pytest.raises(RuntimeError, match=rf"jit of <lambda>: args\[0\]: {SAID}"):
            use(x)
    np.testing.assert_allclose(use(fresh()), 3 * X)


def test_array_methods_and_numpy_functions_name_a_donated_array() -> None:
    """They are compiled functions that C++ knows, too."""
    uses: list[Callable[[Any], Any]] = [
        dnp.sum, dnp.sin, lambda x: x + 1, lambda x: x[0], lambda x: x[1:3], lambda x: x @ x,
        lambda x: x.at[0].set(1.0), lambda x: x.reshape(2, 2), lambda x: x.astype(int), list,
        lambda x: dnp.where(x > 0, x, 0.0), lambda x: dnp.concatenate([x, x]),
    ]  # fmt: skip
    step = jit(add_one, donate_argnums=0)
    for use in uses:
        use(fresh())
        for x in donate_twice(step):
            with pytest.raises(RuntimeError, match=SAID):
                use(x)


def test_the_donated_argument_is_named() -> None:
    """By its path, in a tree and by keyword, to the function that took it as to others."""
    step = jit(lambda p, *, q: (lax.add(p["w"], 1.0), lax.add(q, 1.0)), donate_argnames=("p", "q"))
    for _ in range(3):
        w, q = fresh(), fresh()
        step({"w": w}, q=q)
        with pytest.raises(RuntimeError, match=r"jit of <lambda>: args\[0\]\['w'\]: an array.*f32"):
            step({"w": w}, q=fresh())
        with pytest.raises(RuntimeError, match=r"kwargs\['q'\]: an array .*donated to <lambda>"):
            step({"w": fresh()}, q=q)
        assert w.is_deleted() and q.is_deleted()


def test_what_no_result_can_use_is_not_taken() -> None:
    f = jit(lambda a, b: lax.reduce_sum_p.bind(a, axes=(0,)), donate_argnums=(0, 1))
    x, y = fresh(), fresh()
    with pytest.warns(UserWarning, match=r"donated argument of type f32\[4\] is not used"):
        f(x, y)
    for _ in range(2):
        assert not x.is_deleted() and not y.is_deleted()
        f(x, y)
    np.testing.assert_allclose(x, X)


def test_deleted_arrays_are_told_from_donated_ones() -> None:
    x = fresh()
    x.delete()
    use = jit(lambda v: lax.mul(v, 3.0))
    use(fresh())
    said = r"after it was deleted at .*test_bad_input\.py.*Delete it after its last use"
    for f in (use, lax.sin, jit(lax.cos)):
        with pytest.raises(RuntimeError, match=said):
            f(x)


def test_one_array_cannot_be_donated_and_used_twice_in_a_call() -> None:
    f = jit(lambda a, b: (lax.add(a, b), lax.mul(a, b)), donate_argnums=(0, 1))
    x = fresh()
    with pytest.raises(ValueError, match=r"leaf 1 of the arguments, .*f32\[4\], is also leaf 0"):
        f(x, x)
    np.testing.assert_allclose(x, X, err_msg="a refused call takes nothing away")
    large = lax.mul(np.ones(1000, np.float32), 1.0)  # small ones are constants of the module
    g = jit(lambda p: lax.add(p["a"], large), donate_argnums=0)
    with pytest.raises(ValueError, match=r"is also closed over, and donated at .*\. Donate a copy"):
        g({"a": large})
    np.testing.assert_allclose(large, 1)
    y = np.array(X)
    np.testing.assert_allclose(f(y, y)[0], 2 * X)  # what is not on the device yet is copied
    np.testing.assert_allclose(y, X)


# --- devices --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def devices() -> list[Any]:
    """Four devices of a client beside the default one."""
    backend = PjrtBackend("cpu", lambda: make_cpu_client(4), priority=0, available=lambda: "")
    return backend.local_devices()


def test_arguments_on_different_devices_are_named(devices: list[Any]) -> None:
    a, b = (device_put(X, d) for d in devices[1:3])
    f = jit(lambda p: lax.add(p["a"], p["b"]))
    said = (
        r"<lambda> received arrays on different devices: leaf 0 of its arguments is on cpu:1, "
        r"leaf 1 on cpu:2\. Move them to one device with device_put"
    )
    for _ in range(2):
        with pytest.raises(ValueError, match=said):
            f({"a": a, "b": b})
    with pytest.raises(ValueError, match="add received arrays on different devices"):
        lax.add(a, b)
    assert f({"a": a, "b": X}).devices() == {devices[1]}
    assert f({"a": lax.mul(X, 1.0), "b": b}).devices() == {devices[2]}
    with pytest.raises(ValueError, match=said):
        f({"a": a, "b": b})
    assert jit(lambda x, y: lax.add(x, y), device=devices[3])(a, b).devices() == {devices[3]}


# --- static arguments -----------------------------------------------------------------------------


def scaled(x: Any, n: Any) -> Any:
    return lax.mul(x, float(n))


@pytest.mark.parametrize(
    "value", [[1], {"a": 1}, X, lax.mul(X, 1.0)], ids=lambda v: type(v).__name__
)
def test_unhashable_static_arguments_are_named(value: Any) -> None:
    kind = type(value).__name__
    f = jit(scaled, static_argnums=1)
    said = rf"jit of scaled: static argument 1 of type {kind} is not hashable {HERE}.*pass a tuple"
    for call in (f, f.lower, jit(scaled, static_argnums=1, donate_argnums=0)):
        with pytest.raises(ValueError, match=said):
            call(X, value)
    said = rf"static argument 'n' of type {kind} is not hashable {HERE}"
    g = jit(scaled, static_argnames="n")
    for call in (g, g.trace):
        with pytest.raises(ValueError, match=said):
            call(X, n=value)
    np.testing.assert_allclose(f(X, 3), 3 * X)


def test_what_is_not_hashable_inside_of_a_static_argument_is_named() -> None:
    with pytest.raises(ValueError, match=rf"of type tuple is not hashable {HERE}.*type: 'list'"):
        jit(scaled, static_argnums=1)(X, (1, [2]))


def test_a_traced_value_cannot_be_static() -> None:
    f = jit(scaled, static_argnames="n")
    said = (
        r"Traced<.*is not hashable: a traced value has no fixed value to hash at .*test_bad_input"
        r".*make the argument that it comes from static, too"
    )
    for call in (
        lambda: jit(lambda n: f(X, n=n))(3),
        lambda: grad(lambda n: f(2.0, n))(3.0),
        lambda: vmap(lambda n: f(2.0, n=n))(X),
    ):
        with pytest.raises(ValueError, match=f"(?s){said}"):
            call()
    with pytest.raises(ValueError, match=r"^jit of scaled: static argument 'n': Traced"):
        jit(lambda n: f(X, n=n))(3)
    np.testing.assert_allclose(jit(lambda n: f(X, n=n), static_argnums=0)(3), 3 * X)


def test_static_arguments_are_told_apart_by_type_and_by_equality() -> None:
    seen: list[Any] = []

    class Collides:
        """All of one hash, equal if of one number."""

        def __init__(self, k: int) -> None:
            self.k = k

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Collides) and self.k == other.k

    @partial(jit, static_argnums=0)
    def f(n: Any, x: Any) -> Any:
        seen.append(n)
        return lax.mul(x, float(n.k if isinstance(n, Collides) else n))

    for n in (Collides(2), Collides(3), Collides(2)):
        np.testing.assert_allclose(f(n, X), n.k * X)
    for n in (1, True, 1.0, np.float32(1)):
        np.testing.assert_allclose(f(n, X), X)
    assert [type(n) for n in seen] == [Collides, Collides, int, bool, float, np.float32]


def test_static_and_donated_at_once_is_refused() -> None:
    with pytest.raises(ValueError, match="jit of scaled: an argument cannot be static and donated"):
        jit(scaled, static_argnums=1, donate_argnums=(0, 1))
    with pytest.raises(ValueError, match="cannot be static and donated"):
        jit(scaled, static_argnames="n", donate_argnums=1)


# --- functions that are no plain functions --------------------------------------------------------


class Scale:
    """A callable whose instances have one hash."""

    def __init__(self, k: float) -> None:
        self.k = k

    def __hash__(self) -> int:
        return 1

    def __call__(self, x: Any) -> Any:
        return lax.mul(x, self.k)


class Unhashable(Scale):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable)


class Slotted:
    """A callable that nothing can refer to weakly."""

    __slots__ = ("k",)

    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x: Any) -> Any:
        return lax.mul(x, self.k)


@pytest.mark.parametrize("cls", [Scale, Unhashable, Slotted])
def test_callable_objects_are_not_confused(cls: Any) -> None:
    two, three = jit(cls(2.0)), jit(cls(3.0))
    for _ in range(2):
        np.testing.assert_allclose(two(X), 2 * X)
        np.testing.assert_allclose(three(X), 3 * X)
    np.testing.assert_allclose(jit(lambda x: two(three(x)))(X), 6 * X)


def test_wrappers_of_one_function_with_other_settings_are_not_confused() -> None:
    """Also where the settings of one that is gone had the address of another's."""

    def f(x: Any, n: Any) -> Any:
        return lax.mul(x, n) if isinstance(n, float) else lax.add(x, n)

    for _ in range(20):
        np.testing.assert_allclose(jit(f, static_argnums=1)(X, 2.0), 2 * X)
        gc.collect()
        np.testing.assert_allclose(jit(f)(X, 2.0), X + 2)
        x = fresh()
        jit(f, donate_argnums=0)(x, 2.0)
        assert x.is_deleted()
        y = fresh()
        jit(f)(y, 2.0)
        assert not y.is_deleted()


class Model:
    def __init__(self, w: float) -> None:
        self.w = w

    @jit
    def careless(self, x: Any) -> Any:
        return lax.mul(x, self.w)

    @partial(jit, static_argnums=0)
    def scaled(self, x: Any) -> Any:
        return lax.mul(x, self.w)

    def plain(self, x: Any) -> Any:
        return lax.mul(x, self.w)


def test_methods_need_a_static_self() -> None:
    said = rf"jit of careless: args\[0\] {HERE}.*Model object.* is not a valid.*static \(static_arg"
    with pytest.raises(TypeError, match=said):
        Model(2.0).careless(X)
    two, three = Model(2.0), Model(3.0)
    for m in (two, three, two):
        np.testing.assert_allclose(m.scaled(X), m.w * X)
    np.testing.assert_allclose(jit(two.plain)(X), 2 * X)
    np.testing.assert_allclose(jit(three.plain)(X), 3 * X)


def test_partial_functions_and_generators() -> None:
    np.testing.assert_allclose(jit(partial(lax.mul, 2.0))(X), 2 * X)
    np.testing.assert_allclose(jit(partial(scaled, n=3))(X), 3 * X)

    def generate(x: Any) -> Any:
        yield x

    for f in (generate, partial(generate, X)):
        with pytest.raises(TypeError, match=r"jit takes functions, but \w+ is a generator"):
            jit(f)
    with (
        pytest.warns(DeprecationWarning, match="generator"),  # the runtime's, about the leaf
        pytest.raises(TypeError, match=r"<lambda> returned a value that is not an array"),
    ):
        jit(lambda x: generate(x))(X)


@pytest.mark.parametrize("wrong", ["text", object(), b"bytes", {1, 2}, np.array(["a"])])
def test_arguments_and_results_that_are_no_arrays_are_named(wrong: Any) -> None:
    with pytest.raises(
        TypeError, match=rf"jit of <lambda>: args\[1\]\[0\]\['k'\] {HERE}.*not a valid arr"
    ):
        jit(lambda a, b: a)(1.0, [{"k": wrong}])
    with pytest.raises(
        TypeError, match=rf"jit of <lambda>: kwargs\['b'\] {HERE}.*not a valid array"
    ):
        jit(lambda a, *, b: a)(1.0, b=wrong)
    with pytest.raises(TypeError, match="returned a value that is not an array"):
        jit(lambda a: {"out": wrong})(1.0)


def test_integers_that_do_not_fit_are_named() -> None:
    said = rf"integer 1099511627776 does not fit into int32 {HERE}.*Enable 64-bit types"
    with pytest.raises(OverflowError, match=said):
        jit(lambda x: x)(2**40)
    with enable_x64(True):
        assert int(jit(lambda x: x)(2**40)) == 2**40


# --- trees ----------------------------------------------------------------------------------------


def test_none_leaves_and_empty_trees() -> None:
    f = jit(lambda t: (t["a"], None, {"b": (), "c": [None, lax.sin(t["c"])]}))
    a, n, rest = f({"a": None, "c": X})
    assert a is None and n is None and rest["b"] == () and rest["c"][0] is None
    np.testing.assert_allclose(rest["c"][1], np.sin(X), rtol=1e-6)
    assert jit(lambda t: t)(()) == () and jit(lambda: None)() is None


def test_a_tree_of_thousands_of_leaves() -> None:
    tree = {f"k{i}": (np.float32(i), {"deep": [1.0]}) for i in range(1000)}
    result = jit(lambda t: {k: (v[0], v[1]["deep"][0]) for k, v in t.items()})(tree)
    assert len(result) == 1000 and float(result["k999"][0]) == 999.0


# --- failures leave nothing behind ----------------------------------------------------------------


class Boom(Exception):
    pass


def fail(*args: Any) -> Any:
    raise Boom


def state() -> Any:
    return (
        get_trace() is EVAL, axis_env(), bool(tracing_state.value), enable_x64.value,
        get_override(), gc.get_threshold(),
    )  # fmt: skip


FAILING: dict[str, Callable[[], Any]] = {
    "jit": lambda: jit(fail)(X),
    "grad": lambda: grad(fail)(1.0),
    "vmap": lambda: vmap(fail, axis_name="i")(X),
    "scan": lambda: lax.scan(fail, 1.0, X),
    "cond": lambda: lax.cond(True, fail, fail, X),
    "while": lambda: lax.while_loop(fail, fail, 1.0),
    "make_jaxpr": lambda: make_jaxpr(fail)(X),
    "nested": lambda: jit(grad(lambda x: vmap(jit(fail), axis_name="i")(X)))(1.0),
    "in a context": lambda: jit(lambda x: fail_under_x64())(X),
}


def fail_under_x64() -> None:
    with enable_x64(True):
        jit(fail)(1.0)


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("threaded", [False, True], ids=["here", "in a thread"])
def test_an_exception_leaves_trace_and_configuration_as_they_were(
    name: str, threaded: bool
) -> None:
    seen: list[Any] = []

    def run() -> None:
        before = state()
        with pytest.raises(Boom):
            FAILING[name]()
        seen.append(state() == before)
        np.testing.assert_allclose(jit(lax.sin)(X), np.sin(X), rtol=1e-6)

    if threaded:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    else:
        run()
    assert seen == [True]


def test_a_function_that_failed_once_works_afterwards() -> None:
    broken = [True]

    @jit
    def f(x: Any) -> Any:
        if broken[0]:
            raise Boom
        return lax.sin(x)

    for _ in range(2):
        with pytest.raises(Boom):
            f(X)
    broken[0] = False
    for _ in range(3):
        np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)


def test_threads_have_their_own_trace() -> None:
    """An operation in another thread, begun while this one traces, is evaluated there."""
    result: list[Any] = []

    def f(x: Any) -> Any:
        thread = threading.Thread(target=lambda: result.append(np.asarray(lax.add(X, 1.0))))
        thread.start()
        thread.join()
        return lax.sin(x)

    np.testing.assert_allclose(jit(f)(X), np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(result[0], X + 1)


def test_python_state_is_read_when_tracing_and_not_again() -> None:
    scale = [2.0]
    f = jit(lambda x: lax.mul(x, scale[0]))
    np.testing.assert_allclose(f(X), 2 * X)
    scale[0] = 3.0
    np.testing.assert_allclose(f(X), 2 * X)
    f.clear_cache()
    np.testing.assert_allclose(f(X[:2]), 3 * X[:2])


def test_the_path_of_an_argument_counts_static_ones() -> None:
    f = jit(lambda n, x, *, kind="", y=0: x, static_argnums=0, static_argnames="kind")
    with pytest.raises(TypeError, match=r"jit of <lambda>: args\[1\]\['a'\].* at .*: .*object"):
        f("name", {"a": object()})
    with pytest.raises(TypeError, match=r"jit of <lambda>: kwargs\['y'\]\[1\]"):
        f("name", 1.0, kind="text", y=[1.0, object()])
    with pytest.raises(TypeError, match=r"eval_shape of <lambda>: args\[0\]\[1\]"):
        eval_shape(lambda x: x, [1.0, object()])
