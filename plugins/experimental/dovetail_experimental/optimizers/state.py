"""Optimizers of pytrees made of optimizers of arrays; lengths of gradients; states as pytrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_tree.util import (
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)


class OptimizerState(NamedTuple):
    """A pytree: the leaves of each parameter's state; the structures of parameters and states."""

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


register_pytree_node(
    OptimizerState,
    lambda s: ((s.packed_state,), (s.tree_def, s.subtree_defs)),
    lambda structures, packed: OptimizerState(packed[0], *structures),
)

Params = Any
State = Any
Updates = Any
Step = int
InitFn = Callable[[Params], OptimizerState]
UpdateFn = Callable[[Step, Updates, OptimizerState], OptimizerState]
ParamsFn = Callable[[OptimizerState], Params]
Schedule = Callable[[Step], float]


class Optimizer(NamedTuple):
    """Functions that make a state, update it by gradients, and read its parameters."""

    init_fn: InitFn
    update_fn: UpdateFn
    params_fn: ParamsFn


def optimizer(opt_maker: Callable[..., tuple[Any, Any, Any]]) -> Callable[..., Optimizer]:
    """Decorator: an optimizer of one array becomes one of pytrees.

    ``opt_maker(...)`` returns ``init(x)``, ``update(step, gradient, state)`` and
    ``get_params(state)`` for one array; a state may be any pytree of arrays.
    """

    @wraps(opt_maker)
    def made(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def init_fn(params: Params) -> OptimizerState:
            leaves, tree = tree_flatten(params)
            return _packed([init(x) for x in leaves], tree)

        def update_fn(i: Step, grad_tree: Updates, opt_state: OptimizerState) -> OptimizerState:
            states = _states(opt_state)
            grads, tree = tree_flatten(grad_tree)
            if tree != opt_state.tree_def:
                raise TypeError(
                    f"the update of {opt_maker.__name__} takes gradients of the structure of the "
                    f"parameters, {opt_state.tree_def}, got {tree}{here()}"
                )
            result = _packed([update(i, g, s) for g, s in zip(grads, states)], tree)
            for before, now in zip(opt_state.subtree_defs, result.subtree_defs):
                if before != now:
                    raise TypeError(
                        f"the update of {opt_maker.__name__} changed the structure of a state from "
                        f"{before} to {now}; it must return a state like that of init{here()}"
                    )
            return result

        def params_fn(opt_state: OptimizerState) -> Params:
            return tree_unflatten(opt_state.tree_def, [get_params(s) for s in _states(opt_state)])

        return Optimizer(init_fn, update_fn, params_fn)

    return made


def _packed(states: list[Any], tree: Any) -> OptimizerState:
    flat = [tree_flatten(s) for s in states]
    return OptimizerState(tuple(x for x, _ in flat), tree, tuple(t for _, t in flat))


def _states(opt_state: OptimizerState) -> list[Any]:
    pairs = zip(opt_state.subtree_defs, opt_state.packed_state)
    return [tree_unflatten(tree, leaves) for tree, leaves in pairs]


def l2_norm(tree: Any) -> Any:
    """The Euclidean norm of all elements of a pytree."""
    return dnp.sqrt(sum(dnp.vdot(x, x) for x in tree_leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """``grad_tree``, scaled down to the norm ``max_norm`` if it is longer."""
    norm = l2_norm(grad_tree)
    return tree_map(lambda g: dnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


class JoinPoint:
    """Marks in an unpacked state where a parameter is; ``subtree`` is that parameter's state."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Iterator[Any]:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """A pytree like the parameters, with a :class:`JoinPoint` for each of them."""
    pairs = zip(opt_state.subtree_defs, opt_state.packed_state)
    points = [JoinPoint(tree_unflatten(tree, leaves)) for tree, leaves in pairs]
    return tree_unflatten(opt_state.tree_def, points)


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The state from what :func:`unpack_optimizer_state` returned.

    Raises:
        TypeError: a leaf is no :class:`JoinPoint`.
    """
    points, tree = tree_flatten(marked_pytree)
    for point in points:
        if not isinstance(point, JoinPoint):
            raise TypeError(
                f"pack_optimizer_state takes a pytree of JoinPoints, as unpack_optimizer_state "
                f"returns it, got a leaf of type {type(point).__name__}{here()}"
            )
    leaves = tuple(tree_flatten(p.subtree)[0] for p in points)
    return OptimizerState(leaves, tree, tuple(tree_structure(p.subtree) for p in points))
