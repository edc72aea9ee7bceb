"""Device arrays: made, moved, read, exchanged; and what C++ would let go wrong."""

from __future__ import annotations

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

from dovetail_xla import arrays, client, shardings

DTYPES = [
    np.bool_, np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64,
    np.complex64, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn,
]  # fmt: skip


def aligned(count: int) -> np.ndarray:
    """A float32 vector at an address that C++ would alias."""
    raw = np.zeros(count * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * 4].view(np.float32)


@pytest.fixture
def split(cpu, aval):
    """A float32 vector in halves on two devices, and its sharding."""
    devices = cpu.devices()
    sharding = shardings.GSPMDSharding(
        client.device_list(devices), shardings.HloSharding.iota_tile((2,))
    )
    whole = np.arange(6, dtype=np.float32)
    return arrays.put_global(whole, aval((6,)), sharding), sharding


def test_each_half_of_a_value_may_be_on_two_devices(aval):
    devices = client.make_cpu_client(4).devices()
    halves = shardings.HloSharding.from_string("{devices=[2,2]<=[4] last_tile_dim_replicate}")
    sharding = shardings.GSPMDSharding(client.device_list(devices), halves)
    array = arrays.put_global(np.arange(6, dtype=np.float32), aval((6,)), sharding)
    result = [arrays.to_numpy(shard).tolist() for shard in arrays.shards_of(array)]
    assert result == [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)], ids=str)
def test_every_dtype_survives_the_round_trip(put, dtype, shape):
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    back = arrays.to_numpy(put(value))
    assert (back.dtype, back.shape) == (value.dtype, value.shape)
    assert back.tobytes() == value.tobytes()
    assert not back.flags.writeable


def test_reading_shares_memory_where_it_can(put):
    array = put(np.arange(3.0))
    assert arrays.to_numpy(array).ctypes.data == array.unsafe_buffer_pointer()


@pytest.mark.parametrize(
    "value", [np.arange(6.0).reshape(2, 3).T, np.arange(6.0)[::2], np.asfortranarray(np.eye(3))]
)
def test_any_strides_may_be_put(put, value):
    np.testing.assert_array_equal(arrays.to_numpy(put(value)), value)


def test_putting_never_aliases_the_users_memory(device, cpu, aval):
    value = aligned(1000)
    array = arrays.put(value, aval((1000,)), device)
    sharded = arrays.put_sharded([value] * 2, aval((1000,)), replicated(cpu), cpu.devices())
    value[:] = 7
    assert arrays.to_numpy(array).max() == 0
    assert arrays.to_numpy(sharded).max() == 0


def replicated(cpu):
    return shardings.GSPMDSharding(
        client.device_list(cpu.devices()), shardings.HloSharding.replicate()
    )


@pytest.mark.parametrize("value", [True, 3, 2.5, 1 + 2j])
@pytest.mark.parametrize("dtype", ["f4", "i4", "c8", "bool"])
def test_python_scalars_become_the_avals_dtype(device, aval, value, dtype):
    if isinstance(value, complex) and dtype != "c8":
        value = value.real
    array = arrays.put(value, aval((), dtype, True), device)
    assert array.aval.weak_type
    assert arrays.to_numpy(array) == np.asarray(value, dtype)


def test_numpy_scalars_may_be_put(device, aval):
    assert arrays.to_numpy(arrays.put(np.float32(2), aval(()), device)) == 2


@pytest.mark.parametrize(
    ("shape", "dtype", "said"),
    [((5,), "f4", "float32[5]"), ((3,), "i4", "int32[3]"), ((3,), "f8", "float64[3]")],
)
def test_a_value_of_another_type_than_the_aval_is_refused(device, aval, shape, dtype, said):
    with pytest.raises(TypeError) as raised:
        arrays.put(np.zeros(shape, dtype), aval((3,)), device)
    assert str(raised.value) == (
        f"a value of type {said} cannot be put as float32[3]: convert or reshape it first"
    )


def test_64_bit_values_keep_their_width_whatever_the_config(put):
    assert arrays.to_numpy(put(np.int64(2**40))) == 2**40


def test_committed_and_memory_kind_are_kept(device, aval):
    array = arrays.put(np.zeros(3, "f4"), aval((3,)), device, True, "unpinned_host")
    assert array._committed
    assert array._sharding.memory_kind == "unpinned_host"


def test_a_sharded_array_is_read_whole(split):
    array, _ = split
    np.testing.assert_array_equal(arrays.to_numpy(array), np.arange(6))
    assert not arrays.to_numpy(array).flags.writeable


def test_a_sharded_bfloat16_array_is_read_whole(cpu, aval, split):
    value = np.arange(6).astype(ml_dtypes.bfloat16)
    array = arrays.put_global(value, aval((6,), value.dtype), split[1])
    assert arrays.to_numpy(array).tobytes() == value.tobytes()


def test_parts_are_taken_apart_and_assembled_without_a_copy(split, aval):
    array, sharding = split
    parts = arrays.shards_of(array)
    again = arrays.assemble(aval((6,)), sharding, parts)
    assert [p.unsafe_buffer_pointer() for p in arrays.shards_of(again)] == [
        p.unsafe_buffer_pointer() for p in parts
    ]
    np.testing.assert_array_equal(arrays.to_numpy(again), np.arange(6))


def test_shards_must_match_devices_and_dtype(cpu, aval, split):
    with pytest.raises(ValueError, match="1 shards for 2 devices: give one for each"):
        arrays.put_sharded([np.zeros(3, "f4")], aval((6,)), split[1], cpu.devices())
    with pytest.raises(TypeError, match="a shard of dtype int32 in an array of dtype float32"):
        arrays.put_sharded([np.zeros(3, "i4")] * 2, aval((6,)), split[1], cpu.devices())


@pytest.mark.parametrize("semantics", list(arrays.ArrayCopySemantics), ids=lambda s: s.name)
def test_moving_many_arrays_at_once(put, cpu, semantics):
    device = cpu.devices()[1]
    sharding = shardings.single_device_sharding(device)
    sources = [put(np.arange(3.0)), put(np.ones((2, 2)))]
    moved = arrays.copy_arrays(
        sources, [client.device_list([device])] * 2, [sharding] * 2, semantics
    )
    assert [m._sharding for m in moved] == [sharding] * 2
    np.testing.assert_array_equal(arrays.to_numpy(moved[0]), np.arange(3))
    np.testing.assert_array_equal(arrays.to_numpy(moved[1]), np.ones((2, 2)))


def test_reading_a_deleted_array_says_so(put):
    array = put(np.arange(3.0))
    array.delete()
    with pytest.raises(RuntimeError, match="was deleted or donated, so its value cannot be read"):
        arrays.to_numpy(array)


def test_what_was_read_outlives_the_array(put):
    array = put(np.arange(3.0))
    view = arrays.to_numpy(array)
    array.delete()
    np.testing.assert_array_equal(view, np.arange(3))


def test_dlpack_shares_memory_with_numpy(put):
    array = put(np.arange(3.0))

    class Exporter:
        def __dlpack__(self, **kwargs):
            return arrays.to_dlpack(array)

        def __dlpack_device__(self):
            return (1, 0)

    view = np.from_dlpack(Exporter())
    assert view.ctypes.data == array.unsafe_buffer_pointer()
    np.testing.assert_array_equal(view, np.arange(3))


def test_dlpack_imports_without_a_copy_unless_told(device):
    source = aligned(100)
    shared = arrays.from_dlpack(source.__dlpack__(), device)
    copied = arrays.from_dlpack(source.__dlpack__(), device, copy=True)
    source[0] = 7
    assert shared.unsafe_buffer_pointer() == source.ctypes.data
    assert arrays.to_numpy(shared)[0] == 7
    assert arrays.to_numpy(copied)[0] == 0
    assert copied.aval == shared.aval


def test_dlpack_refuses_a_copy_when_told(device):
    misaligned = aligned(101)[1:]
    with pytest.raises(arrays.XlaRuntimeError):
        arrays.from_dlpack(misaligned.__dlpack__(), device, copy=False)
    assert arrays.to_numpy(arrays.from_dlpack(misaligned.__dlpack__(), device))[0] == 0


def test_a_failed_computation_surfaces_when_waited_for(compiled, put):
    def fails(x):
        raise ValueError("from the callback")

    program = compiled(
        "(%a: tensor<2xf32>) -> tensor<2xf32>",
        "%0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {api_version = 4 : i32, "
        "backend_config = {index = 0 : ui64}} : (tensor<2xf32>) -> tensor<2xf32> "
        "return %0 : tensor<2xf32>",
        [fails],
    )
    x = put(np.zeros(2, "f4"))
    with pytest.raises(arrays.XlaRuntimeError, match="from the callback"):
        result = program.execute_sharded([x]).disassemble_into_single_device_arrays()[0][0]
        arrays.block_until_ready([x, result])


def test_waiting_for_many_arrays(put):
    made = [put(np.arange(3.0)) for _ in range(3)]
    arrays.block_until_ready(iter(made))
    assert all(array.is_ready() for array in made)


def test_a_copy_to_the_host_may_be_started_early(put, split):
    for array in (put(np.arange(3.0)), split[0]):
        arrays.copy_to_host_async(array)
        assert arrays.to_numpy(array)[1] == 1


def test_attributes_can_be_installed_on_the_class(put):
    name = "_dovetail_test_attribute"
    arrays.install(name, property(lambda self: self.aval.shape))
    try:
        assert getattr(put(np.zeros((2, 3))), name) == (2, 3)
    finally:
        delattr(arrays.ArrayImpl, name)


def test_reading_does_not_call_the_installed_array_method(put, monkeypatch):
    def explode(self, *args, **kwargs):
        raise AssertionError("called")

    monkeypatch.setattr(arrays.ArrayImpl, "__array__", explode, raising=False)
    value = np.arange(3).astype(ml_dtypes.bfloat16)
    assert arrays.to_numpy(put(value)).tobytes() == value.tobytes()


def test_traced_values_can_pass_as_arrays(fresh_python):
    code = """
from dovetail_xla import arrays
class Tracer:
    traced = True
    def _is_traced_array(self): return self.traced
arrays.install_tracer_class(Tracer)
tracer = Tracer()
print(isinstance(tracer, arrays.Array), isinstance(3.0, arrays.Array))
tracer.traced = False
print(isinstance(tracer, arrays.Array))
"""
    assert fresh_python(code).stdout == "True False\nFalse\n"


def test_arrays_can_be_weakly_referenced(put):
    array = put(np.arange(3.0))
    reference = weakref.ref(array)
    assert reference() is array
    del array
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("offset", [0, 16])
def test_large_host_memory_is_copied_by_the_time_the_call_returns(split, aval, offset):
    memory = np.zeros((1 << 21) + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    value = memory[start : start + (1 << 21)].view(np.float32)
    value[:] = 1
    x = arrays.put_global(value, aval(value.shape), split[1])
    value[:] = 2
    assert (arrays.to_numpy(x) == 1).all()
