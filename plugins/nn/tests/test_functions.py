"""Functions of ``nn`` against NumPy and SciPy, their derivatives, and what they trace to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import dovetail_nn as nn
import dovetail_numpy as dnp
from dovetail_ad import grad, hessian, vjp
from dovetail_ad.test_util import check_grads
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit, make_jaxpr

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
FORMULAS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": special.expit,
    "softplus": lambda x: np.logaddexp(x, 0),
    "log_sigmoid": special.log_expit,
    "soft_sign": lambda x: x / (1 + abs(x)),
    "silu": lambda x: x * special.expit(x),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "celu": lambda x: np.maximum(x, 0) + np.expm1(np.minimum(x, 0)),
    "squareplus": lambda x: (x + np.sqrt(x**2 + 4)) / 2,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "sparse_sigmoid": lambda x: np.clip(x + 1, 0, 2) / 2,
    "softmax": lambda x: special.softmax(x, axis=-1),
    "log_softmax": lambda x: special.log_softmax(x, axis=-1),
    "logsumexp": special.logsumexp,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name: str) -> None:
    """Values are those of the formula in double precision."""
    wanted = FORMULAS[name](X.astype(np.float64) * 3)
    np.testing.assert_allclose(getattr(nn, name)(X * 3), wanted, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    "name", [*FORMULAS, "gelu", "selu", "hard_silu", "sparse_plus", "standardize"]
)
def test_jit_and_vmap(name: str) -> None:
    """Compiled and mapped functions agree with eager ones."""
    f = getattr(nn, name)
    np.testing.assert_allclose(jit(f)(X), f(X), rtol=2e-6, atol=1e-6)
    rows = np.stack([np.asarray(f(row)) for row in X])
    np.testing.assert_allclose(vmap(f)(X), rows, rtol=2e-6, atol=1e-6)
    columns = np.stack([np.asarray(f(column)) for column in X.T], -1)
    np.testing.assert_allclose(vmap(f, 1, -1)(X), columns, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    ["softplus", "log_sigmoid", "silu", "mish", "gelu", "squareplus", "softmax", "log_softmax",
     "logsumexp", "logmeanexp", "standardize", "glu", "tanh"],
)  # fmt: skip
def test_derivatives(name: str) -> None:
    """Derivatives of first and second order are those of finite differences."""
    with enable_x64(True):  # differences of 32-bit numbers have no digits left at second order
        check_grads(getattr(nn, name), (X.astype(np.float64) + 0.1,), 2)


def test_gelu() -> None:
    """The exact form is x times the normal distribution function; the other is near it."""
    wanted = X * stats.norm.cdf(X)
    np.testing.assert_allclose(nn.gelu(X, approximate=False), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(nn.gelu(X), wanted, atol=1e-3)


def test_aliases() -> None:
    """Names that mean the same are the same."""
    assert nn.swish is nn.silu and nn.hard_swish is nn.hard_silu


def test_extremes_do_not_overflow() -> None:
    """Large arguments give finite values and derivatives."""
    big = dnp.asarray([-1e4, -100.0, 0.0, 100.0, 1e4])
    for f in (nn.softplus, nn.log_sigmoid, nn.sigmoid, nn.silu, nn.gelu, nn.elu, nn.selu, nn.celu):
        assert np.isfinite(np.asarray(f(big))).all(), f
        assert np.isfinite(np.asarray(vmap(grad(f))(big))).all(), f
    for f in (nn.softmax, nn.log_softmax):
        assert np.isfinite(np.asarray(f(big))).all()
        assert np.isfinite(np.asarray(grad(lambda x, f=f: f(x)[2])(big))).all()


def test_relu_at_zero() -> None:
    """The derivative at 0 is 0, also of second order, forward and backward."""
    assert float(grad(nn.relu)(0.0)) == 0.0 and float(grad(nn.relu6)(0.0)) == 0.0
    assert float(grad(grad(nn.relu))(1.0)) == 0.0
    assert np.asarray(nn.relu(dnp.asarray([-1, 2]))).tolist() == [0, 2]


def test_softmax_derivative() -> None:
    """The Jacobian is diag(y) - y y^T."""
    y = special.softmax(X[0].astype(np.float64))
    _, back = vjp(nn.softmax, X[0])
    rows = np.stack([np.asarray(back(e)[0]) for e in np.eye(4, dtype=np.float32)])
    np.testing.assert_allclose(rows, np.diag(y) - np.outer(y, y), atol=1e-6)
    h = hessian(nn.logsumexp)(X[0])
    np.testing.assert_allclose(h, np.diag(y) - np.outer(y, y), atol=1e-6)


@pytest.mark.parametrize(
    ("f", "forward", "backward"),
    [(nn.relu, 1, 4), (nn.softplus, 1, 4), (nn.softmax, 1, 10), (nn.log_softmax, 1, 9),
     (nn.logsumexp, 1, 7), (nn.gelu, 8, 21), (nn.silu, 2, 9)],
)  # fmt: skip
def test_programs_are_short(f: Any, forward: int, backward: int) -> None:
    """Programs have few operations, forward and with its derivative.

    Five of those of gelu keep its square, and so its derivative, from overflow.
    """
    assert len(make_jaxpr(f)(X).jaxpr.eqns) <= forward
    back = make_jaxpr(lambda x, t: vjp(f, x)[1](t))(X, f(X))
    assert len(back.jaxpr.eqns) <= backward, back


def test_masked_softmax() -> None:
    """Masked elements take no part, also in derivatives, and a row without others is zero."""
    mask = np.array([[1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 0]], bool)
    result = np.asarray(nn.softmax(X, where=mask))
    for row, keep, got in zip(X, mask, result):
        if keep.any():
            np.testing.assert_allclose(got[keep], special.softmax(row[keep]), rtol=1e-6)
        assert not got[~keep].any()
    weights = X[::-1].copy()
    slope = np.asarray(grad(lambda x: dnp.sum(nn.softmax(x, where=mask) * weights))(X))
    assert np.isfinite(slope).all() and not slope[~mask].any()
    lse = np.asarray(nn.logsumexp(X, axis=1, where=mask))
    np.testing.assert_allclose(
        lse[:2], [special.logsumexp(X[i][mask[i]]) for i in (0, 1)], rtol=1e-6
    )
    assert lse[2] == -np.inf


def test_logsumexp_with_factors() -> None:
    """Factors, signs and kept axes are those of SciPy."""
    b = np.array([1.0, -2.0, 0.5, 0.0], np.float32)
    for keepdims in (False, True):
        result = nn.logsumexp(X, axis=1, b=b, return_sign=True, keepdims=keepdims)
        wanted: Any = special.logsumexp(X, axis=1, b=b, return_sign=True, keepdims=keepdims)
        for x, y in zip(result, wanted):
            assert x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=2e-6, atol=1e-6)
    check_grads(
        lambda a, c: nn.logsumexp(a, axis=1, b=c), (X, abs(b) + 0.5), 1, atol=1e-2, rtol=1e-2
    )


def test_standardize() -> None:
    """Means are 0 and variances 1."""
    for algorithm in ("fast", "stable"):
        y = np.asarray(nn.standardize(X, axis=0, epsilon=0, algorithm=algorithm))
        np.testing.assert_allclose(y.mean(0), 0, atol=1e-5)
        np.testing.assert_allclose(y.var(0), 1, atol=1e-5)
    far = X + np.float32(1e4)
    stable = np.asarray(nn.standardize(far, algorithm="stable"))
    np.testing.assert_allclose(stable.var(-1), 1, atol=1e-2)


def test_one_hot() -> None:
    """Indices out of range have no one; the new axis may be anywhere."""
    x = dnp.asarray([[0, 2], [-1, 3]])
    result = np.asarray(nn.one_hot(x, 3))
    assert result.tolist() == [[[1, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0]]]
    for axis in (0, 1, 2, -1, -2):
        moved = np.asarray(nn.one_hot(x, 3, axis=axis))
        assert np.array_equal(np.moveaxis(moved, axis, -1), result)
    assert nn.one_hot([0, 1], 2, dtype=bool).dtype == bool


def lse_of(logits: Any) -> Any:
    return special.logsumexp(logits, -1)


def test_attention() -> None:
    """Each head is softmax(q k^T / sqrt(h)) v, heads of keys serving groups of queries."""
    r = np.random.default_rng(1)
    q, k, v = (
        r.normal(size=s).astype(np.float32) for s in ((2, 3, 4, 5), (2, 6, 2, 5), (2, 6, 2, 5))
    )
    result, lse = nn.dot_product_attention(q, k, v, return_residual=True)
    for n in range(4):
        logits = q[:, :, n] @ k[:, :, n // 2].swapaxes(1, 2) / np.sqrt(5)
        wanted = special.softmax(logits, -1) @ v[:, :, n // 2]
        np.testing.assert_allclose(result[:, :, n], wanted, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(lse[:, :, n], lse_of(logits), rtol=1e-5, atol=1e-5)
    one = nn.dot_product_attention(q[0], k[0], v[0])
    np.testing.assert_allclose(one, result[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_attention_is_of_the_dtype_of_its_operands(dtype: str) -> None:
    """The residual is computed in 32 bits, and returned in the dtype of the operands."""
    q = dnp.asarray(np.random.default_rng(1).normal(size=(1, 3, 2, 5)), dtype)
    result, lse = nn.dot_product_attention(q, q, q, return_residual=True)
    assert result.dtype == lse.dtype == q.dtype
    wide = q.astype("float32")
    wanted = nn.dot_product_attention(wide, wide, wide, return_residual=True)[1]
    np.testing.assert_array_equal(lse, wanted.astype(dtype))


def test_causal_attention_sees_no_later_key() -> None:
    """Results do not depend on later keys, whichever mask says so."""
    r = np.random.default_rng(2)
    q, k, v = (r.normal(size=(1, 5, 2, 3)).astype(np.float32) for _ in range(3))
    later = k.copy()
    later[:, 3:] += 1
    tril = np.tril(np.ones((5, 5), bool))
    masks: list[dict[str, Any]] = [
        {"is_causal": True},
        {"mask": tril},
        {"local_window_size": (4, 0)},
    ]
    for options in masks:
        a, b = (nn.dot_product_attention(q, x, v, **options) for x in (k, later))
        np.testing.assert_allclose(a[:, :3], b[:, :3], rtol=1e-6)
        assert not np.allclose(a[:, 4], b[:, 4])
    full = nn.dot_product_attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(nn.dot_product_attention(q, k, v, mask=tril), full, rtol=1e-6)


def test_scaled_matmul() -> None:
    """Blocks of rows are multiplied by their scales first."""
    r = np.random.default_rng(3)
    a, b = r.normal(size=(2, 3, 8)).astype(np.float32), r.normal(size=(2, 5, 8)).astype(np.float32)
    sa, sb = (
        r.uniform(1, 2, (2, 3, 2)).astype(np.float32),
        r.uniform(1, 2, (2, 5, 2)).astype(np.float32),
    )
    wanted = (a * sa.repeat(4, -1)) @ (b * sb.repeat(4, -1)).swapaxes(1, 2)
    np.testing.assert_allclose(nn.scaled_matmul(a, b, sa, sb), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "n, k, h", [(0, 0, 4), (0, 2, 4), (2, 2, 0), (0, 0, 0)], ids=["no heads", "no queries", "", ""]
)
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_without_heads_or_in_no_dimensions(
    n: int, k: int, h: int, is_causal: bool
) -> None:
    q, keys = np.ones((2, 3, n, h), np.float32), np.ones((2, 5, k, h), np.float32)

    def f(q: Any, keys: Any, **more: Any) -> Any:
        return nn.dot_product_attention(q, keys, keys, is_causal=is_causal, **more)

    assert f(q, keys).shape == jit(f)(q, keys).shape == (2, 3, n, h)
    result, residual = f(q, keys, return_residual=True)
    assert result.shape == (2, 3, n, h)
    seen = np.minimum(np.arange(3) + 1, 5) if is_causal else np.full(3, 5)
    want = np.broadcast_to(np.log(seen)[:, None], (2, 3, n))  # all logits are sums of nothing
    np.testing.assert_allclose(residual, want, rtol=1e-6)
    gradients = grad(lambda *xs: f(*xs).sum(), (0, 1))(q, keys)
    assert [g.shape for g in gradients] == [q.shape, keys.shape]


def _attend(**options: Any) -> Any:
    return nn.dot_product_attention(X[None], X[None], X[None], **options)


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: nn.relu(None),
        TypeError,
        "relu takes an array or a number, got None of type NoneType.*Convert it with",
    ),
    (
        lambda: nn.gelu([1.0]),
        TypeError,
        r"gelu takes an array or a number, got \[1.0\] of type list",
    ),
    (
        lambda: nn.softmax(1.0),
        ValueError,
        "softmax: axis -1 is out of bounds for an array of 0 dimensions",
    ),
    (
        lambda: nn.softmax(X, axis=2),
        ValueError,
        "softmax: axis 2 is out of bounds for an array of 2 dimensions",
    ),
    (
        lambda: nn.log_softmax(X, axis=(0, -2)),
        ValueError,
        r"log_softmax: duplicate axis in \(0, -2\)",
    ),
    (
        lambda: nn.softmax(X > 0),
        TypeError,
        "softmax does not take booleans.*Convert them to numbers first",
    ),
    (lambda: nn.logsumexp(X, axis=3), ValueError, "logsumexp: axis 3 is out of bounds"),
    (
        lambda: nn.sigmoid(dnp.asarray([1])),
        TypeError,
        "lax.logistic does not accept an operand of dtype int32",
    ),
    (
        lambda: nn.glu(X[:, :3]),
        ValueError,
        "glu: axis -1 has odd length 3, so that it has no two halves",
    ),
    (lambda: nn.glu(X, axis=2), ValueError, "glu: axis 2 is out of bounds"),
    (
        lambda: nn.standardize(X, algorithm="x"),
        ValueError,
        "standardize: algorithm must be 'fast' or 'stable', got 'x'",
    ),
    (lambda: nn.one_hot(X, -1), ValueError, "one_hot: num_classes must not be negative, got -1"),
    (
        lambda: nn.one_hot(np.arange(12).reshape(3, 4), 3, axis=3),
        ValueError,
        "one_hot: axis 3 is out of bounds for a result of 3 dimensions",
    ),
    (lambda: nn.one_hot(X > 0, 3), TypeError, "one_hot takes indices, got booleans"),
    (lambda: jit(lambda n: nn.one_hot(X, n))(3), TypeError, "not known while tracing"),
    (
        lambda: nn.dot_product_attention(X, X, X),
        ValueError,
        r"takes a query of shape \(B, T, N, H\) .* got",
    ),
    (
        lambda: nn.dot_product_attention(
            np.ones((1, 3, 2, 4)), np.ones((1, 3, 0, 4)), np.ones((1, 3, 0, 4))
        ),
        ValueError,
        r"where N must be a multiple of K; got .*\(1, 3, 2, 4\), \(1, 3, 0, 4\)",
    ),
    (
        lambda: nn.dot_product_attention(X[None], X[None], X[None], implementation="cudnn"),
        ValueError,
        "implementation must be None or 'xla', got 'cudnn'",
    ),
    (
        lambda: nn.dot_product_attention(X[None], X[None], X[None], mask=np.ones((1,) * 5)),
        ValueError,
        r"mask must broadcast to \(B, N, T, S\), got shape",
    ),
    (
        lambda: nn.dot_product_attention(X[None], X[None].astype("bfloat16"), X[None]),
        ValueError,
        "query, key and value of one dtype, got float32, bfloat16 and float32.*Convert",
    ),
    (
        lambda: _attend(mask=np.ones((3, 3))),
        ValueError,
        "mask must be of booleans, got dtype f",
    ),
    (
        lambda: _attend(key_value_seq_lengths=np.array([1.0])),
        ValueError,
        r"key_value_seq_lengths must be integers of shape \(1,\).* and dtype float",
    ),
    (
        lambda: _attend(query_seq_lengths=np.array([1, 2])),
        ValueError,
        r"query_seq_lengths must be integers .* got shape \(2,\)",
    ),
    (
        lambda: _attend(local_window_size=(1, 2, 3)),
        ValueError,
        r"local_window_size is a number of positions or two, .* got \(1, 2, 3\)",
    ),
    (lambda: nn.scaled_matmul(X, X, X, X), ValueError, r"scaled_matmul takes lhs \(B, M, K\)"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_message(call: Any, error: type[Exception], text: str) -> None:
    """Each bad argument has its message."""
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "name", ["softplus", "soft_sign", "log_sigmoid", "mish", "squareplus", "log1mexp"]
)
def test_weakly_typed_integers_stay_so_beside_numbers(name: str) -> None:
    f: Any = getattr(nn, name)
    assert [f(x).weak_type for x in (1, 1.0, True, dnp.arange(1, 3))] == [True, True, True, False]


def test_one_hot_has_one_class_for_each_element_of_a_mapped_axis() -> None:
    def f(_: Any) -> Any:
        return nn.one_hot(dnp.array([0, 2, 5]), 3, axis="i")

    result = vmap(f, axis_name="i")(dnp.arange(3))
    assert np.array_equal(result, [[1, 0, 0], [0, 0, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match="num_classes is 4, but the axis 'i' has 3 elements"):
        vmap(lambda x: nn.one_hot(x, 4, axis="i"), axis_name="i")(dnp.arange(3))
    with pytest.raises(NameError, match="axis name 'i' is not bound"):
        f(0)


NAMED = {
    "softmax": lambda x, axis, where: nn.softmax(x, axis, where),
    "log_softmax": lambda x, axis, where: nn.log_softmax(x, axis, where),
    "logsumexp": lambda x, axis, where: nn.logsumexp(x, axis, where=where, keepdims=True),
    "standardize": lambda x, axis, where: nn.standardize(x, axis, where=where),
}


@pytest.mark.parametrize("f", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("masked", [False, True])
def test_axes_of_a_map_by_name(f: Any, masked: bool) -> None:
    x = np.array([[1.0, -2.0, 0.5], [4.0, 3.0, -1.0]], np.float32)
    mask = x > -1.5 if masked else None
    for axis, whole in (("i", 0), (("i", 0), (0, 1))):
        out = vmap(lambda v, m, axis=axis: f(v, axis, m), axis_name="i")(x, mask)
        expected = np.broadcast_to(f(x, whole, mask), out.shape)
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


def test_gradients_of_a_softmax_over_a_map() -> None:
    x = np.array([[1.0, -2.0, 0.5], [4.0, 3.0, -1.0]], np.float32)
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)

    def by_name(v: Any) -> Any:
        return dnp.sum(weights * vmap(lambda row: nn.softmax(row, "i"), axis_name="i")(v))

    expected = grad(lambda v: dnp.sum(weights * nn.softmax(v, 0)))(x)
    np.testing.assert_allclose(grad(by_name)(x), expected, rtol=1e-4, atol=1e-6)
