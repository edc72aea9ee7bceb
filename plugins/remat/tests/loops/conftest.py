"""A step that counts how often it is really executed, compiled or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dovetail_ad import jvp_rules
from dovetail_backends import reference_rules, stablehlo_rules
from dovetail_base.options import enable_checks
from dovetail_core import Primitive, enable_x64

mark_p = Primitive("loops_test.mark")
executed: Counter[int] = Counter()


@mark_p.def_abstract_eval
def _mark_type(step: Any, x: Any) -> Any:
    return x


def _record(step: Any, x: Any) -> tuple[Any]:
    executed[int(step)] += 1
    return (x,)


@stablehlo_rules.register(mark_p)
def _mark_stablehlo(b: Any, step: Any, x: Any) -> Any:
    return b.host_callback(_record, [step, x], [x.aval], "mark")[0]


@reference_rules.register(mark_p)
def _mark_reference(step: Any, x: Any) -> Any:
    return _record(step, x)[0]


@jvp_rules.register(mark_p)
def _mark_jvp(primals: Any, tangents: Any) -> Any:
    return mark_p.bind(*primals), tangents[1]


@pytest.fixture
def mark() -> Any:
    """``mark(step, x)`` is ``x``; each execution is counted under the number of its step."""
    executed.clear()
    return lambda step, x: mark_p.bind(step, x)


@pytest.fixture
def counts() -> Counter[int]:
    """How often each step was executed."""
    return executed


@pytest.fixture
def x64() -> Iterator[None]:
    """64-bit arithmetic, so that derivatives can be compared closely, and programs checked."""
    with enable_x64(True), enable_checks(True):
        yield
