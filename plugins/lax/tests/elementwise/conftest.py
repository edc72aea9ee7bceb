"""The samples of the elementwise families by primitive, also in double precision."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dovetail_backends import evaluate
from dovetail_core import Primitive
from dovetail_jit import make_jaxpr
from dovetail_lax.primitives import slopes
from dovetail_lax.samples import arithmetic, transcendental, values
from dovetail_testing import Sample
from dovetail_tree.util import tree_leaves, tree_structure, tree_unflatten

FAMILIES = (arithmetic, transcendental, values)
FULL = os.environ.get("DOVETAIL_TEST_FULL") == "1"
_WIDER = {"float32": "float64", "complex64": "complex128", "int32": "int64", "uint32": "uint64"}


def by_primitive() -> dict[Primitive, list[Sample]]:
    """The samples of each primitive; not of derivatives, which have tests of their own."""
    result: dict[Primitive, list[Sample]] = {}
    for family in FAMILIES:
        for sample in family.samples():
            if sample.primitive.module != slopes.__name__:
                result.setdefault(sample.primitive, []).append(sample)
    return result


def some(samples: list[Sample]) -> list[Sample]:
    """The first few samples and those at the limits of types; the matrix tries the others."""
    return samples[:6] + [s for s in samples[6:] if "extreme" in s.tags][:6]


def traced(f: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """``f``, run by the NumPy reference backend, which need not compile: what laws of rules want,
    as values compiled by XLA are tested by themselves. Where everything is tested, ``f`` itself."""
    if FULL:
        return f
    program, shapes = make_jaxpr(f, return_shape=True)(*args)

    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return tree_unflatten(tree_structure(shapes), evaluate(program, *tree_leaves(args)))

    return run


def in_double(samples: list[Sample]) -> Iterator[Sample]:
    """Samples with operands of 32 bits, widened to 64; those of other types are left out."""
    for sample in samples:
        args = [np.asarray(x) for x in sample.args]
        if args and all(x.dtype.name in (*_WIDER, "bool") for x in args):
            wider = [x.astype(_WIDER.get(x.dtype.name, x.dtype))[()] for x in args]
            params = {k: _wider(v) for k, v in sample.params.items()}
            yield replace(sample, args=tuple(wider), params=params)


def _wider(param: Any) -> Any:
    name = getattr(param, "name", "")
    return np.dtype(_WIDER[name]) if isinstance(param, np.dtype) and name in _WIDER else param


def pytest_generate_tests(metafunc: Any) -> None:
    if "primitive_samples" in metafunc.fixturenames:
        without = getattr(metafunc.function, "without", ())
        result = {p: s for p, s in by_primitive().items() if p.name not in without}
        metafunc.parametrize(
            "primitive_samples", list(result.values()), ids=[p.name for p in result]
        )
