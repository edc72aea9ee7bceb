"""Derivatives, batching and compilation of functions of arrays in BCOO format."""

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail.experimental import sparse
from dovetail.experimental.sparse import BCOO

LAYOUTS = [(0, 0), (1, 0), (0, 1), (1, 1)]


def dense(shape, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * (rng.random(shape) < density)).astype(np.float32)


FUNCTIONS = {
    "todense": lambda m, v: dnp.sin(m.todense()),
    "matvec": lambda m, v: dnp.tanh(m.update_layout(n_dense=0) @ v),
    "rmatvec": lambda m, v: dnp.tanh(v[:3] @ m),
    "times": lambda m, v: (m * v).todense() ** 2,
    "added": lambda m, v: (m + m * 2).todense() ** 2,
    "squared": lambda m, v: (m * m).todense(),
    "power": lambda m, v: (m**3).todense(),
    "sum": lambda m, v: m.sum(1).todense() ** 2,
    "sliced": lambda m, v: m[1:, ::2].todense() ** 2,
    "picked": lambda m, v: m[np.array([0, 2])].todense() ** 2,
    "relayout": lambda m, v: m.update_layout(n_batch=0, n_dense=0).todense() ** 2,
    "sorted": lambda m, v: m.sort_indices().todense() ** 2,
    "summed": lambda m, v: m.sum_duplicates(nse=m.nse).todense() ** 2,
    "gram": lambda m, v: (lambda a: (a @ a.T).todense())(m.update_layout(n_batch=0, n_dense=0)),
    "extracted": lambda m, v: sparse.bcoo_extract(m, m.todense() ** 2).todense(),
}
DENSE_FUNCTIONS = {
    "todense": lambda x, v: dnp.sin(x),
    "matvec": lambda x, v: dnp.tanh(x @ v),
    "rmatvec": lambda x, v: dnp.tanh(v[:3] @ x),
    "times": lambda x, v: (x * v) ** 2,
    "added": lambda x, v: (3 * x) ** 2,
    "squared": lambda x, v: x * x,
    "power": lambda x, v: x**3,
    "sum": lambda x, v: x.sum(1) ** 2,
    "sliced": lambda x, v: x[1:, ::2] ** 2,
    "picked": lambda x, v: x[np.array([0, 2])] ** 2,
    "relayout": lambda x, v: x**2,
    "sorted": lambda x, v: x**2,
    "summed": lambda x, v: x**2,
    "gram": lambda x, v: x @ x.T,
    "extracted": lambda x, v: x**2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n_batch,n_dense", LAYOUTS)
def test_derivatives(name, n_batch, n_dense):
    x, v = dense((3, 4)), dense(4, 1, 1)
    mat = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense)
    f, g = FUNCTIONS[name], DENSE_FUNCTIONS[name]

    def of_data(data, v):
        return f(BCOO((data, mat.indices), shape=mat.shape, unique_indices=True), v)

    np.testing.assert_allclose(of_data(mat.data, v), g(x, v), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dovetail.jit(of_data)(mat.data, v), g(x, v), rtol=1e-4, atol=1e-5)
    wanted = dovetail.grad(lambda x, v: (g(x, v) ** 2).sum(), (0, 1))(x, v)
    result = dovetail.grad(lambda d, v: (of_data(d, v) ** 2).sum(), (0, 1))(mat.data, v)
    extracted = sparse.bcoo_extract(mat, wanted[0]).data
    np.testing.assert_allclose(result[0], extracted, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(result[1], wanted[1], rtol=1e-3, atol=1e-4)
    tangent = BCOO.fromdense(x * 2, n_batch=n_batch, n_dense=n_dense, nse=mat.nse).data
    wanted = dovetail.jvp(g, (x, v), (x * 2, v))[1]
    result = dovetail.jvp(of_data, (mat.data, v), (tangent, v))[1]
    np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4)


def test_grad_of_the_array():
    x = dense((3, 4))
    mat = BCOO.fromdense(x)
    result = dovetail.grad(lambda m: (m.todense() ** 2).sum(), allow_int=True)(mat)
    assert isinstance(result, BCOO) and result.indices.dtype == dovetail.dtypes.float0
    np.testing.assert_allclose(result.data, 2 * mat.data)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap(name):
    x, v = dense((2, 3, 4)), dense(4, 1, 1)
    mat = BCOO.fromdense(x, n_batch=1)
    mapped = dovetail.vmap(FUNCTIONS[name], in_axes=(0, None))
    wanted = np.stack([DENSE_FUNCTIONS[name](y, v) for y in x])
    np.testing.assert_allclose(mapped(mat, v), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dovetail.jit(mapped)(mat, v), wanted, rtol=1e-4, atol=1e-5)
    deeper = BCOO.fromdense(np.stack([x, 2 * x]), n_batch=2)
    wanted = np.stack([[DENSE_FUNCTIONS[name](y, v) for y in z] for z in (x, 2 * x)], axis=1)
    result = dovetail.vmap(mapped, in_axes=(1, None))(deeper, v)
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


def test_vmap_results():
    x = dense((2, 3, 4))
    mat = BCOO.fromdense(x, n_batch=1)
    result = dovetail.vmap(lambda m: m.T)(mat)
    assert isinstance(result, BCOO) and result.shape == (2, 4, 3) and result.n_batch == 1
    np.testing.assert_array_equal(result.todense(), x.transpose(0, 2, 1))
    made = dovetail.vmap(lambda y: BCOO.fromdense(y, nse=12))(x)
    np.testing.assert_array_equal(made.todense(), x)
    same = dovetail.vmap(lambda y, m: (y, m), in_axes=(0, None), out_axes=(0, None))(x, mat)[1]
    np.testing.assert_array_equal(same.todense(), x)
    plain = BCOO.fromdense(x[0])
    result = dovetail.vmap(lambda m, y: m @ y, in_axes=(None, 0))(plain, dense((5, 4)))
    np.testing.assert_allclose(result, dense((5, 4)) @ x[0].T, rtol=1e-5, atol=1e-6)
    shared = BCOO((mat.data[:1], mat.indices), shape=mat.shape)
    np.testing.assert_allclose(
        dovetail.vmap(lambda m: m.todense())(shared), shared.todense(), rtol=1e-6
    )
    with pytest.raises(ValueError, match="Cannot map in_axis=0 for BCOO array with n_batch=0"):
        dovetail.vmap(lambda m: m.todense())(plain)
    with pytest.raises(ValueError, match="cannot add out_axis=1"):
        dovetail.vmap(lambda m: m.T, out_axes=1)(mat)
    with pytest.raises(TypeError, match="expected int or None"):
        dovetail.vmap(lambda m: m.T, in_axes=((0, 0),))(mat)


def test_loops():
    x, v = dense((3, 3)), dense(3, 1, 1)
    mat = BCOO.fromdense(x)
    result = dovetail.lax.fori_loop(0, 3, lambda i, u: mat @ u, v)
    np.testing.assert_allclose(result, x @ (x @ (x @ v)), rtol=1e-4, atol=1e-5)
    carried, _ = dovetail.lax.scan(lambda m, u: (m * u, None), mat, v)
    np.testing.assert_allclose(carried.todense(), x * v.prod(), rtol=1e-5)
