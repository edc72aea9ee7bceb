"""``PartitionSpec``: how it is spelled, compared and changed."""

from __future__ import annotations

import copy
import pickle

import pytest

from dovetail import P
from dovetail.sharding import PartitionSpec
from dovetail_tree.util import tree_leaves

SHOWN = {
    "P()": P(),
    "P('x',)": P("x"),
    "P('x', None)": P("x", None),
    "P(('x', 'y'), None)": P(("x", "y"), None),
    "P(None,)": P(()),
    "P('x', unreduced={'y'})": P("x", unreduced={"y"}),
    "P(reduced={'y', 'z'})": P(reduced={"z", "y"}),
    "P(UNCONSTRAINED, 'x')": P(P.UNCONSTRAINED, "x"),
}


def test_spelling():
    assert PartitionSpec is P
    assert {repr(spec): spec for spec in SHOWN.values()} == SHOWN
    assert str(P("x")) == "P('x',)"


def test_equal_ones_are_one_object():
    assert P("x") is P("x") is P(("x",)) is P(["x"])
    assert P(()) is P(None)
    assert P("x") != P("x", None) and P("x") != P("x", unreduced={"y"})
    assert P("x") != ("x",) and not isinstance(P("x"), tuple)
    for spec in SHOWN.values():
        assert pickle.loads(pickle.dumps(spec)) is spec
        assert copy.copy(spec) is copy.deepcopy(spec) is spec
    assert tree_leaves({"a": P("x", "y")}) == [P("x", "y")]


def test_as_a_sequence():
    spec = P("x", None, ("y", "z"))
    assert len(spec) == 3 and list(spec) == ["x", None, ("y", "z")]
    assert spec[0] == "x" and spec[1:] == (None, ("y", "z"))
    assert spec.index(["y", "z"]) == 2 and spec.count(None) == 1
    assert "x" in spec and not P()
    assert P("x") + P("y", unreduced={"z"}) is P("x", "y", unreduced={"z"})
    assert P("x") + ("y",) is P("x", "y") and ("y",) + P("x") is P("y", "x")
    with pytest.raises(TypeError, match="unsupported operand"):
        P("x") + 1


def test_changes():
    spec = P("x", unreduced={"y"})
    assert spec.update(partitions=("a", "b")) is P("a", "b", unreduced={"y"})
    assert spec.update(unreduced=frozenset(), reduced={"y"}) is P("x", reduced={"y"})
    with pytest.raises(AttributeError, match=r"use spec.update\(partitions=...\)"):
        spec.partitions = ("z",)
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Q", (PartitionSpec,), {})


def test_bad_ones():
    with pytest.raises(ValueError, match=r"\['x'\] is in partitions and in unreduced"):
        P("x", unreduced={"x"})
    with pytest.raises(ValueError, match=r"\['y'\] is in unreduced and in reduced"):
        P("x", unreduced={"y"}, reduced={"y"})
    with pytest.raises(TypeError, match="unreduced of a PartitionSpec is a set of names"):
        P("x", unreduced="y")
    with pytest.raises(ValueError, match="reduced of a PartitionSpec contains None"):
        P("x", reduced={None})
    with pytest.raises(TypeError, match="must be hashable"):
        P({})


def test_partitions_are_not_nested() -> None:
    assert P(["x", "y"]) is P(("x", "y")) and P(("x",)) is P("x")
    for partition in (("z", ("a",)), (("a", "b"),), ["z", ["a"]]):
        with pytest.raises(ValueError, match=r"the partition .* contains .* named one by one"):
            P("x", partition)
