"""``debug.breakpoint``: Python's debugger at a point of a program, with the values at this point.

A traced function has returned when its program runs. So the frames of the user's code are recorded
while it is traced: their lines, and their variables, whose arrays become operands of a callback.
The callback makes frames of the same names, lines and variables again, and stops in the last one as
``breakpoint()`` does, by ``sys.breakpointhook``, which starts the debugger that is set up (in
pytest its own).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from dovetail_base.source import here, is_hidden
from dovetail_tree.util import tree_flatten, tree_unflatten

from .debug import callback


class _Frame(NamedTuple):
    """A frame of the user's code at the time of tracing, without its variables."""

    code: CodeType
    line: int
    names: dict[str, Any]


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> None:
    """Stop in Python's debugger when the program reaches this point, with the values at this point.

    The frames are those of the traced code with the variables known while it was traced; ``up`` and
    ``down`` go through them. Changes of variables have no effect. Under ``vmap`` the program stops
    once for each element, under differentiation with primal values.

    Args:
        backend: None or ``"cli"``: the debugger that ``breakpoint()`` starts.
        filter_frames: if True, frames of the framework are left out.
        num_frames: the number of frames, innermost first; None for all.
        ordered: keep the order of such stops.

    Raises:
        ValueError: there is no such backend, or ``num_frames`` is not positive.
        NotImplementedError: ``token`` is given. BdbQuit (of the debugger, when the program runs).
    """
    if backend not in (None, "cli"):
        raise ValueError(
            f"debug.breakpoint has no backend {backend!r}{here()}: it starts the debugger that "
            "sys.breakpointhook does. Set PYTHONBREAKPOINT to choose another one."
        )
    if token is not None:
        raise NotImplementedError(
            f"debug.breakpoint takes no token{here()}: pass ordered=True to keep an order"
        )
    if num_frames is not None and num_frames < 1:
        raise ValueError(f"debug.breakpoint: num_frames is at least 1, got {num_frames}{here()}")
    frames, variables = _noted(sys._getframe(1), filter_frames, num_frames)  # pyright: ignore[reportPrivateUsage]

    leaves, tree = tree_flatten(variables, _is_iterator)
    iterators = {i: x for i, x in enumerate(leaves) if _is_iterator(x)}

    def stop(*values: Any) -> None:
        result = [iterators.get(i, x) for i, x in enumerate(values)]
        _stop(frames, tree_unflatten(tree, result))

    callback(stop, *[None if _is_iterator(x) else x for x in leaves], ordered=ordered)


def _is_iterator(x: Any) -> bool:
    """True for iterators, of which functions on trees warn, as they expect containers."""
    return isinstance(x, Iterator)


def _noted(
    frame: FrameType | None, filter_frames: bool, most: int | None
) -> tuple[list[_Frame], list[dict[str, Any]]]:
    """The frames around ``frame``, innermost last, and the variables of each."""
    frames: list[_Frame] = []
    variables: list[dict[str, Any]] = []
    while frame is not None and (most is None or len(frames) < most):
        if not (filter_frames and is_hidden(frame)):
            frames.append(_Frame(frame.f_code, frame.f_lineno, frame.f_globals))
            outermost = frame.f_locals is frame.f_globals
            variables.append({} if outermost else dict(frame.f_locals))
        frame = frame.f_back
    return frames[::-1], variables[::-1]


def _stop(frames: Sequence[_Frame], variables: Sequence[dict[str, Any]]) -> None:
    """Run code for each frame that only runs the code of the next, and in the last one the hook.

    Frames call each other by ``exec``, so that there are no other frames between them.
    """
    run: Callable[..., Any] = sys.breakpointhook
    args: tuple[Any, ...] = ()
    for frame, values in zip(reversed(frames), reversed(variables)):
        names = {**frame.names, "__run__": run, "__args__": args}
        run, args = exec, (_at_line(frame), names, values or None)
    run(*args)


def _at_line(frame: _Frame) -> CodeType:
    text = "\n" * (frame.line - 1) + "__run__(*__args__)"
    code = compile(text, frame.code.co_filename, "exec")
    return code.replace(co_name=frame.code.co_name, co_qualname=frame.code.co_qualname)
