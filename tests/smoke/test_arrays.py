"""Arrays, eager operations, devices, printing and random numbers, as a user meets them."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp
import dovetail.random as random

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


def test_eager_operations_and_operators() -> None:
    x = dnp.asarray(X)
    y = dnp.sin(x) * 2 + x @ x - x[1:3].sum()
    expected = np.sin(X) * 2 + X @ X - X[1:3].sum()
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    np.testing.assert_allclose(x.at[1].set(9.0), [X[0], 9, X[2], X[3]])
    assert isinstance(y, dovetail.Array) and y.dtype == np.float32 and y.shape == (4,)
    assert dnp.arange(3).dtype == np.int32 and (dnp.arange(3) + 1.5).dtype == np.float32


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float16", "bfloat16", "complex64"])
def test_element_types_make_the_round_trip(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    value = np.asarray([[0, 1], [1, 0]]).astype(kind)
    x = dovetail.device_put(value)
    assert x.dtype == kind
    for y in (np.asarray(x), dovetail.device_get(x), np.asarray(pickle.loads(pickle.dumps(x)))):
        np.testing.assert_array_equal(y, value)
    np.testing.assert_array_equal(np.asarray(dnp.concatenate([x, x])), np.concatenate([value] * 2))


def test_double_precision_is_a_choice() -> None:
    assert dnp.asarray(1.5).dtype == np.float32
    with dovetail.enable_x64(True):
        x = dnp.asarray(np.float64(1) / 3)
        assert x.dtype == np.float64 and float(x * 3) == 1.0


def test_devices_and_memory() -> None:
    (device,) = dovetail.devices("cpu")[:1]
    x = dovetail.device_put(X, device)
    assert x.devices() == {device} and device.platform == "cpu"
    y = dovetail.jit(lambda v: v + 1, donate_argnums=0)(x)
    np.testing.assert_allclose(y, X + 1)
    with pytest.raises(RuntimeError, match="after it was donated"):
        np.asarray(x)
    y.delete()
    with pytest.raises(RuntimeError, match="after it was deleted"):
        y.block_until_ready()


def test_dlpack_and_numpy_share_values() -> None:
    x = dnp.asarray(X)
    np.testing.assert_array_equal(np.from_dlpack(x), X)
    np.testing.assert_array_equal(np.asarray(dnp.from_dlpack(X)), X)
    assert not np.asarray(x).flags.writeable


def test_printing() -> None:
    assert repr(dnp.asarray([1.0, 2.0])) == "Array([1., 2.], dtype=float32)"
    assert str(dnp.arange(3)) == "[0 1 2]"
    text = str(dovetail.make_jaxpr(lambda x: lax.sin(x) * 2.0)(X))
    assert text.startswith("{ lambda ; a:f32[4]. let") and "sin a" in text and "mul" in text
    assert "Traced<f32[4]>" in repr(_traced())


def _traced() -> object:
    seen: list[object] = []
    dovetail.make_jaxpr(lambda x: seen.append(x) or x)(X)
    return seen[0]


def test_random_numbers_are_jaxs_bit_for_bit() -> None:
    """What JAX 0.10.2 gives for the key 42."""
    key = random.key(42)
    bits = [2098992034, 2919706841, 2646866425, 2409546199]
    assert random.bits(key, (4,)).tolist() == bits
    assert random.uniform(key, (3,)).tolist() == [
        0.48870956897735596, 0.6797971725463867, 0.6162714958190918,
    ]  # fmt: skip
    normal = [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591]
    np.testing.assert_allclose(random.normal(key, (3,)), normal, rtol=2e-6)
    assert random.randint(key, (5,), 0, 100).tolist() == [44, 14, 71, 69, 9]
    assert random.permutation(key, 6).tolist() == [4, 2, 5, 3, 0, 1]
    split = [[1832780943, 270669613], [64467757, 2916123636]]
    assert random.key_data(random.split(key)).tolist() == split
    assert random.key_data(random.fold_in(key, 7)).tolist() == [2547012911, 1371500959]
    assert random.bernoulli(key, 0.5, (8,)).tolist() == [
        True, False, False, False, True, False, True, False,
    ]  # fmt: skip
    assert random.categorical(key, dnp.zeros(5), shape=(4,)).tolist() == [1, 4, 2, 0]
    assert dovetail.jit(lambda k: random.bits(k, (4,)))(key).tolist() == bits
