"""Attributes that operations have in the module: contexts, values, calls, places of computation."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, vmap
from dovetail.experimental.compute_on import compute_on
from dovetail.experimental.scheduling_groups import scheduling_group, xla_metadata_call
from dovetail.experimental.xla_metadata import set_xla_metadata


def marks(f, *args):
    """The operations of the module that have attributes, with these."""
    result = []
    for line in jit(f).lower(*args).as_text().splitlines():
        if m := re.search(r"mhlo\.frontend_attributes = \{([^}]*)\}", line):
            name = re.search(r'(?:= |^ *\}+\) *)"?(?:stablehlo\.)?(\w+)', line)
            result.append((name[1] if name and "})" not in line else "region", m[1]))
    return result


def twice(x):
    with set_xla_metadata(a="b", n=3, t=True):
        y = dnp.sin(x) * 2
    return dnp.cos(y)


ALL = 'a = "b", n = "3", t = "true"'


def test_operations_of_a_context():
    assert marks(twice, 1.0) == [("sine", ALL), ("multiply", ALL)]


def test_derivatives_and_mapped_functions():
    result = marks(grad(twice), 1.0)
    assert [op for op, _ in result] == ["sine", "cosine", "multiply", "multiply", "multiply"]
    assert {text for _, text in result} == {ALL}
    assert ("sine", ALL) in marks(vmap(twice), dnp.ones(2))
    np.testing.assert_allclose(jit(grad(twice))(0.5), grad(lambda x: dnp.cos(2 * dnp.sin(x)))(0.5))


def test_contexts_within_each_other_and_scopes():
    def f(x):
        with set_xla_metadata(outer="1"):
            with set_xla_metadata(outer=None, inner="2"):
                x = dnp.sin(x)
            with set_xla_metadata(outer="3"), dovetail.named_scope("part"):
                x = dnp.cos(x)
            return dnp.tanh(x)

    assert marks(f, 1.0) == [
        ("sine", 'inner = "2"'),
        ("cosine", 'outer = "3"'),
        ("tanh", 'outer = "1"'),
    ]


def test_decorated_functions_with_branches():
    @set_xla_metadata(d="e")
    def f(x):
        return lax.cond(x > 0, dnp.sin, dnp.cos, x)

    assert {op for op, _ in marks(f, 1.0)} >= {"compare", "sine", "cosine", "region"}
    assert marks(dnp.sin, 1.0) == []  # it is over


def test_a_function_that_was_compiled_before():
    """It is traced anew inside, and equal programs with other attributes are other functions."""
    inner = jit(lambda x: dnp.sin(x))
    inner(1.0)
    f = lambda x: set_xla_metadata(z="1")(inner)(x) + inner(x)  # noqa: E731
    assert marks(f, 1.0) == [("call", 'z = "1"'), ("sine", 'z = "1"')]
    np.testing.assert_allclose(jit(f)(1.0), 2 * np.sin(1.0), rtol=1e-6)


def test_values():
    f = lambda x: set_xla_metadata(dnp.sin(x) * 2, v="w") + 1  # noqa: E731
    assert marks(f, 1.0) == [("multiply", 'v = "w"')]
    assert marks(vmap(f), dnp.ones(2)) == [("multiply", 'v = "w"')]
    assert marks(grad(f), 1.0) == []
    np.testing.assert_allclose([f(1.0), jit(f)(1.0)], 2 * np.sin(1.0) + 1, rtol=1e-6)
    np.testing.assert_allclose(grad(f)(0.5), 2 * np.cos(0.5), rtol=1e-6)
    tree = set_xla_metadata({"p": dnp.ones(2), "q": 3.0}, v="w")
    assert tree["q"] == 3.0
    both = lambda x: set_xla_metadata(set_xla_metadata(a="1", v="0")(dnp.sin)(x), v="w")  # noqa: E731
    assert marks(both, 1.0) == [("sine", 'a = "1", v = "w"')]


def test_odd_text():
    f = lambda x: set_xla_metadata(**{"a b": 'say "x"\\'})(dnp.sin)(x)  # noqa: E731
    assert len(marks(f, 1.0)) == 1
    jit(f)(1.0)


def test_calls():
    f = scheduling_group("g1")(lambda x, *, y: (dnp.sin(x) * y, [x]))
    total = lambda x: f(x, y=2.0)[0] + f(x, y=3.0)[1][0]  # noqa: E731
    assert marks(total, 1.0) == [("call", 'scheduling_group = "g1"')] * 2
    assert marks(grad(total), 1.0)[:2] == [("call", 'scheduling_group = "g1"')] * 2
    xs = dnp.array([0.1, 0.7])
    for g in (total, jit(total)):
        np.testing.assert_allclose(vmap(g)(xs), 2 * np.sin(xs) + xs, rtol=1e-6)
        np.testing.assert_allclose(vmap(grad(g))(xs), 2 * np.cos(xs) + 1, rtol=1e-6)

    @xla_metadata_call(foo="bar", deep=True)
    def h(x):
        return x * x

    assert marks(h, 1.0) == [("call", 'deep = "true", foo = "bar"')]


def test_places():
    f = lambda kind: lambda x: compute_on(kind)(dnp.sin)(x)  # noqa: E731
    for kind, wanted in {
        "device_host": '_xla_compute_type = "host"',
        "device": '_xla_compute_type = "dense"',
        "tpu_sparsecore": '_xla_compute_type = "sparseoffload"',
        "gpu_stream:2": '_xla_stream_annotation = "2", inlineable = "false"',
    }.items():
        assert marks(f(kind), 1.0) == [("sine", wanted)]

    def nested(x):
        with compute_on("gpu_stream:1"):
            return f("device_host")(x)

    assert marks(nested, 1.0) == [("sine", '_xla_compute_type = "host"')]
    np.testing.assert_allclose(jit(f("device_host"))(1.0), np.sin(1.0), rtol=1e-6)


def test_errors():
    place = r"at .*test_xla_metadata\.py"
    with pytest.raises(
        TypeError, match=rf"set_xla_metadata {place}.*: x is the function sin; attr"
    ):
        set_xla_metadata(np.sin, a="b")
    with pytest.raises(TypeError, match=r"a is \[1\], of type list; attributes are strings, num"):
        set_xla_metadata(a=[1])
    with pytest.raises(
        TypeError, match=rf"xla_metadata_call {place}.*: f is of type float; give a"
    ):
        xla_metadata_call(3.0)
    with pytest.raises(
        ValueError, match=rf"compute_on {place}.* no compute type 'moon'; give 'dev"
    ):
        compute_on("moon")
    with pytest.raises(TypeError, match="compute_type is of type int; give a string"):
        compute_on(3)


def test_operations_of_functions_that_share_a_program_are_marked():
    def f(x):
        plain = dnp.searchsorted(x, x)
        with set_xla_metadata(who="inner"):
            return plain + dnp.searchsorted(x, x)

    text = jit(f).lower(np.ones(3, np.float32)).as_text()
    one, two = text.count("func.func private @searchsorted"), text.count('who = "inner"')
    assert one == 2 and two > 10
