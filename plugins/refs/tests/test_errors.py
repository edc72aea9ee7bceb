# ruff: noqa: E501 - texts of errors are not broken
"""What goes wrong with references names the thing, the place and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import grad, jit, jvp, lax, ref as dref, vmap

HERE = r"at \S*test_errors\.py:\d+"


@pytest.fixture
def r() -> Any:
    return dovetail.new_ref(np.zeros(3, np.float32))


@pytest.fixture
def s() -> Any:
    return dovetail.new_ref(1.0)


def used_after(close: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        ref = dovetail.new_ref(x)
        close(ref)
        return ref[...]

    return f


@pytest.mark.parametrize("under", [lambda f: f, jit, grad, vmap])
@pytest.mark.parametrize(
    ("close", "how"), [(dovetail.freeze, "frozen"), (dovetail.free_ref, "freed")]
)
def test_use_after_the_end(under: Any, close: Any, how: str) -> None:
    x = dnp.ones(2) if under is vmap else 1.0
    text = rf"Ref\{{f32\[\]\}} is used {HERE} .* after it was {how} {HERE} .*Read or copy it before"
    with pytest.raises(RuntimeError, match=text):
        under(used_after(close))(x)


def test_a_second_end_is_an_error(s: Any) -> None:
    dovetail.free_ref(s)
    assert repr(s) == "Ref(f32[], freed)"
    with pytest.raises(RuntimeError, match=f"is used {HERE} .* after it was freed {HERE}"):
        dovetail.freeze(s)


def test_references_from_outside_are_not_closed_inside(s: Any) -> None:
    text = rf"Ref\{{f32\[\]\}} is frozen {HERE} .* comes from outside of the transformed function"
    with pytest.raises(ValueError, match=text):
        jit(dovetail.freeze)(s)
    with pytest.raises(ValueError, match=r"is freed .* or have it freed by the caller"):
        jit(lambda: dovetail.free_ref(s))()


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (
            3,
            IndexError,
            rf"index 3 is out of range {HERE} .*axis 0 of a reference of type f32\[3\]",
        ),
        (-4, IndexError, "index -4 is out of range .* has length 3"),
        (np.array([0, 7]), IndexError, "index 7 is out of range"),
        ((0, 0), IndexError, r"too many indices .*: 2 for a reference of type f32\[3\], .* 1 axes"),
        (
            np.array([True, False]),
            IndexError,
            rf"f32\[3\] is indexed by a boolean array of shape \(2,\) {HERE}.*: from axis 0 .*\(3,\)",
        ),
        (
            (..., [True, False, True, True]),
            IndexError,
            r"a boolean array of shape \(4,\) .*: from axis 0 on, its shape is \(3,\)",
        ),
        (1.5, TypeError, r"a reference is indexed by f32\[\]~ .* made of integers, slices"),
        ("a", TypeError, "a reference is indexed by 'a' of type str"),
        (np.zeros(2), TypeError, r"a reference is indexed by f32\[2\]"),
    ],
)
def test_indices(r: Any, jitted: bool, index: Any, error: Any, text: str) -> None:
    f = lambda r: r[index]  # noqa: E731
    with pytest.raises(error, match=text):
        (jit(f) if jitted else f)(r)


def test_traced_masks(r: Any) -> None:
    text = (
        r"indexed by a traced boolean array .* dovetail\.numpy\.where\(mask, new, ref\[\.\.\.\]\)"
    )
    with pytest.raises(IndexError, match=text):
        jit(lambda m: r[m])(np.array([True, False, True]))


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (np.int32(1), TypeError, rf"a value of dtype int32 is written to a reference of dtype float32 {HERE} .*\.astype\('float32'\)"),
        (1j, TypeError, "a value of dtype complex64 is written to a reference of dtype float32"),
        (np.ones(4, np.float32), ValueError, r"a value of shape \(4,\) is written to a part of shape \(3,\) of Ref\{f32\[3\]\}"),
        (np.ones((2, 3), np.float32), ValueError, "cannot be broadcast"),
        ([1.0, 2.0], TypeError, rf"a value written to a reference {HERE} .* must be an array"),
    ],
)  # fmt: skip
def test_values(r: Any, jitted: bool, value: Any, error: Any, text: str) -> None:
    def f(r: Any) -> None:
        r[...] = value

    with pytest.raises(error, match=text):
        (jit(f) if jitted else f)(r)


def test_values_of_narrow_types() -> None:
    with pytest.raises(TypeError, match="dtype float32 is added to a reference of dtype int32"):
        dref.addupdate(dovetail.new_ref(np.arange(3)), 0, 1.5)


def test_references_are_not_values(r: Any, s: Any) -> None:
    with pytest.raises(TypeError, match=r"Ref\{f32\[3\]\} is written to Ref\{f32\[3\]\}.*read its"):
        r[...] = dovetail.new_ref(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match=rf"sin takes values, got Ref\{{f32\[3\]\}} {HERE}"):
        lax.sin(r)
    with pytest.raises(
        TypeError, match=r"has no operator __add__ .*Read its value first: ref\[\.\.\.\]"
    ):
        jit(lambda r: r + 1)(r)
    with pytest.raises(TypeError, match="has no operator __radd__"):
        jit(lambda r: 1 + r)(r)
    with pytest.raises(TypeError, match="has no operator __neg__"):
        jit(lambda r: -r)(r)
    with pytest.raises(AttributeError, match=r"has no attribute 'sum'. Read its value first"):
        jit(lambda r: r.sum())(r)
    for use, what in ((bool, "a condition"), (float, "a number"), (np.asarray, "an array")):
        with pytest.raises(TypeError, match=rf"Ref\{{f32\[\]\}} is used as {what} {HERE}"):
            use(s)
    for f in (iter, jit(lambda r: list(r))):
        with pytest.raises(
            TypeError, match=f"a reference is iterated over {HERE}.*iterate over its"
        ):
            f(r)


def test_what_references_are_made_of(r: Any) -> None:
    with pytest.raises(TypeError, match=r"new_ref: \[1, 2\] of type list is not a valid array"):
        dovetail.new_ref([1, 2])
    with pytest.raises(TypeError, match="a reference holds a value, not AbstractRef"):
        dovetail.new_ref(r)
    with pytest.raises(TypeError, match=r"get takes a reference, got a value of type f32\[\]~"):
        dref.get(1.0)
    with pytest.raises(NotImplementedError, match=r"memory_space='x'.*only None is supported"):
        dovetail.new_ref(1.0, memory_space="x")
    with pytest.raises(ValueError, match=rf"of kind None or 'no_grad_no_remat', not 'x' {HERE}"):
        dovetail.new_ref(1.0, kind="x")
    with pytest.raises(TypeError, match="freeze takes a reference, not a view"):
        dovetail.freeze(r.at[0])


MUTABLE = r"returned Ref\{f32\[\]\}, which is mutable: only values leave .*dovetail\.freeze\(ref\)"


@pytest.mark.parametrize("under", [jit, grad, dovetail.remat, dovetail.make_jaxpr])
def test_references_do_not_leave(under: Any, s: Any) -> None:
    def makes(x: Any) -> Any:
        return dovetail.new_ref(x)

    with pytest.raises(TypeError, match=f"makes {MUTABLE}"):
        under(makes)(1.0)


def test_references_do_not_leave_other_functions(s: Any) -> None:
    with pytest.raises(TypeError, match=f"vmap of new_ref: it {MUTABLE}"):
        vmap(dovetail.new_ref)(dnp.ones(2))
    with pytest.raises(TypeError, match=MUTABLE):
        jvp(dovetail.new_ref, (1.0,), (1.0,))
    with pytest.raises(TypeError, match=MUTABLE):
        lax.scan(lambda c, x: (c, s), 1.0, dnp.arange(3))
    with pytest.raises(TypeError, match=MUTABLE):
        lax.cond(True, lambda: s, lambda: s)


def test_references_are_no_carry(r: Any) -> None:
    text = rf"is Ref\{{f32\[3\]\}} {HERE}.*, which is mutable and cannot be a loop's carry"
    with pytest.raises(TypeError, match=f"scan: carry {text}"):
        lax.scan(lambda c, x: (c, x), r, dnp.arange(3))
    with pytest.raises(TypeError, match=rf"while_loop: carry\[1\] {text}"):
        lax.while_loop(lambda c: True, lambda c: c, (1.0, r))
    with pytest.raises(TypeError, match=r"fori_loop: .*cannot be a loop's carry"):
        lax.fori_loop(0, 3, lambda i, c: c, r)


def test_slices_of_references(r: Any) -> None:
    with pytest.raises(TypeError, match=r"<lambda> returned Ref\{f32\[\]\}, which is mutable"):
        lax.scan(lambda c, x: (c, x), 1.0, r)
    text = rf"scan: one Ref\{{f32\[3\]\}} is passed as xs\[0\] and as xs\[1\]\['k'\] {HERE}"
    with pytest.raises(ValueError, match=text):
        lax.scan(lambda c, x: (c, None), 1.0, (r, {"k": r}))
    with pytest.raises(ValueError, match=r"as a value that the function closes over and as xs at"):
        lax.map(lambda x: x[...] + r[0], r)
    with pytest.raises(ValueError, match=r"xs\[0\] has 3, xs\[1\] has 2"):
        lax.scan(lambda c, x: (c, None), 1.0, (r, dnp.ones(2)))
    with pytest.raises(ValueError, match=r"xs\[1\] is a scalar"):
        lax.map(lambda x: x[0][...], (r, dovetail.new_ref(1.0)))
    with pytest.raises(ValueError, match=r"Ref\{f32\[\]\} is frozen .*comes from outside"):
        lax.map(dovetail.freeze, r)
    text = (
        rf"a view of part of Ref\{{f32\[3\]\}} is mapped or sliced {HERE}.*Ref\{{f32\[\]\}}: a view"
    )
    for transform in (lax.map, lambda f, v: vmap(f)(v)):
        with pytest.raises(TypeError, match=text):
            transform(lambda x: x[...], r.at[:2])


def test_conditions_only_read(s: Any) -> None:
    def test(i: Any) -> Any:
        s[...] += 1.0
        return i < 3

    with pytest.raises(TypeError, match=rf"while_loop: test writes to Ref\{{f32\[\]\}} {HERE}"):
        lax.while_loop(test, lambda i: i + 1, 0)


def test_aliases(r: Any) -> None:
    text = "a write through one name would not show in the other"
    with pytest.raises(
        ValueError, match=rf"jit of two: one .* as args\[0\] and as args\[1\]\['k'\].*{text}"
    ):

        def two(a: Any, b: Any) -> Any:
            return a[...] + b["k"][...]

        jit(two)(r, {"k": r})
    with pytest.raises(ValueError, match=r"as a value that it closes over and as args\[0\]"):
        jit(lambda a: a[...] + r[...])(r)
    with pytest.raises(ValueError, match=r"args\[0\] and as args\[1\]"):
        jit(lambda x: jit(lambda a, b: a[...] + b[...])(x, x))(r)
    with pytest.raises(ValueError, match=r"cond: .* as operands\[0\] and as operands\[1\]"):
        lax.cond(True, lambda a, b: a[0], lambda a, b: b[0], r, r)
    with pytest.raises(ValueError, match=r"cond: .* as a value that a branch closes over and as"):
        lax.cond(True, lambda a: a[0], lambda a: r[0], r)
    with pytest.raises(ValueError, match=r"vmap of .*: one .* as args\[0\] and as args\[1\]"):
        vmap(lambda a, b: a[...] + b[...])(r, r)
    with pytest.raises(
        ValueError, match="is an argument of a function under vmap, and is also used"
    ):
        vmap(lambda a: a[...] + r[0])(r)
    with pytest.raises(ValueError, match="as leaf 0 of the primals and as leaf 0 of the tangents"):
        jvp(lambda a: a[...], (r,), (r,))


WRITES = [
    (lambda ref, x: dref.set(ref, ..., x), "written"),
    (lambda ref, x: dref.swap(ref, ..., x), "written"),
    (lambda ref, x: dref.addupdate(ref, ..., x), "added"),
]


@pytest.mark.parametrize(("write", "verb"), WRITES)
@pytest.mark.parametrize("under", [lambda f: f, jit], ids=["eager", "jit"])
def test_lifted_values_are_not_written_outside(s: Any, write: Any, verb: str, under: Any) -> None:
    def f(x: Any) -> Any:
        write(s, x)
        return x

    text = (
        rf"a value of type f32\[\] that is being differentiated is {verb} to Ref\{{f32\[\]\}} {HERE}.*"
        r"stop_gradient\(value\).*make the reference inside"
    )
    with pytest.raises(TypeError, match=text):
        under(grad(f))(1.0)
    text = (
        rf"a mapped value of type f32\[\] is {verb} to Ref\{{f32\[\]\}} {HERE}.*under vmap.*"
        "Map over the reference"
    )
    with pytest.raises(TypeError, match=text):
        under(vmap(f))(dnp.ones(2))


def test_mapped_places_are_not_written_outside(r: Any) -> None:
    with pytest.raises(
        TypeError, match=r"a value of type f32\[\] is added to Ref\{f32\[3\]\} at a mapped index"
    ):
        vmap(lambda i: dref.addupdate(r, i, 1.0))(dnp.arange(3))


def test_writes_under_mapped_predicates(s: Any) -> None:
    def write() -> None:
        s[...] = 2.0

    with pytest.raises(
        TypeError, match=rf"write writes to Ref\{{f32\[\]\}} under an index .* {HERE}"
    ):
        vmap(lambda p: lax.cond(p > 0, write, lambda: None))(dnp.arange(3))

    def body(c: Any) -> Any:
        write()
        return c + 1

    with pytest.raises(
        TypeError, match=r"body writes to Ref\{f32\[\]\} under a predicate .*mapped"
    ):
        vmap(lambda p: lax.while_loop(lambda c: c < p, body, 0))(dnp.arange(3))


def test_references_are_not_differentiated(s: Any) -> None:
    text = rf"grad: the input at \[0\] is Ref\{{f32\[\]\}}, which is mutable {HERE}.*argnums"
    with pytest.raises(TypeError, match=text):
        grad(lambda s: s[...])(s)
    with pytest.raises(
        TypeError, match=r"jvp: the tangent of leaf 0, Ref\{f32\[\]\}, is of type f32"
    ):
        jvp(lambda s: s[...], (s,), (1.0,))
    _, f = dovetail.linearize(lambda x, s: x * s[...], 2.0, s)
    with pytest.raises(TypeError, match="through which no derivative goes: pass None"):
        f(1.0, 1.0)


def test_places_of_cotangents(r: Any, s: Any) -> None:
    _, f = dovetail.vjp(lambda x, y: (x * y).sum(), dnp.ones(3), dnp.ones(3))
    with pytest.raises(
        TypeError, match=r"with_refs of the vjp of <lambda>: .* is not the structure"
    ):
        f.with_refs(r)
    with pytest.raises(TypeError, match=r"leaf 0, Ref\(1\..*takes no cotangents of type f32\[3\]"):
        f.with_refs(s, None)


def test_functions_of_state_return_nothing() -> None:
    def f(ref: Any) -> Any:
        return ref[...]

    with pytest.raises(TypeError, match=r"run_state: f returned .*write results to references"):
        dref.run_state(f)(1.0)


def test_writes_in_a_loop_of_any_order_are_refused(s: Any) -> None:
    from dovetail_core import Kind, Primitive, Region, RegionInterface, stage_closed, typeof

    def regions(params: Any) -> RegionInterface:
        region = Region(params["program"], (0, 1), (0,))
        kinds = (Kind.CONSTANT, Kind.CARRIED)
        rebuild = lambda programs, operands: {"program": programs[0]}  # noqa: E731
        return RegionInterface((region,), kinds, (Kind.CARRIED,), rebuild, runs="in any order")

    def body(ref: Any, x: Any) -> list[Any]:
        ref[...] = x
        return [x]

    loop_p = Primitive("tests.loop", multiple_results=True, anonymous=True)
    loop_p.def_effectful_abstract_eval(lambda ref, x, *, program: ([x], program.effects))
    loop_p.def_regions(regions)
    program = stage_closed(body, [typeof(s), typeof(np.float32(0))])
    text = r"sub-program of tests\.loop writes to .*test_errors\.py.* any order.* write it outside"
    with pytest.raises(TypeError, match=text):
        jit(lambda s, x: loop_p.bind(s, x, program=program))(s, np.float32(2))


def test_errors_of_types_and_indices_are_those_of_values_too():
    ref = dovetail.new_ref(dnp.arange(3))
    with pytest.raises(ValueError, match="a value of dtype float32 is written"):
        ref[0] = 1.5
    with pytest.raises(ValueError, match="index 5 is out of range"):
        ref[5]


def test_errors_are_those_that_jax_raises_too() -> None:
    with pytest.raises(ValueError, match="swap takes a reference"):
        dovetail.ref.swap(dnp.ones(2), 0, 1.0)
    with pytest.raises(ValueError, match="too many indices"):
        dovetail.new_ref(dnp.ones(2))[0, 0]
    with pytest.raises(ValueError, match=MUTABLE):
        dovetail.jit(dovetail.new_ref)(dnp.float32(1))


@pytest.mark.parametrize("f", [dnp.asarray, dnp.array, dnp.ravel, dovetail.device_put])
def test_a_reference_is_no_array(f: Any) -> None:
    with pytest.raises(TypeError, match=r"takes (arrays|values), got .*Ref"):
        f(dovetail.new_ref(dnp.ones(2)))


def test_what_a_reference_says_of_its_array() -> None:
    x = dnp.ones(2)
    ref = dovetail.new_ref(x)
    ref.addupdate(x)
    assert ref.sharding == x.sharding and ref[...].tolist() == [2, 2]
    dovetail.jit(lambda r: r.addupdate(x))(ref)
    assert ref[...].tolist() == [3, 3]
