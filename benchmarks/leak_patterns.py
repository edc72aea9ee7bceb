"""The patterns of leaks.py: each makes a step that is called with 0, 1, 2, ...

A step makes new functions, arrays or classes, uses them, and returns those that should die. It
runs with Dovetail and with JAX, which is given as ``jax``.
"""

# ruff: noqa: D103
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

Step = Callable[[int], tuple[Any, ...]]
X = np.linspace(0.1, 1.0, 8, dtype=np.float32)
PATTERNS: dict[str, Callable[[Any], Step]] = {}


def pattern(make: Callable[[Any], Step]) -> Callable[[Any], Step]:
    PATTERNS[make.__name__.strip("_").replace("_", " ")] = make
    return make


def numpy_of(jax: Any) -> Any:
    return importlib.import_module(f"{jax.__name__}.numpy")


def transformed(name: str, apply: Callable[[Any, Any], Any]) -> None:
    """A pattern that transforms a new function at each step."""

    def make(jax: Any) -> Step:
        jnp = numpy_of(jax)
        x = jnp.asarray(X)

        def step(i: int) -> tuple[Any, ...]:
            f = lambda x: jnp.sum(jnp.sin(x) * 2.0)  # noqa: E731
            apply(jax, f)(x)
            return (f,)

        return step

    PATTERNS[f"new function in {name}"] = make


transformed("jit", lambda jax, f: jax.jit(f))
transformed("grad", lambda jax, f: jax.grad(f))
transformed("vmap", lambda jax, f: jax.vmap(f))
transformed("jvp", lambda jax, f: lambda x: jax.jvp(f, (x,), (x,)))
transformed("vjp", lambda jax, f: lambda x: jax.vjp(f, x)[1](np.float32(1)))
transformed("linearize", lambda jax, f: lambda x: jax.linearize(f, x)[1](x))
transformed("checkpoint", lambda jax, f: jax.checkpoint(f))
transformed("grad of checkpoint", lambda jax, f: jax.grad(jax.checkpoint(f)))
transformed("jit of grad", lambda jax, f: jax.jit(jax.grad(f)))
transformed("make_jaxpr", lambda jax, f: jax.make_jaxpr(f))
transformed("eval_shape", lambda jax, f: lambda x: jax.eval_shape(f, x))
transformed("options of jit", lambda jax, f: jax.jit(f, keep_unused=True, donate_argnums=()))
transformed("partial in jit", lambda jax, f: jax.jit(functools.partial(lambda f, x: f(x), f)))


@pattern
def new_function_in_scan(jax: Any) -> Step:
    def step(i: int) -> tuple[Any, ...]:
        f = lambda c, x: (c + x, c * x)  # noqa: E731
        jax.lax.scan(f, np.float32(0), X)
        return (f,)

    return step


@pattern
def new_functions_in_cond(jax: Any) -> Step:
    def step(i: int) -> tuple[Any, ...]:
        f, g = (lambda x: x + 1), (lambda x: x * 2)
        jax.lax.cond(True, f, g, X)
        return f, g

    return step


@pattern
def new_functions_in_while_loop(jax: Any) -> Step:
    def step(i: int) -> tuple[Any, ...]:
        f, g = (lambda i: i < 5), (lambda i: i + 1)
        jax.lax.while_loop(f, g, 0)
        return f, g

    return step


@pattern
def grad_of_a_new_custom_jvp(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        f = jax.custom_jvp(lambda x: jnp.sum(x * x))
        rule = lambda p, t: (f(*p), jnp.vdot(2 * p[0], t[0]))  # noqa: E731
        f.defjvp(rule)
        jax.grad(f)(X)
        return rule, f.__wrapped__

    return step


@pattern
def grad_of_a_new_custom_vjp(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        f = jax.custom_vjp(lambda x: jnp.sum(x * x))
        forward = lambda x: (jnp.sum(x * x), x)  # noqa: E731
        backward = lambda x, g: (2 * x * g,)  # noqa: E731
        f.defvjp(forward, backward)
        jax.grad(f)(X)
        return forward, backward, f.__wrapped__

    return step


@pattern
def vmap_of_a_new_custom_vmap(jax: Any) -> Step:
    custom_vmap = importlib.import_module(f"{jax.__name__}.custom_batching").custom_vmap

    def step(i: int) -> tuple[Any, ...]:
        f = custom_vmap(lambda x: x * x)
        rule = lambda size, mapped, x: (x * x, mapped[0])  # noqa: E731
        f.def_vmap(rule)
        jax.vmap(f)(X)
        return (rule,)

    return step


def called_back(name: str, use: Callable[[Any, Any], Any], jitted: bool) -> None:
    def make(jax: Any) -> Step:
        def step(i: int) -> tuple[Any, ...]:
            f = lambda *xs: np.float32(3)  # noqa: E731
            g = lambda x: use(jax, f)(x)  # noqa: E731
            (jax.jit(g) if jitted else g)(X)
            jax.effects_barrier()
            return f, g

        return step

    PATTERNS[f"new {name}" + (" in a new jit" if jitted else "")] = make


def _pure(jax: Any, f: Any) -> Any:
    return lambda x: jax.pure_callback(f, jax.ShapeDtypeStruct((), np.float32), x)


def _io(jax: Any, f: Any) -> Any:
    io_callback = importlib.import_module(f"{jax.__name__}.experimental").io_callback
    return lambda x: io_callback(f, jax.ShapeDtypeStruct((), np.float32), x, ordered=True)


def _debug(jax: Any, f: Any) -> Any:
    return lambda x: jax.debug.callback(f, x)


for _jitted in (False, True):
    called_back("pure_callback", _pure, _jitted)
    called_back("io_callback", _io, _jitted)
    called_back("debug.callback", _debug, _jitted)


@pattern
def debug_print_in_a_new_jit(jax: Any) -> Step:
    def step(i: int) -> tuple[Any, ...]:
        f = lambda x: jax.debug.print("{x}", x=x[:0])  # noqa: E731
        jax.jit(f)(X)
        jax.effects_barrier()
        return (f,)

    return step


def closure(name: str, make_value: Callable[[Any, int], Any]) -> None:
    def make(jax: Any) -> Step:
        jnp = numpy_of(jax)

        def step(i: int) -> tuple[Any, ...]:
            value = make_value(jnp, i)
            f = lambda x: jnp.sum(x) * value  # noqa: E731
            jax.jit(f)(X)
            return (f, value) if hasattr(value, "shape") else (f,)

        return step

    PATTERNS[f"new jitted closure over {name}"] = make


closure("a device array", lambda jnp, i: jnp.full(16384, i, np.float32))
closure("a NumPy array", lambda jnp, i: np.full(16384, i, np.float32))
closure("a Python number", lambda jnp, i: float(i))


@pattern
def new_static_argument(jax: Any) -> Step:
    f = jax.jit(lambda x, n: x * n, static_argnums=1)

    def step(i: int) -> tuple[Any, ...]:
        class Static:
            __rmul__ = lambda self, x: x * 2  # noqa: E731

        n = Static()
        f(X, n)
        return n, Static

    return step


@pattern
def new_shape_in_jit(jax: Any) -> Step:
    f = jax.jit(lambda x: x * 2)

    def step(i: int) -> tuple[Any, ...]:
        y = f(np.ones(i + 1, np.float32))
        return (y,)

    return step


@pattern
def new_shape_in_an_operation(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        x = jnp.asarray(np.ones(i + 1, np.float32))
        y = jnp.sin(x)
        return x, y

    return step


@pattern
def exception_in_a_traced_function(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        def f(x: Any) -> Any:
            y = jnp.sin(x)
            raise ValueError(y)

        for g in (jax.jit(f), jax.grad(f), jax.vmap(f), jax.checkpoint(f)):
            with suppress(ValueError):
                g(X)
        return (f,)

    return step


@pattern
def new_reference(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        x = jnp.full(64, i, np.float32)
        ref = jax.new_ref(x)

        def f(x: Any) -> Any:
            ref[...] = x * 2
            return ref[...]

        jax.jit(f)(x)
        return f, x

    return step


@pattern
def class_of_trees(jax: Any) -> Step:
    jnp = numpy_of(jax)
    f = jax.jit(lambda tree: jax.tree.map(jnp.sin, tree))

    def step(i: int) -> tuple[Any, ...]:
        class Pair:
            def __init__(self, a: Any) -> None:
                self.a = a

        jax.tree_util.register_pytree_node(Pair, lambda p: ((p.a,), None), lambda _, a: Pair(*a))
        f(Pair(jnp.asarray(X)))
        return ()

    return step


@pattern
def new_metadata_of_trees(jax: Any) -> Step:
    jnp = numpy_of(jax)

    class Tagged:
        def __init__(self, a: Any, tag: Any) -> None:
            self.a, self.tag = a, tag

    class Tag:
        pass

    jax.tree_util.register_pytree_node(
        Tagged, lambda p: ((p.a,), p.tag), lambda tag, a: Tagged(a[0], tag)
    )
    f = jax.jit(lambda tree: jnp.sin(tree.a))

    def step(i: int) -> tuple[Any, ...]:
        tag = Tag()
        f(Tagged(X, tag))
        return (tag,)

    return step


@pattern
def contexts_of_configuration(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        f = jax.jit(lambda x: x * 2)
        with jax.enable_x64(True):
            f(X)
        with jax.default_device(jax.devices()[0]):
            f(X)
        with jax.numpy_dtype_promotion("strict"):
            y = jnp.sin(f(X))
        return f, y

    return step


@pattern
def lower_and_compile(jax: Any) -> Step:
    def step(i: int) -> tuple[Any, ...]:
        f = lambda x: x * 2  # noqa: E731
        jax.jit(f).lower(X).compile()(X)
        return (f,)

    return step


@pattern
def device_put(jax: Any) -> Step:
    def step(i: int) -> tuple[Any, ...]:
        x = jax.device_put(np.full(16384, i, np.float32))
        y = jax.device_put(x, jax.devices()[0])
        np.asarray(y)
        return x, y

    return step


@pattern
def jitted_method_of_a_new_object(jax: Any) -> Step:
    class Model:
        def __init__(self, i: int) -> None:
            self.w = np.float32(i)

        @functools.partial(jax.jit, static_argnums=0)
        def apply(self, x: Any) -> Any:
            return x * self.w

    def step(i: int) -> tuple[Any, ...]:
        model = Model(i)
        model.apply(X)
        return (model,)

    return step


@pattern
def jit_of_a_bound_method(jax: Any) -> Step:
    class Model:
        def __init__(self, i: int) -> None:
            self.w = np.float32(i)

        def apply(self, x: Any) -> Any:
            return x * self.w

    def step(i: int) -> tuple[Any, ...]:
        model = Model(i)
        jax.jit(model.apply)(X)
        return (model,)

    return step


@pattern
def gradient_of_a_closure_over_arrays(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        w = jnp.full(1024, i, np.float32)
        f = jax.jit(lambda x: jnp.sum(x * w))
        jax.grad(f)(jnp.ones(1024))
        return f, w

    return step


@pattern
def checkpointed_layers(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        w = jnp.full((8, 8), 0.1 + i, np.float32)
        f = lambda x: jnp.tanh(w @ x)  # noqa: E731
        g = jax.checkpoint(f)
        jax.grad(lambda x: jnp.sum(g(g(x))))(jnp.asarray(X))
        return f, w

    return step


@pattern
def checkpointed_closure_over_a_number(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        f = lambda x: jnp.sum(jnp.sin(x * float(i)) * jnp.tanh(x))  # noqa: E731
        jax.grad(jax.checkpoint(f))(jnp.asarray(X))
        return (f,)

    return step


@pattern
def new_box(jax: Any) -> Step:
    where = "dovetail.hijax" if jax.__name__ == "dovetail" else "jax._src.hijax"
    hijax = importlib.import_module(where)
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        x = jnp.full(64, i, np.float32)
        box = hijax.Box(x)
        f = lambda y: box.set(y * 2)  # noqa: E731
        jax.jit(f)(x)
        return f, x

    return step


@pattern
def scan_over_a_new_closure(jax: Any) -> Step:
    jnp = numpy_of(jax)

    def step(i: int) -> tuple[Any, ...]:
        w = jnp.full(8, i, np.float32)
        f = lambda c, x: (c * x + w, ())  # noqa: E731
        jax.grad(lambda x: jnp.sum(jax.lax.scan(f, w, x)[0]))(jnp.asarray(X))
        return f, w

    return step
