"""Rules by structure: which is asked, adding some from outside, and the dense way out."""

from __future__ import annotations

import operator
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acme_structured import (
    Dense,
    DenseError,
    Diagonal,
    LoRA,
    Matrix,
    coo,
    dense,
    diagonal,
    dot_flops,
    lora,
    make,
    part,
    register,
    structure,
    structured,
    structured_dense,
    update,
    zeros,
)

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, vmap
from dovetail_core import Primitive, RuleConflict

f32 = np.float32
W, A, B = np.eye(4, dtype=f32), np.ones((4, 1), f32), np.arange(4, dtype=f32)[None]
X = np.arange(4, dtype=f32)


@structure
class Reversal(Matrix):
    """The matrix that turns a vector round, times a number: a structure of somebody else."""

    scale: Any = part(0)
    n: int

    @property
    def core(self):
        return (self.n, self.n)

    def dense(self):
        return self.scale[..., None, None] * dnp.eye(self.n)[::-1]

    def contract(self, axis, x, dot):
        return self.scale * x[::-1]


def reversal(scale, n):
    return make(Reversal(dnp.asarray(scale), n))


def test_a_structure_from_outside_has_what_its_base_has():
    w = reversal(2.0, 4)
    np.testing.assert_array_equal(jit(lambda w, x: w @ x)(w, X), 2 * X[::-1])
    np.testing.assert_array_equal(X @ w, 2 * X[::-1])
    assert float(grad(lambda w: (w @ X)[0])(w).scale) == 3
    many = vmap(lambda s: reversal(s, 4))(dnp.arange(3.0))
    np.testing.assert_array_equal(vmap(lambda w: w @ X)(many)[2], 2 * X[::-1])
    assert dot_flops(lambda w, x: w @ x, w, X) == 0


def test_a_rule_for_a_pair_from_outside():
    """Programs that were made before it do not outlive it."""
    w, d = reversal(2.0, 4), diagonal(X)
    product = jit(lambda w, d: w @ d)
    wanted = 2 * np.diag(X)[::-1]
    before = product(w, d)
    np.testing.assert_array_equal(before, wanted)
    assert not isinstance(before, Turned)

    @register(lax.dot_general_p, Reversal, Diagonal)
    def _reversal_diagonal(x, y, *, dimension_numbers, **params):
        return Turned(x.scale * y.d)

    after = product(w, d)
    assert isinstance(after, Turned)
    np.testing.assert_array_equal(dense(after), wanted)
    with pytest.raises(RuleConflict, match="dot_general of Reversal, Diagonal already"):
        register(lax.dot_general_p, Reversal, Diagonal)(_reversal_diagonal)


@structure
class Turned(Matrix):
    """A diagonal matrix, upside down."""

    d: Any = part(1)

    @property
    def core(self):
        return self.d.shape[-1:] * 2

    def dense(self):
        return dnp.diag(self.d)[::-1]


def test_the_most_specific_rule_is_asked_first_and_may_pass_on():
    asked = []
    pair = Primitive("test_dispatch.pair")
    pair.def_abstract_eval(lambda x, y: x)

    def rule(name, *structures, answer=NotImplemented):
        @register(pair, *structures)
        def _rule(x, y):
            asked.append(name)
            return answer

    rule("anything", object, object, answer=dnp.float32(7))
    rule("base", Matrix, Dense)
    rule("own", Turned, Dense)
    rule("right", object, Dense)
    assert float(structured(pair.bind)(make(Turned(dnp.asarray(X))), W)) == 7
    assert asked == ["own", "base", "right", "anything"]


def test_seeing_what_becomes_dense():
    w = lora(W, A, B)
    place = r"at .*test_dispatch\.py:\d+ \(.*\)"
    text = (
        r"LoRA\(W:f32\[4,4\] A:f32\[4,1\] B:f32\[1,4\]\) becomes a dense array "
        + place
        + r": exp has no rule for LoRA\(.*\)\. Register a rule \(acme_structured\.register\), or "
        r"write dense\(x\) if it is meant\."
    )
    with structured_dense("warn"), pytest.warns(UserWarning, match=text):
        wanted = structured(dnp.exp)(w)
    with structured_dense("refuse"), pytest.raises(DenseError, match=text):
        jit(structured(dnp.exp))(w)
    np.testing.assert_allclose(wanted, np.exp(W + A @ B), rtol=1e-6)
    with warnings.catch_warnings(), structured_dense("refuse"):
        warnings.simplefilter("error")
        np.testing.assert_allclose(structured(lambda w: dnp.exp(dense(w)))(w), wanted)
        structured(lambda w, x: dnp.tanh(w @ x))(w, X)


def test_seeing_what_becomes_dense_in_a_branch():
    f = structured(lambda p, w: lax.cond(p, lambda w: w, lambda w: w * X, w))
    with structured_dense("refuse"), pytest.raises(DenseError, match="mul has no rule for"):
        f(True, lora(W, A, B))
    with structured_dense("refuse"), pytest.raises(DenseError, match="needs one structure"):
        structured(lambda p, w, d: lax.cond(p, lambda: w, lambda: d))(
            True, lora(W, A, B), diagonal(X)
        )


def test_an_option_that_there_is_not():
    message = "option 'structured_dense': 'never' is not a valid Choice"
    with pytest.raises(ValueError, match=message):
        structured_dense("never")


def test_the_gradient_of_a_low_rank_update():
    w = lora(W, A, B)
    slope = grad(lambda w, x: dnp.sum((w @ x) ** 2))(w, X)
    assert slope.W is None
    full = np.outer(2 * (W + A @ B) @ X, X)
    np.testing.assert_allclose(slope.A, full @ B.T)
    np.testing.assert_allclose(slope.B, A.T @ full)
    new = jit(lambda w, g: update(lambda p, g: p - 0.1 * g, w, g))(w, slope)
    assert isinstance(new, LoRA)
    np.testing.assert_array_equal(new.W, W)
    np.testing.assert_allclose(new.A, A - 0.1 * slope.A, rtol=1e-6)
    moments = update(lambda m, g: 0.9 * m + g, slope, slope)
    assert moments.W is None
    np.testing.assert_allclose(moments.B, 1.9 * slope.B, rtol=1e-6)
    traced = jit(lambda w, g: w.A @ w.B + g.A @ g.B)(w, slope)
    np.testing.assert_allclose(traced, A @ B + slope.A @ slope.B, rtol=1e-6)


def test_axes_that_are_not_to_be_mapped():
    message = (
        r"axis 0 of part d of Diagonal\(d:f32\[4\]\) cannot be mapped at .*test_dispatch\.py.*: "
        r"the structure needs it\. Map axes in front of those, or the dense array: dense\(x\)"
    )
    with pytest.raises(ValueError, match=message):
        vmap(lambda w: w @ X)(diagonal(X))
    np.testing.assert_allclose(vmap(lambda row: row @ X)(dense(diagonal(X))), X * X)


def test_a_traced_one_is_no_array_to_other_functions():
    with pytest.raises(TypeError, match=r"tanh .*LoRA"):
        jit(lambda w: dnp.tanh(w))(lora(W, A, B))


def flops(n=64, r=4, batch=8):
    w = lora(*(np.zeros(s, f32) for s in [(n, n), (n, r), (r, n)]))
    return w, np.zeros((n, batch), f32), 2 * n * n * batch, 4 * n * r * batch


def test_operations_of_a_low_rank_update():
    """The product with W and two thin ones; its gradient adds four thin ones, none with W."""
    w, x, whole, thin = flops()
    f = lambda w, x: dnp.sum(dnp.tanh(w @ x) ** 2)  # noqa: E731
    assert dot_flops(f, w, x) == whole + thin
    assert dot_flops(grad(f), w, x) == whole + thin + 3 * thin // 2
    merged = lambda p, x: f(w.W + p[0] @ p[1], x)  # noqa: E731
    assert dot_flops(grad(merged), (w.A, w.B), x) > 2 * whole


def test_the_figures_of_the_readme():
    """For a matrix of 1024 by 1024, 16 vectors and rank 8, in millions."""
    w, x, _, _ = flops(1024, 8, 16)
    loss = lambda w, x: dnp.sum(dnp.tanh(w @ x) ** 2)  # noqa: E731
    merged = lambda p, x: loss(w.W + p[0] @ p[1], x)  # noqa: E731
    sparse = coo(np.zeros(9, f32), np.zeros((9, 2), np.int32), (1024, 1024))
    rows = {"low rank, dense": (merged, (w.A, w.B)), "low rank, structured": (loss, w)}
    rows["(W alone, and its own gradient)"] = rows["diagonal, sparse or zero, dense"] = (loss, w.W)
    for one in (diagonal(np.zeros(1024, f32)), sparse, zeros((1024, 1024))):
        rows["diagonal, sparse or zero, structured"] = (structured(loss), one)
        text = (Path(__file__).parents[1] / "README.md").read_text()
        for name, (f, v) in rows.items():
            found = [f"{dot_flops(g, v, x) / 1e6:.1f}".replace("0.0", "0") for g in (f, grad(f))]
            assert f"| {name} | {found[0]} | {found[1]} |" in text


@pytest.mark.parametrize("w", [diagonal(X), zeros((4, 4))], ids=["diagonal", "zeros"])
def test_no_operation_of_others(w):
    for f in (operator.matmul, lambda w, x: x.T @ w):
        assert dot_flops(structured(f), w, np.ones((4, 3), f32)) == 0


def test_operations_in_loops_are_counted():
    f = lambda x: lax.fori_loop(0, 5, lambda i, c: W @ c, x)  # noqa: E731
    assert dot_flops(f, X) == 5 * 2 * 16 and dot_flops(dovetail.grad(lambda x: f(x)[0]), X) > 0
