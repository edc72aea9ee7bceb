"""References and compiled calls: in place, traced once, whole after errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import ref as dref


def test_calls_are_not_traced_again() -> None:
    count = 0

    @dovetail.jit
    def f(refs: Any, x: Any) -> Any:
        nonlocal count
        count += 1
        refs["a"][0] += x
        return refs["a"][...].sum() + refs["b"][...]

    refs = {"a": dovetail.new_ref(np.zeros(3)), "b": dovetail.new_ref(np.float32(1))}
    assert [float(f(refs, 1.0)) for _ in range(4)] == [2.0, 3.0, 4.0, 5.0]
    other = {"a": dovetail.new_ref(np.ones(3)), "b": dovetail.new_ref(np.float32(2))}
    assert float(f(other, 1.0)) == 6.0
    assert count == 1
    np.testing.assert_array_equal(refs["a"][...], [4.0, 0.0, 0.0])


def test_closed_over_references_are_read_at_each_call() -> None:
    ref, count = dovetail.new_ref(1.0), 0

    @dovetail.jit
    def f(x: Any) -> Any:
        nonlocal count
        count += 1
        ref[...] *= x
        return ref[...]

    assert [float(f(2.0)) for _ in range(3)] == [2.0, 4.0, 8.0]
    ref[...] = 100.0
    assert float(f(2.0)) == 200.0
    assert count == 1


@pytest.mark.parametrize(
    "update",
    [
        lambda r, x: r.__setitem__(slice(0, 10), x),
        lambda r, x: r.__setitem__(..., r[...] * 2 + x),
        lambda r, x: r.__setitem__(..., dnp.full(r.shape, x)),  # reads nothing of it
        lambda r, x: dovetail.lax.fori_loop(0, 5, lambda i, c: (dref.addupdate(r, i, x), c)[1], 0),
        lambda r, x: (r.__setitem__(1, x), r[...] + 1)[1],  # a result of the same type
    ],
    ids=["part", "whole", "overwritten", "loop", "result"],
)
def test_written_references_keep_their_memory(update: Any) -> None:
    n = 100_000
    ref = dovetail.new_ref(np.zeros(n, np.float32))
    f = dovetail.jit(update)
    memory = f.lower(ref, 1.0).compile().memory_analysis()
    assert memory.alias_size_in_bytes == 4 * n
    assert memory.temp_size_in_bytes < 4 * n
    address = ref._content.unsafe_buffer_pointer()
    f(ref, 1.0)
    assert ref._content.unsafe_buffer_pointer() == address


def test_references_that_are_only_read_are_not_given_away() -> None:
    ref = dovetail.new_ref(np.arange(4.0))
    content = ref._content
    assert float(dovetail.jit(lambda r: r[...].sum())(ref)) == 6.0
    assert ref._content is content
    assert not content.is_deleted()


def test_programs_in_programs() -> None:
    inner = dovetail.jit(lambda r, x: r.__setitem__(0, r[0] + x))

    @dovetail.jit
    def outer(r: Any, x: Any) -> Any:
        inner(r, x)
        s = dovetail.new_ref(r[...])
        inner(s, 10.0)
        return dovetail.freeze(s)

    ref = dovetail.new_ref(np.zeros(2))
    np.testing.assert_array_equal(outer(ref, 1.0), [11.0, 0.0])
    np.testing.assert_array_equal(ref[...], [1.0, 0.0])


def test_ahead_of_time() -> None:
    ref = dovetail.new_ref(np.zeros(2, np.float32))
    f = dovetail.jit(lambda r, x: (r.__setitem__(1, x), r[...].sum())[1])
    compiled = f.lower(ref, 1.0).compile()
    assert float(compiled(ref, 3.0)) == 3.0
    np.testing.assert_array_equal(ref[...], [0.0, 3.0])
    other = dovetail.new_ref(np.ones(2, np.float32))
    assert float(compiled(other, 3.0)) == 4.0
    with pytest.raises(ValueError, match=r"one Ref\{f32\[\]\} is passed as args\[0\] and as args"):
        dovetail.jit(lambda a, b: None).lower(s := dovetail.new_ref(1.0), s).compile()(s, s)


def test_donated_arrays_beside_references() -> None:
    ref, x = dovetail.new_ref(np.ones(3, np.float32)), dnp.arange(3.0)
    f = dovetail.jit(lambda r, x: (r.__setitem__(0, x[1]), x * 2)[1], donate_argnums=1)
    np.testing.assert_array_equal(f(ref, x), [0.0, 2.0, 4.0])
    assert x.is_deleted()
    np.testing.assert_array_equal(ref[...], [1.0, 1.0, 1.0])


def test_the_reference_backend() -> None:
    ref = dovetail.new_ref(np.zeros(3, np.float32))

    def f(r: Any, x: Any) -> Any:
        s = dovetail.new_ref(x)
        s[...] *= 2
        r[1] = s[...]
        return r[...].sum()

    assert float(dovetail.jit(f, backend="reference")(ref, 4.0)) == 8.0
    np.testing.assert_array_equal(ref[...], [0.0, 8.0, 0.0])


def test_a_failing_trace_leaves_the_old_value() -> None:
    ref = dovetail.new_ref(np.arange(3.0))

    def f(r: Any) -> None:
        r[0] = 100.0
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        dovetail.jit(f)(ref)
    with pytest.raises(RuntimeError, match="no"):
        dovetail.vmap(lambda r: f(r.at[None]))(ref)
    np.testing.assert_array_equal(ref[...], [0.0, 1.0, 2.0])


def test_a_failing_run_leaves_the_old_value() -> None:
    ref = dovetail.new_ref(np.arange(3.0, dtype=np.float32))

    def positive(x: Any) -> Any:
        if x < 0:
            raise ValueError("negative")
        return np.sqrt(x)

    @dovetail.jit
    def f(r: Any, x: Any) -> None:
        r[0] = 100.0
        r[1] = dovetail.pure_callback(positive, dovetail.ShapeDtypeStruct((), np.float32), x)

    with pytest.raises(Exception, match="negative"):
        f(ref, -1.0)
    np.testing.assert_array_equal(ref[...], [0.0, 1.0, 2.0])
    f(ref, 4.0)
    np.testing.assert_array_equal(ref[...], [100.0, 2.0, 2.0])


def test_disabled_compilation() -> None:
    ref = dovetail.new_ref(np.zeros(2))

    @dovetail.jit
    def f(r: Any) -> None:
        r[0] += 1
        dovetail.lax.fori_loop(0, 3, lambda i, c: (dref.addupdate(r, 1, 1.0), c)[1], 0)

    with dovetail.disable_jit():
        f(ref)
    np.testing.assert_array_equal(ref[...], [1.0, 3.0])


def test_a_reference_whose_memory_is_being_overwritten() -> None:
    ref = dovetail.new_ref(np.zeros(3))
    ref._array().delete()  # as while another thread's call has the memory
    text = r"Ref\{f32\[3\]\} is used at .*, but the call .* failed .*: make a new one"
    with pytest.raises(RuntimeError, match=text):
        _ = ref[...]
    with pytest.raises(RuntimeError, match=text):
        dovetail.jit(lambda r: r[...])(ref)
