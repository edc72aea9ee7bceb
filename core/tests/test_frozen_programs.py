"""Programs are immutable once they are built: tests run with ones that refuse to be changed."""

from __future__ import annotations

import copy
import pickle

import pytest

from dovetail_core import ClosedJaxpr, Eqn, Jaxpr, Primitive, ShapedArray
from dovetail_core.ir.programs import Var
from dovetail_testing.frozen_programs import FrozenList, freeze_programs

same_p = Primitive("test.frozen_same", anonymous=True)


def program() -> ClosedJaxpr:
    x, y = Var(ShapedArray((), "float32")), Var(ShapedArray((), "float32"))
    eqn = Eqn(same_p, [x], [y], {}, frozenset(), None)
    return ClosedJaxpr(Jaxpr([], [x], [y], [eqn]))


def test_fields_are_set_once() -> None:
    freeze_programs()  # as the whole suite has done
    closed = program()
    (eqn,) = closed.eqns
    for holder, name in [
        (eqn, "source"), (eqn, "params"), (eqn, "invars"), (closed.jaxpr, "name"),
        (closed.jaxpr, "eqns"), (closed.jaxpr, "is_high"), (closed, "jaxpr"), (closed, "consts"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=rf"'{name}' of .* is set after it was built: programs "
                                            r"are immutable.*Make another: replace"):  # fmt: skip
            setattr(holder, name, None)
    assert hash(closed) == hash(program())  # which is remembered


def test_lists_cannot_be_changed_and_copies_of_them_can() -> None:
    closed = program()
    (eqn,) = closed.eqns
    for values in (closed.eqns, closed.invars, eqn.invars, eqn.outvars, closed.consts):
        assert isinstance(values, FrozenList)
        for change in (
            lambda v: v.append(1), lambda v: v.extend([]), lambda v: v.insert(0, 1),
            lambda v: v.pop(), lambda v: v.clear(), lambda v: v.reverse(), lambda v: v.sort(),
            lambda v: v.remove(1), lambda v: v.__setitem__(0, 1), lambda v: v.__delitem__(0),
            lambda v: v.__iadd__([1]), lambda v: v.__imul__(2),
        ):  # fmt: skip
            with pytest.raises(TypeError, match="a list of a program is changed after"):
                change(values)
        for other in (list(values), values + [], values[:], copy.copy(values)):
            other.append(1)
    kept = pickle.loads(pickle.dumps(FrozenList([1, 2])))
    assert kept == [1, 2] and type(kept) is list


def test_a_copy_with_changes_is_another_program() -> None:
    closed = program()
    other = closed.map_jaxpr(lambda jaxpr: jaxpr.replace(name="other"))
    assert other.jaxpr.name == "other" and closed.jaxpr.name == ""
    assert closed.eqns[0].replace(source=None) is not closed.eqns[0]
