"""Faults of XLA's compiler for the CPU, by version of jaxlib, and the options that avoid them.

Each has a program that shows it in ``tests/test_cpu_faults.py``. The tests fail if a version after
the last that is known to have a fault has it, too, and if no supported version has it any more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from dovetail_xla.version import JAXLIB_VERSION

FUSIONS = "xla_cpu_experimental_ynn_fusion_type"
"""The kinds of fusions that the library YNNPACK computes."""
SINGLE_PRODUCTS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"
"""Products of matrices, without what comes before and after them."""


class Fault(NamedTuple):
    """A fault of the compiler.

    Attributes:
        name: a few words by which the tests name it.
        effect: the results of modules that have it.
        last: the newest version of jaxlib, two numbers, that is known to have it.
        concerns: tells from a module's text whether it may be concerned.
        options: compile options with which it is not there; empty where the lowering avoids what
            has the fault.
    """

    name: str
    effect: str
    last: tuple[int, int]
    concerns: Callable[[str], bool]
    options: Mapping[str, str]


_HOLES = re.compile(
    r"base_dilations = array<i64: [\d, ]*?(?:[2-9]|\d\d)"
    r"|interior_padding = array<i64: [\d, ]*?[1-9]|interior = \[[\d, ]*?[1-9]"
)


def _windows_over_holes(text: str) -> bool:
    return "stablehlo.reduce_window" in text and _HOLES.search(text) is not None


FAULTS = (
    Fault(
        "fusions of reductions",
        "Fusions that end in a reduction of products or of many axes have wrong elements, or the "
        "process dies when they are compiled.",
        (0, 10),
        lambda text: True,
        {FUSIONS: SINGLE_PRODUCTS},
    ),
    Fault(
        "windows over holes",
        "A reduction of windows forgets the holes between elements (base dilation, or a pad before "
        "it) along axes on which windows take one place.",
        (0, 12),
        _windows_over_holes,
        {FUSIONS: SINGLE_PRODUCTS},
    ),
    Fault(
        "negative pads of windows",
        "The process dies when windows of one place everywhere have negative pads; the lowering of "
        "windows cuts off before.",
        (0, 12),
        lambda text: False,
        {},
    ),
)


def options_without_faults(
    text: str, version: tuple[int, ...] = JAXLIB_VERSION
) -> Mapping[str, str]:
    """The compile options by which a module has none of the known faults.

    An option that ``XLA_FLAGS`` names is left to it.
    """
    found: dict[str, str] = {}
    flags = os.environ.get("XLA_FLAGS", "")
    for fault in FAULTS:
        if version[:2] <= fault.last and fault.concerns(text):
            found.update({k: v for k, v in fault.options.items() if k not in flags})
    return found
