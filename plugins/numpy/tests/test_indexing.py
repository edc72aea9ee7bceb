"""``x[index]`` and ``x.at[index]`` against NumPy: every kind of index, modes, dtypes, programs."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_core import (
    NonConcreteBooleanIndexError,
    TracerIntegerConversionError,
    enable_x64,
)
from dovetail_jit import jit, make_jaxpr
from dovetail_numpy.indexing.windows import ds

INDICES_2 = """\
1
-1
1:2
::-1
::2
-3:
5:1:-2
None
...
None, 1
..., None
np.array([0, 1])
np.array([-1, 0, 1])
np.array([[0, 1], [1, 0]])
np.array([], int)
np.array([0, 1], np.uint8)
True
False
(slice(0, 1), 1)
()
1, 2
0, ...
..., 0
0, None, 1
1:1
:100
:, 1
:, ::-1
::-1, 1
0, ::2
[0, 1], 0
:, [0, 1, 1]
[0, 1], [1, 2]
[[0], [1]], [1, 2]
None, [0, 1]
[0, 1], None
[0, 1], None, [0, 1]
..., [0, 1]
[0, 1], ...
True, 1
:, True
np.array([True, False])
np.array([[True, False, True], [False, False, True]])
:, np.array([True, False, True])
0, np.array([True, False, True])
np.array([True, False]), 1:
np.int8(1)
np.array(1), 1
np.array(1), :
""".splitlines()
INDICES_3 = """\
0, :, [0, 1]
:, [0, 1], [0, 1]
[0, 1], :, [0, 1]
[0, 1], :, 0
0, [0, 1], :
1:, [0, 1], ::-1
::-1, 1, ::2
None, 0, ..., None
:, 0, 1
:, None, [0, 2], 1
[0, 1], None, 0
..., 1, [0, 3]
[[0, 1], [1, 0]], 1:, [1, 2]
1, ::2, None, 1:3
:, np.array(1), [[0], [1]]
:, [0, 1], ..., [0, 1]
[0, 1], 1:2, ...
1, -1, -1
[-1], [-1], -1
np.array([[True, False, True], [False, False, True]]), ::2
:, 1:, True
""".splitlines()


def _index(text):
    return eval(f"np.s_[{text}]", {"np": np})


PAIRS = [
    pytest.param(name, text, id=f"{name}[{text}]")
    for name, texts in (("f2", INDICES_2), ("f3", INDICES_3))
    for text in texts
]


@pytest.mark.parametrize(("name", "text"), PAIRS)
def test_reading(name, text, arrays, near):
    x, index = arrays[name], _index(text)
    wanted = np.asarray(x)[index]
    near(x[index], wanted)
    near(jit(lambda v: v[index])(x), wanted)


@pytest.mark.parametrize(("name", "text"), PAIRS)
def test_setting(name, text, arrays, near):
    x, index = arrays[name], _index(text)
    wanted = np.array(x)
    wanted[index] = 7.5
    near(x.at[index].set(7.5), wanted)
    near(jit(lambda v: v.at[index].set(7.5))(x), wanted)


@pytest.mark.parametrize(("name", "text"), PAIRS)
def test_adding(name, text, arrays, near):
    x, index = arrays[name], _index(text)
    wanted = np.array(x)
    step = np.arange(wanted[index].size, dtype=np.float32).reshape(wanted[index].shape)
    np.add.at(wanted, index, step)
    near(x.at[index].add(step), wanted)


def test_traced_integers_read_and_write(arrays, near):
    x = arrays["f3"]
    for i in (0, 1, -1):
        near(jit(lambda v, i: v[i])(x, i), np.asarray(x)[i])
        near(jit(lambda v, i: v[:, i, 1:3])(x, i), np.asarray(x)[:, i, 1:3])
        wanted = np.array(x)
        wanted[:, i] = 2
        near(jit(lambda v, i: v.at[:, i].set(2.0))(x, i), wanted)


@pytest.mark.parametrize(("name", "function"), [
    ("subtract", np.subtract), ("multiply", np.multiply), ("mul", np.multiply),
    ("divide", np.divide), ("power", np.power), ("min", np.minimum), ("max", np.maximum),
])  # fmt: skip
def test_updates_of_repeated_places(name, function, arrays, near):
    x = arrays["p1"]
    index = np.array([1, 3, 1])
    wanted = np.array(x)
    function.at(wanted, index, np.float32(1.5))
    near(getattr(x.at[index], name)(1.5), wanted, 1e-4)


def test_apply_acts_once_for_each_occurrence(arrays, near):
    x = arrays["f1"]
    near(x.at[np.array([1, 1])].apply(dnp.sin)[1], np.sin(np.sin(np.asarray(x)[1])))
    near(x.at[2:5].apply(lambda v: v * v)[2:5], np.asarray(x)[2:5] ** 2)


def test_places_outside(arrays):
    x = dnp.arange(4.0)
    far = dnp.asarray([1, 9, -9])
    assert x[9] == 3 and x[-9] == 0
    assert x[far].tolist() == [1, 3, 0]
    assert np.isnan(np.asarray(x.at[far].get(mode="fill"))).tolist() == [False, True, True]
    assert x.at[far].get(mode="fill", fill_value=-1).tolist() == [1, -1, -1]
    assert x.at[9].get(mode="fill", fill_value=7) == 7
    assert x.at[far].set(8.0).tolist() == [0, 8, 2, 3]
    assert x.at[9].set(8.0).tolist() == [0, 1, 2, 3]
    assert x.at[9].set(8.0, mode="clip").tolist() == [0, 1, 2, 8]
    assert x.at[-1].set(8.0, wrap_negative_indices=False).tolist() == [0, 1, 2, 3]
    assert dnp.arange(4).at[far].get(mode="fill").tolist()[1] == np.iinfo(np.int32).min


def test_updates_are_converted_to_the_array_s_type():
    with pytest.warns(FutureWarning, match="float32 is written to an array of dtype int32"):
        assert dnp.arange(3).at[1].set(2.5).tolist() == [0, 2, 2]
    assert dnp.ones(3, "bfloat16").at[0].set(2.5).dtype == "bfloat16"
    assert dnp.ones(3).at[:2].set(np.array([True, False])).tolist() == [1, 0, 1]


def test_masks_that_are_known_may_be_used_while_tracing(arrays, near):
    mask = np.array([True, False])
    near(jit(lambda x: x[mask])(arrays["f2"]), np.asarray(arrays["f2"])[mask])


def test_reading_at_another_place_needs_no_other_program(arrays):
    from dovetail_numpy.indexing import reading

    x = arrays["f3"]
    plans = {id(reading._plan_for(x.shape, reading.parse(np.index_exp[:, a : a + 2, 1])[0],
                                  reading.DEFAULT).dynamic) for a in (0, 1)}  # fmt: skip
    assert len(plans) == 1


def test_slices_and_known_places_are_static_in_programs(arrays):
    x = arrays["f2"]
    take = np.index_exp
    for index in (take[1:, 0], take[-1], take[0, ::-2], take[None, 1]):
        text = str(make_jaxpr(lambda x, index=index: x[index])(x))
        assert " slice[start_indices=" in text and "dynamic_slice" not in text
        assert text.count("slice[") == 1
        np.testing.assert_array_equal(jit(lambda x, index=index: x[index])(x), np.asarray(x)[index])
    gradient = str(make_jaxpr(grad(lambda x: x[1, 0]))(x))
    assert "pad[" in gradient and "dynamic_update_slice" not in gradient
    beyond = str(make_jaxpr(lambda x: x[7])(x))  # clamped where it runs
    assert "dynamic_slice" in beyond


@pytest.mark.parametrize(
    "case",
    """\
xp.take(f2, np.array([[0, 1]]), axis=1)
xp.take(f1, np.array([0, 9, -9]), mode='clip')
xp.take(f1, np.array([0, 9, -9]), mode='wrap')
xp.take_along_axis(f2, xp.argsort(f2, axis=1), axis=1)
xp.take_along_axis(f3, np.zeros((2, 1, 4), int), axis=1)
xp.choose(np.array([0, 1, 1]), [f2[0], f2[1]])
xp.choose(np.array([0, 3, -1]), [f2[0], f2[1]], mode='wrap')
xp.compress(np.array([True, False]), f2, axis=0)
xp.extract(f2 > 0, f2)
xp.tril_indices(3)
xp.triu_indices(3, 1)
xp.diag_indices(3)
xp.ix_(np.arange(2), np.array([True, False]))
xp.unravel_index(np.array([3, 5]), (2, 3))
xp.ravel_multi_index((np.array([0, 1]), np.array([1, 5])), (2, 3), mode='wrap', order='F')
xp.mgrid[0:3, 0:2]
xp.mgrid[0:1:5j]
xp.ogrid[0:3, 0:2]
xp.r_[1:4, 0, 4]
xp.c_[f1, f1]
xp.r_['0,2', f1[:3], f2]
""".splitlines(),
)
def test_functions_of_indices(case, same_as_numpy):
    same_as_numpy(case)


def test_functions_that_would_change_an_array_return_one(arrays, near):
    x = arrays["f2"]
    wanted = np.array(x)
    np.put_along_axis(wanted, np.array([[0], [2]]), 9, 1)
    near(dnp.put_along_axis(x, dnp.asarray([[0], [2]]), 9, 1, inplace=False), wanted)
    wanted = np.array(x)
    np.put(wanted, [0, -1], 5)
    near(dnp.put(x, dnp.asarray([0, -1]), 5, inplace=False), wanted)
    wanted = np.array(x)
    np.place(wanted, wanted > 0, [1, 2])
    near(dnp.place(x, x > 0, dnp.asarray([1, 2]), inplace=False), wanted)
    wanted = np.array(arrays["sq"])
    np.fill_diagonal(wanted, 3)
    near(dnp.fill_diagonal(arrays["sq"], 3, inplace=False), wanted)
    with pytest.raises(ValueError, match=r"arrays are immutable\. Pass inplace=False"):
        dnp.put(x, 0, 1)


EMPTY = """\
e[:, np.array([], int)]
e[np.array([], int), :, 1]
e[np.array([], int), 0:1]
e[np.zeros((2, 0), int), 1]
e[np.zeros((0, 3, 2), bool)]
e[np.zeros(0, bool)]
e[:, np.array([2, 0])]
f2[:, np.zeros(0, bool)]
f2[np.zeros(0, bool)]
f2[np.zeros((0, 3), bool)]
f2[np.zeros((2, 0), bool)]
f1[np.zeros(0, bool)]
xp.take(e, np.array([], int), axis=0)
xp.take(e, np.array([[1], [2]]), axis=1)
xp.take_along_axis(e, np.zeros((0, 1, 2), int), axis=1)
xp.take_along_axis(e, np.zeros((0, 3, 2), int), axis=0)
xp.take_along_axis(f2, np.zeros((2, 0), int), axis=1)
xp.compress(np.zeros(0, bool), f1)
xp.compress(np.array([True, False, True]), f1)
xp.delete(f1, np.zeros(6, bool))
xp.linalg.inv(xp.zeros((0, 0)))
""".splitlines()


@pytest.mark.parametrize("case", EMPTY)
def test_what_has_no_elements_is_indexed_too(case, same_as_numpy):
    same_as_numpy(
        case.replace("e[", "xp.zeros((0, 3, 2))[").replace("(e,", "(xp.zeros((0, 3, 2)),")
    )


def test_masks_without_elements_update_nothing(arrays):
    for name, mask in (("f1", (0,)), ("f2", (0,)), ("f2", (0, 3)), ("f2", (2, 0))):
        x = arrays[name]
        for y in (
            x.at[np.zeros(mask, bool)].set(7.0),
            jit(lambda v, m=mask: v.at[np.zeros(m, bool)].add(1))(x),
        ):
            assert np.array_equal(x, y)


def test_places_on_an_axis_without_elements_are_out_of_bounds():
    x = dnp.zeros((2, 0))
    result = dnp.take_along_axis(x, dnp.zeros((2, 1), int), 1, fill_value=7.0)
    assert result.tolist() == [[7.0], [7.0]]
    for read in (
        lambda: x[:, 0],
        lambda: x[:, np.array([0])],
        lambda: x.at[:, 0].set(1.0),
        lambda: dnp.take(x, dnp.zeros(1, int), axis=1),
        lambda: dnp.take_along_axis(x, dnp.zeros((2, 1), int), 1, mode="clip"),
    ):
        with pytest.raises(IndexError, match=r"from an axis of size 0: axis 1 of .* shape \(2, 0"):
            read()


@pytest.mark.parametrize("index", [(..., 0), (0, ...), (0, slice(1, 2)), (slice(None), -1)])
def test_a_box_is_written_at_integers_of_either_width(index):
    wanted = np.zeros((2, 3))
    wanted[index] = 5
    with enable_x64(True):
        assert dnp.zeros((2, 3)).at[index].set(5.0).tolist() == wanted.tolist()


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: x[0, 0, 0], IndexError, r"an array of shape \(2, 3\) has 2 dimensions, but 3 were"),
    (lambda x: x[..., ...], IndexError, "only one Ellipsis"),
    (lambda x: x["a"], TypeError, "cannot be indexed by strings, got 'a'"),
    (lambda x: x[1.5], TypeError, r"of integers or booleans, got 1.5.*astype\(int\)"),
    (lambda x: x[dnp.ones(2)], TypeError, "of integers or booleans.*float32"),
    (lambda x: x[[0, 1]], TypeError, r"with a list is ambiguous: use x\[numpy.array"),
    (lambda x: x[{}], IndexError, "only integers, slices, Ellipsis, None and arrays"),
    (lambda x: x[np.ones(3, bool)], IndexError, "dimension 0 has size 3, the array's dimension"),
    (lambda x: x[np.array([0, 1]), np.arange(3)], IndexError, r"shapes \(2,\), \(3,\) do not"),
    (lambda x: jit(lambda v: v[v > 0])(x), NonConcreteBooleanIndexError,
     r"type bool\[2,3\] is used as an index at .*test_indexing.py.*numpy.where\(mask, x, other\)"),
    (lambda x: jit(lambda v, n: v[:n])(x, 2), TracerIntegerConversionError,
     r"a slice bound of type i32\[\]~ is traced at .*dynamic_slice"),
    (lambda x: x.at[0].set(dnp.ones(2)), ValueError, r"shape \(2,\) does not broadcast to \(3,\)"),
    (lambda x: x.at[0].foo(1), AttributeError, "no method 'foo'; it has get, set, add"),
    (lambda x: x.at[0].set("a"), TypeError, r"at\[...\].set requires an array"),
    (lambda x: x.at[0].get(mode="bogus"), ValueError, "unknown mode 'bogus'"),
    (lambda x: dnp.take(x, 1.5), TypeError, "take: indices must be of an integer type"),
    (lambda x: dnp.take_along_axis(x, dnp.asarray([1]), 1), ValueError, "as many dimensions"),
    (lambda x: dnp.compress(np.ones(3, bool), x, axis=0), ValueError, "is true beyond the 2"),
    (lambda x: dnp.delete(x, np.zeros(0, bool), 0), ValueError, r"mask of shape \(0,\) for"),
])  # fmt: skip
def test_errors(call, error, text, arrays):
    with pytest.raises(error, match=text):
        call(arrays["f2"])


def test_unravel_index_takes_whole_numbers_of_floating_point_types() -> None:
    rows, columns = dnp.unravel_index(np.float32([2, 1, -1]), (2, 3))
    assert rows.dtype == columns.dtype == np.float32
    np.testing.assert_array_equal([rows, columns], np.unravel_index([2, 1, 5], (2, 3)))


def test_slices_that_begin_anywhere():
    x = dnp.arange(10.0)

    @jit
    def read(i):
        grid = x.reshape(2, 5)
        return x[ds(i, 3)], x[ds(i, 2, 3)], grid[1, ds(i, 2)], grid[None, ..., ds(i, 2)]

    host = np.arange(10.0)
    grid = host.reshape(2, 5)
    for i in (0, 2):
        wanted = host[i : i + 3], host[i : i + 4 : 3], grid[1, i : i + 2], grid[None, :, i : i + 2]
        for result, want in zip(read(i), wanted, strict=True):
            np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(read(9)[0], [7, 8, 9])
    np.testing.assert_array_equal(x[ds(-3, 2)], [7, 8])
    assert ds(None) == slice(None) and ds(4) == ds(0, 4)
    mask = np.array([True, False])
    np.testing.assert_array_equal(x.reshape(2, 5)[mask, ds(3, 2)], [[3, 4]])


def test_updates_of_slices_that_begin_anywhere():
    x = dnp.arange(6.0)
    update = jit(
        lambda i: (
            x.at[ds(i, 2)].add(10.0),
            x.at[ds(i, 2, 2)].set(0),
            x.at[ds(i, 2)].apply(dnp.negative),
        )
    )
    for result, want in zip(
        update(1), ([0, 11, 12, 3, 4, 5], [0, 0, 2, 0, 4, 5], [0, -1, -2, 3, 4, 5])
    ):
        np.testing.assert_array_equal(result, want)
    for result in update(5):  # not all of it is there
        np.testing.assert_array_equal(result, x)
    np.testing.assert_array_equal(x.at[ds(5, 2)].set(0, mode="clip"), [0, 1, 2, 3, 0, 0])
    np.testing.assert_array_equal(x.at[ds(-2, 2)].set(0), [0, 1, 2, 3, 0, 0])


def test_slices_of_no_known_size():
    x = dnp.arange(6.0)
    with pytest.raises(TracerIntegerConversionError):
        jit(lambda n: x[ds(0, n)])(2)
    with pytest.raises(ValueError, match="a size of at least 0 and a stride of at least 1, got -1"):
        ds(0, -1)
    with pytest.raises(IndexError, match=r"ds\(0, 4, 2\) is of 7 elements, and axis 0 has 6"):
        x[ds(0, 4, 2)]


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), True])
def test_updates_keep_weak_types(value: float) -> None:
    weak, strong = dnp.full(3, 1.0), dnp.ones(3)
    for update in (
        lambda x: x.at[0].set(value), lambda x: x.at[:].set(value), lambda x: x.at[0].add(value),
        lambda x: x.at[np.array([0, 1])].set(value),
    ):  # fmt: skip
        for f in (update, jit(update)):
            assert f(weak).weak_type and not f(strong).weak_type
            assert f(weak).dtype == np.float32
