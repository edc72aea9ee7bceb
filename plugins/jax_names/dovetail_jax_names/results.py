"""Handlers that make arrays of the runtime's results (orbax and flax use those of ``pxla``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import ShapedArray
from dovetail_xla import execution

global_result_handlers: dict[type, Callable[..., Any]] = {ShapedArray: execution.result_handler}
"""By class of types: ``make(aval, sharding, committed)`` returns what turns shards to an array."""


class ResultsHandler:
    """Handlers that make arrays of the results of a run, one for each result."""

    def __init__(self, handlers: Sequence[Any], out_shardings: Sequence[Any]) -> None:
        self.handlers = list(handlers)
        self.out_shardings = list(out_shardings)

    def __call__(self, out_bufs: Sequence[Any]) -> list[Any]:
        return [handler(shards) for handler, shards in zip(self.handlers, out_bufs, strict=True)]


def global_aval_to_result_handler(aval: Any, out_sharding: Any, committed: bool) -> Any:
    """The handler that makes an array of the shards of one result."""
    return global_result_handlers[type(aval)](aval, out_sharding, committed)


def global_avals_to_results_handler(
    global_out_avals: Sequence[Any], shardings: Sequence[Any], committed: bool
) -> ResultsHandler:
    """The handlers that make arrays of the results of a run."""
    handlers = [
        global_aval_to_result_handler(aval, s, committed)
        for aval, s in zip(global_out_avals, shardings, strict=True)
    ]
    return ResultsHandler(handlers, shardings)
