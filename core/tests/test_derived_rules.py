"""Control flow from regions and a carrier: fixed points, joins, lifted predicates, loop axes."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_base.options import enable_checks
from dovetail_core import ShapedArray, jaxpr_as_fun, lift_call, lift_structures, stage_closed
from dovetail_core.ir.verification import check_jaxpr
from dovetail_testing.toy import add_p, less_p, mul_p, neg_p, sin_p
from dovetail_testing.toy_control import call_p, cond_p, scan_p, while_p

F32 = ShapedArray((), np.float32)
f32 = np.float32


def program(f, n=1, name=""):
    return stage_closed(f, [F32] * n, name)


double = program(lambda x: [mul_p.bind(x, f32(2))])
negate = program(lambda x: [neg_p.bind(x)])
small = program(lambda x: [less_p.bind(x, f32(3))])
# carry' = carry + k x, and sin(carry) is stacked
step = program(lambda k, c, x: [add_p.bind(c, mul_p.bind(k, x)), sin_p.bind(c)], 3)
XS = np.array([1.0, -2.0, 0.5], np.float32)


@pytest.fixture
def interval(carriers):
    return lambda lo, hi=None: carriers.Interval(lo := f32(lo), lo if hi is None else f32(hi))


@pytest.fixture
def bounds(carriers):
    def run(f, *args):
        """Bounds of f evaluated, and equal bounds from a program that passes the checker."""
        result = lift_call(carriers.Intervals(), f, args)
        carrier = carriers.Intervals()
        structures = [carrier.structure(a, 0) for a in args]
        shapes = [carrier.aval(a) for a in args]
        from dovetail_core import lift_function

        staged, outs = lift_function(
            carrier, lambda *values: lift_call(carrier, f, values), shapes, structures, None
        )
        check_jaxpr(staged)
        arrays = [x for a, s in zip(args, structures) for x in carrier.arrays(a, s, 0)]
        flat = iter(jaxpr_as_fun(staged)(*arrays))
        for value, s in zip(result, outs, strict=True):
            again = carrier.value([next(flat) for _ in carrier.types(F32, s)], s, 0)
            np.testing.assert_array_equal(again.lo, value.lo)
            np.testing.assert_array_equal(again.hi, value.hi)
        return result

    return run


def sound(result, f, *boxes, n=5):
    """All results at points of the boxes are within the bounds."""
    grids = np.meshgrid(*[np.linspace(b.lo, b.hi, n, dtype=np.float32) for b in boxes])
    for point in zip(*[g.ravel() for g in grids]):
        for bound, y in zip(result, f(*point), strict=True):
            assert np.all(bound.lo <= y) and np.all(y <= bound.hi), (point, bound, y)


def test_a_call(bounds, interval):
    f = lambda x: call_p.bind(x, program=double)  # noqa: E731
    assert bounds(f, interval(1, 2)) == [(2, 4)]


def test_a_known_index_takes_one_branch(bounds, interval):
    f = lambda i: lambda x: cond_p.bind(np.int32(i), x, branches=(double, negate))  # noqa: E731
    assert bounds(f(0), interval(1, 2)) == [(2, 4)]
    assert bounds(f(1), interval(1, 2)) == [(-2, -1)]


def test_a_lifted_index_joins_all_branches(carriers, interval):
    index = carriers.Interval(np.int32(0), np.int32(1))
    f = lambda i, x: cond_p.bind(i, x, branches=(double, negate))  # noqa: E731
    assert lift_call(carriers.Intervals(), f, [index, interval(1, 2)]) == [(-2, 4)]


def test_branches_of_different_structure_are_joined(bounds, interval):
    keep = program(lambda x, y: [x, y], 2)
    swap = program(lambda x, y: [y, x], 2)
    point, wide = interval(5), interval(1, 2)
    f = lambda x, y: cond_p.bind(np.int32(1), x, y, branches=(keep, swap))  # noqa: E731
    assert bounds(f, point, wide) == [(1, 2), (5, 5)]


def test_a_scan_raises_its_carry_to_a_fixed_point(bounds, interval, carriers):
    def f(k, c, *xs):
        return scan_p.bind(k, c, xs[0] if xs else XS, program=step, consts=1, carry=1, length=3)

    for k in (interval(2), interval(1.5, 2.5)):
        for c in (interval(0.5), interval(0, 1)):
            sound(bounds(f, k, c), f, k, c)
    xs = carriers.Interval(XS - f32(0.25), XS + f32(0.25))
    result = bounds(f, interval(2), interval(0.5), xs)
    for t in np.linspace(-0.25, 0.25, 5, dtype=np.float32):
        for bound, y in zip(result, f(f32(2), f32(0.5), XS + t), strict=True):
            assert np.all(bound.lo <= y) and np.all(y <= bound.hi)
    assert result[1].lo.shape == (3,)


def test_a_scan_whose_carries_infect_each_other(bounds, interval):
    # a' = b, b' = c, c' = x: after one pass only c is a range, after three all are.
    shift = program(lambda a, b, c, x: [b, c, x], 4)

    def f(x):
        zero = f32(0)
        xs = XS
        return scan_p.bind(zero, zero, x, xs, program=shift, consts=0, carry=3, length=3)[:3]

    result = bounds(f, interval(1, 2))
    assert [b.lo for b in result] == list(XS) == [b.hi for b in result]


def test_parameters_lifted_for_structures_are_those_that_lifting_binds(carriers, interval):
    carrier = carriers.Intervals()
    params = {"program": step, "consts": 1, "carry": 1, "length": 3}
    point, wide = (carrier.structure(interval(*b), 0) for b in ((1,), (1, 2)))
    lifted = lift_structures(carrier, scan_p.regions(params), [wide, point, point])
    assert lifted.operands == (wide, wide, point)  # the constant widens the carry
    assert lifted.results == (wide, wide)
    result = scan_p.bind(f32(1), f32(2), f32(0), f32(0), XS, **lifted.params)
    lo, hi = lift_call(
        carrier,
        lambda k, c: scan_p.bind(k, c, XS, **params),
        [interval(1, 2), interval(0)],
    )[0]
    assert (lo, hi) == tuple(result[:2])


def test_a_loop_with_a_decided_predicate(bounds, interval):
    count = program(lambda i, x: [less_p.bind(i, f32(4))], 2)
    body = program(lambda i, x: [add_p.bind(i, f32(1)), mul_p.bind(x, f32(2))], 2)
    f = lambda x: while_p.bind(f32(0), x, cond=count, body=body)  # noqa: E731
    i, x = bounds(f, interval(1, 2))
    assert i == (4, 4) and x == (16, 32)


def test_a_loop_with_a_lifted_predicate(bounds, interval):
    f = lambda x: while_p.bind(x, cond=small, body=double)  # noqa: E731
    assert bounds(f, interval(0.8, 1.4)) == [(f32(3.2), f32(5.6))]
    (unknown,) = bounds(f, interval(0.5, 1.0))  # two doublings for some, three for others
    assert np.isnan(unknown.lo) and np.isnan(unknown.hi)


def test_a_lifted_predicate_raises_all_of_the_carry(bounds, interval):
    # i counts, x decides when to stop: so i may be a range afterwards, though nothing adds to it.
    go_on = program(lambda i, x: [less_p.bind(x, f32(3))], 2)
    body = program(lambda i, x: [add_p.bind(i, f32(1)), mul_p.bind(x, f32(2))], 2)
    f = lambda x: while_p.bind(f32(0), x, cond=go_on, body=body)  # noqa: E731
    i, x = bounds(f, interval(0.8, 1.4))
    assert i == (2, 2) and i.lo is not i.hi and x == (f32(3.2), f32(5.6))


def test_a_scan_of_a_cond_of_a_while(bounds, interval):
    grow = program(lambda c: while_p.bind(c, cond=small, body=double))
    both = program(
        lambda c, x: [*cond_p.bind(np.int32(0), c, branches=(grow, negate)), mul_p.bind(c, x)], 2
    )

    def f(c):
        return scan_p.bind(c, XS, program=both, consts=0, carry=1, length=3)

    box = interval(0.8, 1.4)
    result = bounds(f, box)
    sound(result, f, box, n=11)
    assert result[0] == (f32(3.2), f32(5.6))


def test_a_program_of_a_program_of_a_transformation(carriers, interval):
    """The same primitives lifted twice: bounds of bounds."""
    f = lambda x: while_p.bind(x, cond=small, body=double)  # noqa: E731

    def g(x):
        (b,) = lift_call(carriers.Intervals(), f, [carriers.Interval(x, add_p.bind(x, f32(1)))])
        return [b.lo, b.hi]

    lo, hi = lift_call(carriers.Intervals(), g, [interval(1.6, 1.9)])
    assert lo == (f32(3.2), f32(3.8)) and hi == (f32(5.2), f32(5.8))


def test_sub_programs_are_lifted_once(carriers, interval):
    fresh = program(lambda x: [mul_p.bind(x, f32(2))])
    f = lambda x: call_p.bind(*call_p.bind(x, program=fresh), program=fresh)  # noqa: E731
    lift_call(carriers.Intervals(), f, [interval(1, 2)])
    assert len(fresh.cache) == 1  # outputs come as they are wanted


@pytest.mark.parametrize("axis", [0, 1])
def test_mapped_axes_are_seen_without_loop_axes(carriers, axis):
    """Operands that a loop slices and results that it stacks have their mapped axis behind it."""
    carrier = carriers.Mapped(4)
    xs = np.linspace(-1, 1, 12, dtype=np.float32).reshape((4, 3) if axis == 0 else (3, 4))
    c = np.linspace(0, 1, 4, dtype=np.float32)

    def f(c, xs):
        return scan_p.bind(f32(2), c, xs, program=step, consts=1, carry=1, length=3)

    carry, stacked = lift_call(carrier, f, [carriers.Lane(c, 0), carriers.Lane(xs, axis)])
    assert carry.axis == 0 and stacked.axis == 1 and stacked.array.shape == (3, 4)
    for i in range(4):
        want = f(c[i], np.take(xs, i, axis))
        np.testing.assert_allclose(carry.array[i], want[0], rtol=1e-6)
        np.testing.assert_allclose(stacked.array[:, i], want[1], rtol=1e-6)


def test_a_carry_that_becomes_mapped_inside(carriers):
    carrier = carriers.Mapped(4)
    xs = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    f = lambda xs: scan_p.bind(f32(2), f32(0), xs, program=step, consts=1, carry=1, length=3)  # noqa: E731
    carry, stacked = lift_call(carrier, f, [carriers.Lane(xs, 1)])
    for i in range(4):
        want = f(xs[:, i])
        np.testing.assert_allclose(carry.array[i], want[0], rtol=1e-6)
        np.testing.assert_allclose(stacked.array[:, i], want[1], rtol=1e-6)


def test_a_mapped_predicate_runs_until_all_are_done(carriers):
    x = np.array([0.1, 1.0, 5.0, 2.0], np.float32)
    f = lambda x: while_p.bind(x, cond=small, body=double)  # noqa: E731
    (result,) = lift_call(carriers.Mapped(4), f, [carriers.Lane(x, 0)])
    np.testing.assert_allclose(result.array, [f(v)[0] for v in x], rtol=1e-6)


def test_arrays_that_are_not_of_their_types_are_found_where_programs_are_checked(carriers):
    class Wrong(carriers.Intervals):
        """Forgets upper bounds."""

        key = "wrong"

        def arrays(self, value, structure, depth):
            return super().arrays(value, structure, depth)[:1]

    fresh = program(lambda x: [mul_p.bind(x, f32(2))])
    message = (
        r"^Wrong.arrays made arrays of types \(f32\[\]\) of a value of type f32\[\] and structure "
        r"'range' at .*test_derived_rules.*; its types are \(f32\[\], f32\[\]\)\.$"
    )
    with enable_checks(True), pytest.raises(TypeError, match=message):
        lift_call(
            Wrong(), lambda x: call_p.bind(x, program=fresh), [carriers.Interval(f32(1), f32(2))]
        )
