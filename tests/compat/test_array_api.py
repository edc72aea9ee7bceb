"""The array API standard 2024.12: its names, and the ways it has of passing their arguments."""

import csv
import inspect
from pathlib import Path

import pytest

import dovetail.numpy as dnp
from dovetail import enable_x64

ROWS = list(csv.reader((Path(__file__).parent / "array_api.csv").read_text().splitlines()))[1:]
FUNCTIONS = [r for r in ROWS if not r[0].startswith("array.")]
MEMBERS = [name.removeprefix("array.") for name, _ in ROWS if name.startswith("array.")]
IN_PLACE = {"__setitem__", *(m for m in MEMBERS if m.startswith("__i") and m not in ("__invert__",
            "__index__", "__int__", "__iter__"))}  # fmt: skip
"""Arrays are immutable: these raise, or make a new array."""


@pytest.mark.parametrize("name, parameters", FUNCTIONS, ids=[r[0] for r in FUNCTIONS])
def test_a_function_takes_what_the_standard_says(name, parameters):
    f = dnp
    for part in name.split("."):
        f = getattr(f, part)
    words = parameters.split()
    if not words:
        return
    signature = inspect.signature(f)
    args = [0 for w in words if not w.endswith("=") and not w.startswith("*")]
    signature.bind(*args)
    named = {w.strip("="): 0 for w in words if w.endswith("=") or not w.endswith(("/",))}
    named = {n: v for n, v in named.items() if not n.startswith("*")}
    first = [0 for w in words if w.endswith("/")]
    signature.bind(*first, **named)


@pytest.mark.parametrize("name", [m for m in MEMBERS if m not in IN_PLACE])
def test_arrays_have_the_members_of_the_standard(name):
    assert hasattr(dnp.ones((1, 1)), name)


def test_inspection():
    info = dnp.__array_namespace_info__()
    assert dnp.ones(1).__array_namespace__(api_version="2024.12") is not None
    assert info.capabilities()["max dimensions"] == 64
    assert dnp.__array_api_version__ == "2024.12"
    with enable_x64():
        assert info.default_dtypes()["real floating"] == dnp.float64
        assert set(info.dtypes(kind="integral")) >= {"int8", "uint64"}
    assert "float64" not in info.dtypes()
    assert info.default_device() in info.devices()
    with pytest.raises(ValueError, match="there is no kind of dtypes 'odd'"):
        info.dtypes(kind="odd")
