"""Compiled functions are copied and pickled, and what describes their arguments."""

from __future__ import annotations

import copy
import operator
import pickle

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_base.errors import JaxRuntimeError
from dovetail_jit import ShapeDtypeStruct, jit
from dovetail_jit.stages import ArgInfo
from dovetail_tree.util import tree_leaves

X = np.arange(4, dtype=np.float32)
power = operator.pow


def test_compiled_functions_are_copied_and_pickled() -> None:
    f = jit(operator.neg, keep_unused=True)
    for g in (copy.copy(f), copy.deepcopy({"f": [f]})["f"][0], pickle.loads(pickle.dumps(f))):
        assert g is not f and g.__wrapped__ is operator.neg
        np.testing.assert_array_equal(g(X), -X)
        assert g.__dict__["_again"].keywords == {"keep_unused": True}
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(jit(lambda x: x))


def test_descriptions_of_arguments_are_leaves() -> None:
    infos = tree_leaves(jit(power, static_argnums=1).lower(X, 2).args_info)
    assert [(type(i), i.shape, i.donated) for i in infos] == [(ArgInfo, (4,), False)]


def test_structs_have_a_length_and_are_updated() -> None:
    struct = ShapeDtypeStruct((2, 3), np.float32, weak_type=True)
    assert len(struct) == 2
    assert struct.update(shape=(5,)) == ShapeDtypeStruct((5,), np.float32, weak_type=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        struct.update(size=3)
    with pytest.raises(TypeError, match="has no axes"):
        len(struct.update(shape=()))


def test_errors_are_of_jaxs_classes_too() -> None:
    given = lax.full((4,), 1.0)
    with pytest.raises(JaxRuntimeError, match="is also leaf 0"):
        jit(lax.add, donate_argnums=0)(given, given)
    with pytest.raises(JaxRuntimeError, match="unknown compiler option 'no_such"):
        jit(lax.sin, compiler_options={"no_such_option": True})(X)
    with pytest.raises(ValueError, match="jit of sin: give device or backend, not both"):
        jit(lax.sin, device=given.device, backend="cpu")
