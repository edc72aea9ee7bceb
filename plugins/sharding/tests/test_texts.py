"""Programs on meshes as text, and what types say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dovetail as dt
from dovetail import P, lax, shard_map
from dovetail.sharding import AbstractMesh, AxisType, ManualAxisType
from dovetail_core import IRError, ShapedArray, typeof
from dovetail_sharding.texts import _spec, _spec_text
from dovetail_text.parser import parse_ir, parse_type


def test_programs_are_read_again(mesh):
    abstract = AbstractMesh((4, 2), ("x", "y"), (AxisType.Auto, AxisType.Auto))
    for m in (mesh.abstract_mesh, abstract):
        f = shard_map(
            lambda a: (lax.psum(a * 2, "x"), lax.axis_index("x")[None] + a.sum()),
            mesh=m, in_specs=P(("x", "y")), out_specs=(P("y"), P(("x", "y"))),
        )  # fmt: skip
        program = dt.make_jaxpr(f)(np.ones((8, 4), np.float32))
        assert parse_ir(str(program)) == program
    assert "{V:(x,y)}" in str(program) and "{V:y}" in str(program)


def test_types_that_tell_how_arrays_are_divided(explicit):
    for text in ("f32[8@x,4]", "f32[8@(x,y),4]~", "f32[8,4]{U:x}", "f32[8@x]{V:z, R:y}"):
        with dt.set_mesh(explicit):
            assert parse_type(text).str_short() == text
        with (
            dt.set_mesh(None),
            pytest.raises(IRError, match=r"column 1: .*none is set. Set the on"),
        ):
            parse_type(text)
    with dt.set_mesh(explicit), pytest.raises(IRError, match="has no axis 'z' of type Explicit"):
        parse_type("f32[8@z]")


def test_programs_whose_types_tell_are_read_again(explicit):
    with dt.sharding.use_abstract_mesh(explicit.abstract_mesh):
        x, w = (dt.ShapeDtypeStruct((8, 4), np.float32, sharding=P(a)) for a in "xy")

        def f(x, w):
            h = dt.numpy.matmul(x.T, x, out_sharding=P(unreduced={"x"}))
            return dt.numpy.tanh(x @ w.T), dt.reshard(h, P()), x * 2.0

        for g in (f, dt.grad(lambda x, w: dt.numpy.tanh(x @ w.T).sum())):
            program = dt.make_jaxpr(g)(x, w)
            assert parse_ir(str(program)) == program and "@x" in str(program)


def test_specs():
    for spec in (P(), P("x"), P(None, ("x", "y")), P(P.UNCONSTRAINED, "x"), P("x", reduced={"y"})):
        assert _spec(_spec_text(spec)) is spec


def test_types_that_vary():
    for text, vma in (("f32[2,3]{V:x}", {"x"}), ("i32[]~{V:(x,y)}", {"x", "y"}), ("f32[2]", set())):
        aval = parse_type(text)
        assert aval.vma == vma and aval.str_short() == text
        assert aval.manual_axis_type == aval.mat == ManualAxisType(varying=vma)
    varying = ManualAxisType({"x"})
    assert ShapedArray((2,), np.float32, manual_axis_type=varying).vma == {"x"}
    struct = dt.ShapeDtypeStruct((2,), np.float32, manual_axis_type=varying)
    assert typeof(struct).vma == {"x"} and "manual_axis_type=Manual" in repr(struct)


def test_manual_axis_types():
    one = ManualAxisType({"x"}, reduced={"y"})
    assert one == ManualAxisType(frozenset({"x"}), frozenset(), frozenset({"y"}))
    assert hash(one) == hash(pickle.loads(pickle.dumps(one)))
    assert one.update(varying=set()) == ManualAxisType(reduced={"y"}) != one
    with pytest.raises(ValueError, match=r"\['x'\] is in varying and in reduced"):
        ManualAxisType({"x"}, reduced={"x"})
    with pytest.raises(AttributeError, match="does not change"):
        one.varying = frozenset()
