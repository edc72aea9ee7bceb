"""Products of narrow types: integers bit for bit, bfloat16 rounded once."""

import ml_dtypes
import numpy as np
import pytest

import dovetail
from dovetail import lax, numpy as dnp
from dovetail_cpu_kernels import cpu_kernels

BF16 = np.dtype(ml_dtypes.bfloat16)
NUMBERS = [
    (((1,), (0,)), ((), ())),
    (((0,), (0,)), ((), ())),
    (((0,), (1,)), ((), ())),
    (((1,), (1,)), ((), ())),
    (((1,), (2,)), ((0,), (0,))),
    (((2,), (1,)), ((0,), (0,))),
]
BATCHED = [n for n in NUMBERS if n[1][0]]


def _both(function, *args):
    result = []
    for used in (True, False):
        with cpu_kernels(used):
            lowered = dovetail.jit(lambda *xs: function(*xs)).lower(*args)
            result.append((lowered.as_text(), np.asarray(lowered.compile()(*args))))
    (mine, x), (plain, y) = result
    return mine != plain, x, y


def _square(rng, numbers, dtype, n=72):
    shape = (5, n, n) if numbers[1][0] else (n, n)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16], ids=lambda t: t.__name__
)
def test_integers_wrap_around(rng, numbers, dtype):
    x, y = _square(rng, numbers, dtype), _square(rng, numbers, dtype)
    changed, mine, plain = _both(lambda x, y: lax.dot_general(x, y, numbers), x, y)
    assert changed and mine.dtype == dtype and np.array_equal(mine, plain)


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_bfloat16_is_rounded_once(rng, numbers):
    x, y = _square(rng, numbers, BF16), _square(rng, numbers, BF16)
    changed, mine, _ = _both(lambda x, y: lax.dot_general(x, y, numbers), x, y)
    with cpu_kernels(False):
        wide = [v.astype(np.float64) for v in (x, y)]
        exact = np.einsum(_letters(numbers), *wide)
        size = np.einsum(_letters(numbers), *map(abs, wide))
    assert changed and mine.dtype == BF16
    error = abs(mine.astype(np.float64) - exact)
    assert np.all(error <= 2**-8 * abs(exact) + 72 * 2**-24 * size)


def _letters(numbers):
    ((left,), (right,)), (batch, _) = numbers
    first = "n" * len(batch)
    x, y = [*first, "a", "a"], [*first, "b", "b"]
    x[left] = y[right] = "k"
    kept = [c for c in x + y if c in "ab"]
    return f"{''.join(x)},{''.join(y)}->{first}{''.join(kept)}"


def test_several_axes_are_summed(rng):
    x = rng.standard_normal((8, 4, 16, 3, 20)).astype(BF16)
    numbers = (((1, 2), (1, 2)), ((0,), (0,)))
    changed, mine, plain = _both(lambda x: lax.dot_general(x, x, numbers), x)
    assert changed and mine.shape == (8, 3, 20, 3, 20)
    assert np.allclose(mine.astype(np.float32), plain.astype(np.float32), rtol=2**-7, atol=1e-5)


def test_what_is_left_as_it_is(rng):
    x = _square(rng, NUMBERS[0], BF16)
    for function, *args in (
        (lambda x: x @ x, x[:40, :40]),
        (lambda x, y: x @ y, x, x[0]),
        (lambda x: lax.dot(x, x, preferred_element_type=np.float32), x),
        (lambda x: lax.dot(x, x, precision="BF16_BF16_F32"), x),
        (lambda x: x @ x, x.astype(np.float32)),
        (lambda x: x @ x, x[:0]),
    ):
        if args[0].size:
            assert not _both(function, *args)[0]


def test_derivatives_and_batches(rng):
    x = rng.standard_normal((3, 96, 96)).astype(BF16)

    def loss(x):
        return (dnp.tanh(x @ x)).astype(np.float32).sum()

    changed, mine, plain = _both(dovetail.vmap(dovetail.grad(loss)), x)
    assert changed and mine.dtype == BF16
    assert np.allclose(mine.astype(np.float32), plain.astype(np.float32), rtol=0.05, atol=0.2)
