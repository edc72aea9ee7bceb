"""The option ``debug_key_reuse``, and what it does with each program that has run."""

from __future__ import annotations

import numpy as np

from dovetail_base.environment import as_bool
from dovetail_core import Option, current_source
from dovetail_jit import Run, watch_results

from .analysis import Spent, signature, state_of

debug_key_reuse = Option(
    "debug_key_reuse",
    False,
    "A typed key that is used a second time raises, and says where it was used before.",
    check=as_bool,
    traced=True,
)


def look(run: Run) -> None:
    """Note which keys a program has used up.

    Raises:
        KeyReuseError: one of them, or one in the program, was used up before.
    """
    if not run.program.is_high:
        return
    here = current_source()
    numbers = [x if x.__class__ in (int, np.int32, np.int64) else None for x in run.operands]
    result = signature(run.program, numbers, None if run.lines == "all" else here)
    spent = Spent()  # by this program: it may be given a key twice
    for x, keys in zip(run.operands, result.inputs):
        if keys is not None and keys.used.any():
            spent.add(state_of(x), keys.used, keys.by, keys.source or here)
    spent.use()
    for x, keys in zip(run.outs, result.outputs):
        if keys is not None:
            x.uses = keys if keys.origin is None else state_of(run.operands[keys.origin])


watch_results(debug_key_reuse, look)
