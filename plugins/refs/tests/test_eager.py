"""References at rest: reading, writing, their memory, and how they look."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import ref as dref


def test_reading_and_writing_as_numpy_does() -> None:
    place = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    ref = dovetail.new_ref(place)
    for index in (0, -1, (1, 2), slice(0, 2), (..., 3), (slice(None), None, [0, 2]), place > 5):
        np.testing.assert_array_equal(ref[index], place[index])
        ref[index] = 2.0
        place[index] = 2.0
        ref[index] += 1.5
        place[index] += 1.5
        np.testing.assert_array_equal(ref[...], place)


def test_where_it_is() -> None:
    x = dovetail.device_put(np.arange(3.0, dtype=np.float32), dovetail.devices()[0])
    ref = dovetail.new_ref(x)
    assert (ref.sharding, ref.format, ref.committed) == (x.sharding, x.format, True)
    assert ref.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


def test_repeated_places_receive_the_sum_of_an_update_and_one_of_the_writes() -> None:
    ref = dovetail.new_ref(np.zeros(3, np.float32))
    dref.addupdate(ref, np.array([1, 1, 2]), np.array([1.0, 2.0, 5.0], np.float32))
    np.testing.assert_array_equal(ref[...], [0.0, 3.0, 5.0])
    ref[np.array([0, 0])] += 1.0  # read once, written twice, as NumPy does
    np.testing.assert_array_equal(ref[...], [1.0, 3.0, 5.0])


def test_swap_returns_what_was_there() -> None:
    ref = dovetail.new_ref(np.arange(3))
    assert int(dref.swap(ref, 1, 7)) == 1
    np.testing.assert_array_equal(dref.swap(ref, ..., 0), [0, 7, 2])
    np.testing.assert_array_equal(dref.get(ref), [0, 0, 0])
    dref.set(ref, 2, 9)
    assert int(ref[2]) == 9


def test_values_that_were_given_or_read_are_not_changed_by_writes() -> None:
    given = dnp.arange(4.0)
    ref = dovetail.new_ref(given)
    before = ref[...]
    ref[0] = 100.0
    ref[...] = given
    ref[1] = 50.0
    np.testing.assert_array_equal(given, [0, 1, 2, 3])
    np.testing.assert_array_equal(before, [0, 1, 2, 3])
    np.testing.assert_array_equal(ref[...], [0, 50, 2, 3])


def test_values_are_broadcast_and_weak_numbers_take_the_dtype() -> None:
    ref = dovetail.new_ref(np.zeros((2, 3), np.float16))
    ref[...] = 1
    ref[1] = np.arange(3, dtype=np.float16)
    ref[:, 2] = np.full((1, 2), 9, np.float16)
    np.testing.assert_array_equal(ref[...], [[1, 1, 9], [0, 1, 9]])
    assert ref[...].dtype == np.float16
    assert dovetail.new_ref(1.0)[...].weak_type is False


def test_attributes_and_appearance() -> None:
    ref = dovetail.new_ref(np.zeros((2, 3), np.float32))
    assert (ref.shape, ref.ndim, ref.size, len(ref)) == ((2, 3), 2, 6, 2)
    assert ref.dtype == np.float32
    one = dovetail.new_ref(2.0)
    assert str(one) == "2.0"
    assert repr(one) == "Ref(2., dtype=float32)"
    assert repr(dovetail.new_ref(np.arange(3))) == "Ref([0, 1, 2], dtype=int32)"
    assert isinstance(one, dovetail.Ref)
    assert isinstance(dovetail.typeof(one), dref.AbstractRef) if hasattr(dovetail, "typeof") else 1


def test_empty_references_and_types() -> None:
    for like in (dovetail.ShapeDtypeStruct((2,), np.int32), np.zeros(2, np.int32)):
        ref = dovetail.empty_ref(like)
        assert ref.shape == (2,)
        assert ref.dtype == np.int32
        ref[0] = 3
        assert int(ref[0]) == 3


def test_freezing_gives_the_value_without_a_copy() -> None:
    ref = dovetail.new_ref(np.arange(3))
    ref[0] = 5
    address = ref._content.unsafe_buffer_pointer()
    value = dovetail.freeze(ref)
    np.testing.assert_array_equal(value, [5, 1, 2])
    assert value.unsafe_buffer_pointer() == address


def test_updates_happen_in_place() -> None:
    ref = dovetail.new_ref(np.zeros(1000, np.float32))
    address = ref._content.unsafe_buffer_pointer()
    ref[3] = 1.0
    ref[5:9] += 2.0
    dref.addupdate(ref, np.array([1, 1]), 1.0)
    assert ref._content.unsafe_buffer_pointer() == address
    assert float(ref[...].sum()) == 11.0


def test_one_compiled_program_serves_all_integers() -> None:
    from dovetail_refs.value import _updated

    ref = dovetail.new_ref(np.zeros((3, 50), np.float32))
    ref[0, 0] = 1.0
    count = _updated._cache_size() if hasattr(_updated, "_cache_size") else None
    for k in range(50):
        ref[k % 3, k] = float(k)
    if count is not None:
        assert _updated._cache_size() == count
    assert float(ref[...].sum()) == sum(range(50))


def test_references_in_annotations() -> None:
    def f(x: dovetail.Ref, y: dovetail.Ref[float]) -> None:
        assert isinstance(x, dovetail.Ref)
        assert isinstance(y, dovetail.Ref)

    dovetail.jit(f)(dovetail.new_ref(1), dovetail.new_ref(1.0))


def test_references_are_not_made_by_their_class() -> None:
    with pytest.raises(TypeError, match=r"references are made by dovetail\.new_ref\(value\)"):
        dovetail.Ref(1.0)


def test_deep_copies_hold_a_copy_and_shallow_ones_are_the_same_place() -> None:
    ref = dovetail.new_ref(np.arange(3, dtype=np.float32))
    deep, shallow = copy.deepcopy({"a": ref, "b": ref}), copy.copy(ref)
    ref[0] = 5.0
    assert deep["a"] is deep["b"] is not ref
    assert deep["a"][...].tolist() == [0.0, 1.0, 2.0]
    assert shallow[...].tolist() == [5.0, 1.0, 2.0]
