"""Objects with ``__jax_array__`` are accepted wherever public functions take arrays.

The functions of ``lax`` take arrays alone, as those of JAX: they refuse such objects, and the error
says what to pass.
"""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp

sys.path.insert(0, str(Path(__file__).parents[1]))

from differential.__main__ import AREAS, calls
from differential.evaluation import gradient, names_of
from torture.inputs.evaluation import evaluate

from dovetail_base.errors import ArrayProtocolError

STRICT = ("lax", "laxl")
MODULES = {*STRICT, *"jnp la fft rnd nn ini sp st sl sg sf sn si".split()}
OTHERWISE = {
    "jnp.iterable(v)",  # asks the object itself, as NumPy does
    "jnp.from_dlpack(v)",  # takes what has __dlpack__
    "rnd.threefry_2x32(jnp.zeros(2, 'uint32'), jnp.zeros(2, 'uint32'))",  # takes words
}
MORE = (
    "jnp.roll(v, i[:1])", "jnp.roll(m, i[1:], axis=(0, 1))", "jnp.roll(v, i[1])",
    "jnp.delete(v, i[:2])", "jnp.delete(v, b)", "jnp.delete(v, i[:1], assume_unique_indices=True)",
    "jnp.insert(v, i[:1], w[:1])", "jnp.insert(v, i[2], z)", "jnp.iscomplexobj(c)",
    "jnp.isrealobj(c)", "jnp.einsum(m, [0, 1], m, [1, 2])", "jnp.einsum(m, [0, 0])",
    "jnp.take(v, i)", "jnp.put(v, i, w, inplace=False)", "jnp.linspace(z, v, 3)",
    "jnp.clip(v, z, w)", "jnp.select([b], [v], z)", "jnp.repeat(v, i, total_repeat_length=3)",
    "jnp.cov(m, fweights=i)", "jnp.interp(v, w, v)", "jnp.average(m, 0, w)", "nn.relu(v)",
    "jnp.digitize(v, w)", "jnp.convolve(v, w)", "rnd.choice(key, v, (2,), True, probs)",
    "rnd.permutation(key, i)", "rnd.normal(key)", "rnd.uniform(key, (3,), minval=v, maxval=w + 2)",
    "rnd.fold_in(key, i[1])", "rnd.randint(key, (3,), i, i + 5)", "sp.logsumexp(v, b=w)",
)  # fmt: skip
"""Calls whose further arguments may be arrays."""
STEP = 1 if os.environ.get("DOVETAIL_TEST_FULL") == "1" else 16
CALLS = [t for _, t in calls((*AREAS, "scipy")) if t not in OTHERWISE][::STEP]


class Like:
    """Stands for an array, and has nothing else of one."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __jax_array__(self) -> Any:
        return self.array


def like(x: Any) -> Any:
    return Like(x) if isinstance(x, (dovetail.Array, np.ndarray)) else x


def root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


class Wrapping(ast.NodeTransformer):
    """Puts ``like(...)`` around the arguments of public functions, and around elements of lists."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if root(node.func) in MODULES:
            node.args = [self.wrapped(a) for a in node.args]
            for keyword in node.keywords:
                keyword.value = self.wrapped(keyword.value)
        return node

    def wrapped(self, node: ast.expr) -> ast.expr:
        if isinstance(node, (ast.List, ast.Tuple)):
            node.elts = [self.wrapped(x) for x in node.elts]
            return node
        if isinstance(node, (ast.Constant, ast.Lambda, ast.Starred)):
            return node
        return ast.Call(ast.Name("like", ast.Load()), [node], [])


def wrapped(text: str) -> str:
    tree = Wrapping().visit(ast.parse(text, mode="eval"))
    return ast.unparse(ast.fix_missing_locations(tree))


def is_strict(text: str) -> bool:
    """Whether a function of ``lax`` gets an array."""
    return any(root(n) in STRICT for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))


def agree(result: Any, wanted: Any) -> None:
    assert dovetail.tree.structure(result) == dovetail.tree.structure(wanted)
    for x, y in zip(dovetail.tree.leaves(result), dovetail.tree.leaves(wanted), strict=True):
        assert type(x) is type(y)
        if not isinstance(y, dovetail.Array):
            continue
        assert (x.shape, x.dtype, x.weak_type) == (y.shape, y.dtype, y.weak_type)
        if dnp.issubdtype(y.dtype, dovetail.dtypes.prng_key):
            x, y = dovetail.random.key_data(x), dovetail.random.key_data(y)
        if not dnp.issubdtype(y.dtype, dnp.inexact):
            assert np.array_equal(x, y)
        else:  # what is one program for arrays may be several for objects
            scale = float(np.max(np.abs(np.nan_to_num(y)), initial=0))
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6 * scale)


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield {**names_of("dovetail"), "like": like}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [*CALLS, *MORE])
def test_objects_are_as_good_as_arrays(text: str, names: dict[str, Any]) -> None:
    """Where evaluated, and where traced and differentiated."""
    for f in (evaluate, gradient):
        try:
            wanted = f(text, names)
        except Exception:  # it cannot be called so, or has no gradient
            continue
        try:
            result = f(wrapped(text), names)
        except ArrayProtocolError:
            assert is_strict(text)
            continue
        agree(result, wanted)


def test_functions_of_lax_say_what_to_pass() -> None:
    from dovetail import lax

    for f in (lax.sin, lax.sort, lambda x: lax.reshape(x, (3, 1)), lambda x: lax.add(x, 1.0)):
        with pytest.raises(ArrayProtocolError, match=r"Like is not a valid.* Pass an array"):
            f(Like(dnp.arange(3.0)))


def test_refusals_of_other_objects_are_as_before() -> None:
    for call in (
        lambda: dnp.sin(object()), lambda: dnp.linalg.norm(object()), lambda: dovetail.nn.relu({}),
        lambda: dnp.stack([Like(dnp.ones(2)), object()]),
    ):  # fmt: skip
        with pytest.raises(TypeError) as e:
            call()
        assert not isinstance(e.value, ArrayProtocolError)
