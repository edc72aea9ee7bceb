"""Programs on several devices: where they run, and where their results are."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax, set_mesh
from dovetail.sharding import Mesh, SingleDeviceSharding
from dovetail_core import typeof

WHOLE = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.fixture
def at(mesh):
    return lambda *partitions: NamedSharding(mesh, P(*partitions))


@pytest.fixture
def x(at):
    return dt.device_put(WHOLE, at("x", "y"))


OPERATIONS = {
    "mul": (lambda a: a * 2, P("x", "y")),
    "sum of columns": (lambda a: a.sum(0), P("y")),
    "sum": (lambda a: a.sum(), P()),
    "transposed": (lambda a: a.T, P("y", "x")),
    "matmul": (lambda a: a @ a.T, P("x")),
    "row": (lambda a: a[3], P("y")),
    "reshaped": (lambda a: a.reshape(32), P("x")),
    "comparison": (lambda a: a > 3, P("x", "y")),
    "conversion": (lambda a: a.astype(int), P("x", "y")),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(x, at, name):
    f, spec = OPERATIONS[name]
    for g in (f, dt.jit(f)):
        out = g(x)
        np.testing.assert_array_equal(out, f(WHOLE))
        assert out.sharding.is_equivalent_to(at(*spec), out.ndim) and out.committed


def test_shardings_of_arguments_stay(at):
    """A result that is where an argument of its shape is has its very sharding."""
    p = dt.device_put(WHOLE, at("x", None))
    assert (p + 1).sharding is p.sharding
    assert dt.jit(lambda a: (a, dnp.ones(8)))(p)[1].sharding.spec == P()


def test_what_is_not_committed_goes_there(x, at):
    np.testing.assert_array_equal(x + dnp.ones(4), WHOLE + 1)
    np.testing.assert_array_equal(x + WHOLE, 2 * WHOLE)
    np.testing.assert_array_equal(dt.jit(lambda a, b: a * b)(x, 3.0), 3 * WHOLE)
    np.testing.assert_array_equal(dt.jit(lambda b: x * b)(3.0), 3 * WHOLE)
    assert dt.jit(lambda: x + 1)().sharding == x.sharding


def test_in_shardings(x, at):
    f = dt.jit(lambda a, b: (a + 1, b), in_shardings=(at("x"), None))
    out, other = f(WHOLE, 2.0)
    np.testing.assert_array_equal(out, WHOLE + 1)
    assert out.sharding == at("x") and float(other) == 2
    assert f(dt.device_put(WHOLE, at("x", None)), 1.0)[0].sharding.is_equivalent_to(at("x"), 2)
    one = dt.jit(lambda a, b: a + b, in_shardings=at("y"))
    assert one(WHOLE, WHOLE).sharding == at("y")
    tree = dt.jit(lambda d: d["a"] + d["b"], in_shardings=({"a": at("x"), "b": at("x")},))
    assert tree({"a": WHOLE, "b": WHOLE}).sharding == at("x")
    with set_mesh(at().mesh):
        assert dt.jit(lambda a: a, in_shardings=P("x"))(WHOLE).sharding == at("x")
    with pytest.raises(
        ValueError, match=r"leaf 0 of its arguments, of type f32\[8,4\], has the sh"
    ):
        f(x, 1.0)
    with pytest.raises(ValueError, match=r"arguments are given by position, and \['b'\] are given"):
        f(WHOLE, b=1.0)
    with pytest.raises(
        ValueError, match="in_shardings must be a tree prefix of the tuple of argum"
    ):
        dt.jit(lambda *a: a, in_shardings=(at("x"), None))(WHOLE)
    with pytest.raises(
        ValueError, match=r"in_shardings of leaf 0.*has size 7, which 4 shards do not"
    ):
        f(np.ones((7, 4)), 1.0)
    with pytest.raises(
        ValueError, match=r"in_shardings of leaf 0.*for arrays of at least 3 dimens"
    ):
        dt.jit(lambda a: a, in_shardings=at("x", None, "y"))(WHOLE)


def test_out_shardings(x, at):
    f = dt.jit(lambda a: (a, {"s": a.sum(0)}), out_shardings=(at(), {"s": None}))
    whole, rest = f(x)
    assert whole.sharding == at() and rest["s"].sharding == at("y")
    np.testing.assert_array_equal(whole, WHOLE)
    assert dt.jit(lambda a: (a, a), out_shardings=at("y"))(WHOLE)[1].sharding == at("y")
    assert dt.jit(lambda: dnp.zeros((8, 4)), out_shardings=at("x"))().sharding == at("x")
    with pytest.raises(ValueError, match="out_shardings must be a tree prefix of the result"):
        dt.jit(lambda a: (a, a), out_shardings=(at(),))(x)
    with pytest.raises(ValueError, match="out_shardings of result 0: dimension 0 of shape"):
        dt.jit(lambda a: a[:7], out_shardings=at("x"))(x)
    with pytest.raises(TypeError, match="are made of shardings, got 'x' of type str"):
        dt.jit(lambda a: a, out_shardings="x")
    with pytest.raises(ValueError, match=r"out_shardings of jit of .* has a PartitionSpec"):
        dt.jit(lambda a: a, out_shardings=P("x"))(x)


def test_within_traced_functions(x, at):
    inner = dt.jit(lambda a: a * 2, in_shardings=at("y"), out_shardings=at("x"))
    f = dt.jit(lambda a: inner(a) + 1)
    np.testing.assert_array_equal(f(x), 2 * WHOLE + 1)
    assert f.lower(x).as_text().count("sdy.sharding_constraint") == 2
    np.testing.assert_array_equal(dt.grad(lambda a: inner(a).sum())(x), np.full((8, 4), 2.0))


def test_devices_that_differ(x, at, devices, mesh):
    one = dt.device_put(WHOLE, devices[0])
    with pytest.raises(
        ValueError, match=r"leaf 0 of its arguments is on the devices \[0, 1, .* leaf"
    ):
        dt.jit(lambda a, b: a + b)(x, one)
    with pytest.raises(ValueError, match="received incompatible devices"):
        x + one
    other = Mesh(mesh.devices.ravel()[::-1].reshape(4, 2), ("x", "y"))
    with pytest.raises(ValueError, match="in one order, with device_put"):
        x + dt.device_put(WHOLE, NamedSharding(other, P("x")))
    with pytest.raises(ValueError, match=r"leaf 0 of its .* a sharding in the function on \[7, 6"):
        dt.jit(lambda a: lax.with_sharding_constraint(a, NamedSharding(other, P("x"))))(x)


def test_two_meshes(x, devices):
    """The first one counts; shardings of others are said in its terms where that is possible."""
    other = Mesh(np.array(devices).reshape(2, 4), ("a", "b"))
    for spec in (P("a"), P("b"), P(("a", "b")), P()):
        y = dt.device_put(WHOLE, NamedSharding(other, spec))
        for a, b in ((x, y), (y, x)):
            out = dt.jit(lambda a, b: a + b)(a, b)
            np.testing.assert_array_equal(out, 2 * WHOLE)
            np.testing.assert_array_equal(dt.jit(lambda a, b: a + b)(a, b), 2 * WHOLE)
    odd = NamedSharding(other, P("a"))
    with pytest.raises(
        NotImplementedError, match="which the axes of the mesh of the other shardings"
    ):
        dt.jit(lambda a: a, out_shardings=odd)(x)


def test_meshes_with_axes_of_other_types(x, mesh, explicit):
    a = dt.device_put(x, NamedSharding(mesh, P("x")))
    b = dt.device_put(x, NamedSharding(explicit, P("x", "y")))
    for c, d in ((a, b), (b, a)):
        for out in (c + d, dt.jit(lambda c, d: c * d)(c, d), *dt.jit(lambda c, d: (c, d))(c, d)):
            assert out.aval.update(sharding=out.sharding).divided is typeof(out).divided


def _entered(call):
    """The functions that a second call enters."""
    called = []

    def look(frame, event, arg):
        if event == "call" and "dovetail" in frame.f_code.co_filename:
            called.append(frame.f_code.co_name)

    call()
    called.clear()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [n for n in called if n != "<lambda>"]


@pytest.fixture
def as_a_whole():
    """Small operations are not called part by part (see ``test_by_parts.py``)."""
    before = dt.config.by_parts_after
    dt.config.update("by_parts_after", 0)
    yield
    dt.config.update("by_parts_after", before)


def test_cpp_repeats_larger_operations(at):
    large = dt.device_put(np.ones((64, 256), np.float32), at("x"))
    assert not _entered(lambda: large + large)


def test_cpp_repeats_calls(x, at, as_a_whole):
    f = dt.jit(lambda a, b: (a @ b, a.sum()))
    w = dt.device_put(np.ones((4, 4), np.float32), at("y"))
    for call in (lambda: f(x, w), lambda: x + x, lambda: f(x, w)):
        assert not _entered(call)
    y = dt.device_put(WHOLE, at("y"))  # of the same devices, divided in another way
    for a in (y, x, y):
        np.testing.assert_array_equal(f(a, w)[0], WHOLE @ np.ones((4, 4)))
    asked = dt.jit(lambda a, b: a + b, in_shardings=(at("x"), None))
    for _ in range(3):
        np.testing.assert_array_equal(asked(WHOLE, y), 2 * WHOLE)
        np.testing.assert_array_equal(asked(dnp.asarray(WHOLE), x), 2 * WHOLE)


def test_donation(at):
    step = dt.jit(lambda p, g: p - 0.5 * g, donate_argnums=0)
    g = dt.device_put(WHOLE, at("x"))
    p = dt.device_put(WHOLE, at("x", None))
    for _ in range(3):
        q = step(p, g)
        assert p.is_deleted() and q.sharding.is_equivalent_to(g.sharding, 2)
        p = q
    np.testing.assert_array_equal(p, WHOLE - 1.5 * WHOLE)
    with pytest.raises(RuntimeError, match=r"was donated to <lambda>"):
        step(q, g)
        q + 1


def test_one_device_in_a_mesh(devices):
    m = Mesh(devices[:1], "x")
    y = dt.device_put(np.ones(8, np.float32), NamedSharding(m, P("x")))
    assert y.sharding.spec == P("x")
    assert (y * 2).sharding is y.sharding
    assert (y + dt.device_put(np.ones(8, np.float32), devices[0])).sharding is y.sharding
    two = dt.jit(lambda a: (a, dnp.ones(3)))(y)
    assert [o.sharding.spec for o in two] == [P("x"), P()]
    back = dt.jit(lambda a: a + 1, out_shardings=SingleDeviceSharding(devices[0]))(np.ones(3))
    assert back.sharding == SingleDeviceSharding(devices[0])


def test_a_mesh_that_is_set(mesh, at):
    with set_mesh(mesh):
        assert (
            len(dt.device_put(WHOLE).sharding.device_set) == 1
        )  # where it is put, if nowhere else
        for out in (dnp.zeros(3), dnp.asarray(WHOLE), dnp.arange(3) + 1):
            assert out.sharding == at()
        assert dt.jit(lambda a: a + 1)(WHOLE).sharding.mesh is mesh
    assert dnp.zeros(3).sharding == SingleDeviceSharding(dt.devices()[0])


def test_refs(x):
    ref = dt.new_ref(x)

    @dt.jit
    def step(r, b):
        r[...] = r[...] + b
        return r[...].sum()

    for n in (2, 3):
        assert float(step(ref, x)) == n * WHOLE.sum()
    assert ref[...].sharding == x.sharding
    np.testing.assert_array_equal(ref[...], 3 * WHOLE)


def test_random_keys(at):
    keys = dt.random.split(dt.random.key(0), 8)
    draw = dt.vmap(lambda k: dt.random.normal(k, (4,)))
    out = dt.jit(draw)(dt.device_put(keys, at("x")))
    np.testing.assert_allclose(out, draw(keys), rtol=1e-6)
    assert out.sharding.is_equivalent_to(at("x"), 2)
    made = dt.jit(lambda: dt.random.split(dt.random.key(0), 8), out_shardings=at("x"))()
    assert dt.random.key_data(made).sharding.is_equivalent_to(at("x"), 2)


def test_callbacks(x, capfd):
    """Each happens once, on the first device."""
    seen = []

    @dt.jit
    def f(a):
        dt.debug.print("the sum is {}", a.sum())
        for i in range(3):
            dt.debug.callback(lambda v: seen.append(float(v)), a[i].sum(), ordered=True)
        return dt.pure_callback(
            lambda v: np.asarray(v) * 3, dt.ShapeDtypeStruct(a.shape, a.dtype), a
        )

    np.testing.assert_array_equal(f(x), 3 * WHOLE)
    dt.effects_barrier()
    assert seen == [6.0, 22.0, 38.0]
    assert capfd.readouterr().out == "the sum is 496.0\n"


def test_stages(x, at):
    f = dt.jit(lambda a, b: (a + b, a.sum()), donate_argnums=0)
    args = dt.ShapeDtypeStruct((8, 4), np.float32, sharding=at("x", "y")), np.ones(4, np.float32)
    lowered = f.lower(*args)
    text = lowered.as_text()
    assert "mhlo.num_partitions = 8" in text and "jax.buffer_donor = true" in text
    compiled = lowered.compile()
    (a, b), _ = compiled.input_shardings
    assert a == at("x", "y") and b.mesh is at().mesh
    assert compiled.output_shardings == (at("x", "y"), at())
    assert compiled.out_info[0].sharding == at("x", "y")
    assert compiled.input_formats[0][0].sharding == at("x", "y")
    out, total = compiled(x, np.ones(4, np.float32))
    np.testing.assert_array_equal(out, WHOLE + 1)
    assert float(total) == WHOLE.sum() and "all-reduce" in compiled.as_text()


def test_stages_tell_where_results_are_asked_to_be(x, at):
    f = dt.jit(
        lambda a: {"two": 2 * a, "sum": a.sum()}, out_shardings={"two": at("x"), "sum": None}
    )
    stages = f.trace(x), f.lower(x), f.lower(x).compile()
    told = [*(s.out_info for s in stages), f.eval_shape(x), dt.eval_shape(f, x)]
    assert {info["two"].sharding for info in told} == {at("x")}
    assert told[-1]["sum"].sharding is None


def test_compiled_programs_take_arrays_where_they_were_compiled_for(x, at, devices):
    compiled = dt.jit(lambda x: x * 2).lower(dt.device_put(x, at("x"))).compile()
    for given in (dt.device_put(x, at("x")), dnp.asarray(np.asarray(x)), np.asarray(x)):
        assert compiled(given).sharding == at("x")
    said = r"the compiled <lambda> takes leaf 0 of its arguments with the sharding NamedSharding.*"
    for other in (at(), devices[1]):
        with pytest.raises(ValueError, match=rf"{said}, called at .* bound to .*device_put"):
            compiled(dt.device_put(x, other))
    alone = dt.jit(lambda x: x * 2).lower(dt.device_put(x, devices[0])).compile()
    assert alone(dt.device_put(x, devices[0])).sharding.device_set == {devices[0]}
    with pytest.raises(ValueError, match="SingleDeviceSharding"):
        alone(dt.device_put(x, devices[1]))


def test_the_disk_cache(tmp_path, x, at):
    from dovetail_services.disk_cache.options import cache_dir

    def f(a):
        return dnp.sin(a) + 7.0

    with cache_dir(str(tmp_path)):
        for _ in range(2):
            dt.clear_caches()
            for s in (at("x", "y"), at("y")):
                out = dt.jit(f)(dt.device_put(WHOLE, s))
                assert out.sharding.is_equivalent_to(s, 2)
                np.testing.assert_allclose(out, np.sin(WHOLE) + 7, rtol=1e-6)
            moved = dt.jit(f, out_shardings=at("x"))(x)
            assert moved.sharding == at("x")
        assert len(list(tmp_path.glob("*.bin"))) == 3


def test_many_on_their_way(x, at):
    """More programs than the runtime lets be on their way, none of which is waited for."""
    f = dt.jit(lambda a: (a @ a.T).sum() + a)
    y = x
    for _ in range(200):
        out = f(y)
    np.testing.assert_allclose(out, (WHOLE @ WHOLE.T).sum() + WHOLE)


def test_arrays_that_functions_close_over_are_moved_to_arguments(mesh, devices):
    part = Mesh(np.array(devices[4:]).reshape(2, 2), ("x", "y"))
    places = [NamedSharding(mesh, P("x")), NamedSharding(part, P("y")), devices[3]]
    for theirs in places:
        closed_over = dt.device_put(WHOLE, theirs)
        for ours in (places[0], places[1], devices[2]):
            f = dt.jit(lambda a, c=closed_over: a + c)
            for _ in range(3):
                y = f(dt.device_put(WHOLE, ours))
                np.testing.assert_array_equal(y, 2 * WHOLE)
                assert y.devices() == dt.device_put(WHOLE, ours).devices()


@pytest.mark.parametrize("argument", ["in_shardings", "out_shardings"])
def test_dimensions_that_jit_leaves_to_the_compiler(mesh, argument):
    where = NamedSharding(mesh, P("x", P.UNCONSTRAINED))
    with pytest.raises(ValueError, match=rf"(?s){argument} of .*leaves dimension 1 to the compile"):
        dt.jit(lambda a: a + 1, **{argument: where})(WHOLE)
    with pytest.raises(ValueError, match=r"leaves dimension 1 to the compiler at .*test_programs"):
        dt.device_put(WHOLE, where)
