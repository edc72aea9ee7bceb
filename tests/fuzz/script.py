"""A failing case as a script that anyone can run: it uses public names only."""

from __future__ import annotations

import inspect
import re
from typing import Any

from . import helpers, laws, stateful, surroundings, transformations
from .cases import Case
from .programs import literal
from .rendering import lines_of

_IMPORTS = """\
from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import ModuleType

import ml_dtypes
import numpy as np
import scipy.special

import dovetail
import dovetail.lax as lax
import dovetail.nn as nn
import dovetail.numpy as dnp
from dovetail_core import (
    Manifest, Pass, dce_closed, jaxpr_as_fun, parse_ir, print_ir, printed_constants, stage_closed,
)
from dovetail_testing.fresh import with_plugins
from dovetail_lax import neg_p

SCALE = dovetail.make_user_context(1.0)
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
dovetail.config.update("enable_x64", True)
dovetail.config.update("enable_checks", True)
np.seterr(all="ignore")
"""
_EVALUATIONS = {
    "staged": 'run = dovetail.jit(f, backend="reference")',
    "eager": "run = f",
    "compiled": "run = dovetail.jit(f)",
}
_EVALUATE = """\
def evaluate(f):
    {run}
    return lambda *args: tuple([np.asarray(x) for x in run(*args)])
"""


def script_of(case: Case, title: str = "") -> str:
    """The text of a script that fails as the case does."""
    point = case.arguments(0)
    program = [*lines_of(case.program, "f", "dovetail"), "", ""]
    program += [*lines_of(case.program, "f_numpy", "numpy"), "", ""]
    what = [f"point = {_tuple(point)}", *_check(case)]
    body = "\n".join([*program, *what]) + "\n"
    definitions = _definitions(body)
    evaluate = _evaluate(case)
    if case.stack and case.mode not in ("staged", "compiled"):
        evaluate += "\n\n" + _EVALUATE.format(run=_EVALUATIONS["staged"]).replace(
            "evaluate", "known"
        )
    else:
        evaluate += "\n\nknown = evaluate\n" * bool(case.stack)
    head = "".join(f"# {line}\n" for line in title.splitlines())
    return f"{head}{_IMPORTS}\n\n{evaluate}\n\n{definitions}{body}"


def _evaluate(case: Case) -> str:
    if case.mode == "python":
        return (
            "def evaluate(f):\n"
            "    def run(*args):\n"
            "        with dovetail.disable_jit():\n"
            "            return tuple([np.asarray(x) for x in f(*map(dnp.asarray, args))])\n\n"
            "    return run\n"
        )
    run = _EVALUATIONS[case.mode]
    args = "map(dnp.asarray, args)" if case.mode == "eager" else "args"
    return _EVALUATE.format(run=run).replace("run(*args)", f"run(*{args})")


def _check(case: Case) -> list[str]:
    if case.mode == "compiled":
        lines = ["args = " + _tuple(case.arguments())]
        for t in case.stack:
            lines.append(f"f = {t!r}.apply(f)")
        lines.append('reference = dovetail.jit(f, backend="reference")')
        return [*lines, "agree(evaluate(f)(*args), reference(*args), 'compiled', 10)"]
    lines = ["agree(evaluate(f)(*point), f_numpy(*point), 'values against NumPy')"]
    if case.stack:
        for t in case.stack[:-1]:
            lines.append(f"f = {t!r}.apply(f)")
        lines.append(f"law = {case.stack[-1]!r}")
        lines.append(f"args = {_tuple(case.arguments())}")
        lines.append("stack = [" + ", ".join(map(repr, case.stack)) + "]")
        lines.append("check_under_contexts(stack, law, evaluate, known, f, law.apply(f), args)")
    return lines


def _tuple(args: Any) -> str:
    return "(" + "".join(f"{literal(x)}, " for x in args).rstrip() + ")"


_SOURCES: dict[str, str] = {  # of the code that runs: files may change meanwhile
    name: inspect.getsource(thing)
    for module in (helpers, laws, transformations, surroundings, stateful)
    for name, thing in vars(module).items()
    if getattr(thing, "__module__", "") == module.__name__
}


def _definitions(text: str) -> str:
    """The sources of the functions and classes that a text uses, and that those use."""
    needed: set[str] = set()
    todo = [text]
    while todo:
        words = set(re.findall(r"\w+", todo.pop()))
        for name in sorted((words & set(_SOURCES)) - needed):
            needed.add(name)
            todo.append(_SOURCES[name])
    return "".join(text + "\n\n" for n, text in _SOURCES.items() if n in needed)
