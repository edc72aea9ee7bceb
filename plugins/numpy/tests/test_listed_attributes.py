"""The runtime's array type lists all methods and properties of arrays, before any was used."""

from __future__ import annotations

import subprocess
import sys

from dovetail_numpy.array_type import ATTRIBUTES
from dovetail_numpy.arrays.methods import methods

LISTED = """
import inspect, sys
import dovetail.numpy as dnp
from dovetail_numpy.array_type import ATTRIBUTES

x = dnp.array([3.0, 1.0, 2.0])
kind = type(x)
assert "dovetail_numpy.arrays.methods" not in sys.modules  # an array alone does not load them
listed = dir(kind)
assert set(ATTRIBUTES) < set(listed) and hasattr(kind, "ravel")
members = dict(inspect.getmembers(kind))
assert {n for n in ATTRIBUTES if isinstance(members[n], property)} == {
    "T", "at", "flat", "imag", "mT", "real"
}
assert callable(members["sum"]) and float(members["sum"](x)) == 6.0 == float(x.sum())
assert members["T"].fget(x).tolist() == [3.0, 1.0, 2.0] and kind.ravel(x).tolist() == x.tolist()
"""

FIRST = """
import dovetail.numpy as dnp
x = dnp.array([3.0, 1.0, 2.0])
assert x.at[0].set(1.0).tolist() == [1.0, 1.0, 2.0] and x.T.shape == (3,)
try:
    x.nothing
except AttributeError as e:
    assert "has no attribute 'nothing'" in str(e)
else:
    raise AssertionError
"""


def test_all_that_is_installed_is_listed() -> None:
    installed = {name for name in methods() if not name.startswith("_")}
    assert installed == {*ATTRIBUTES, "itemsize", "nbytes"}  # those the type has of its own


def test_attributes_of_the_type_are_there_at_once() -> None:
    for code in (LISTED, FIRST):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
