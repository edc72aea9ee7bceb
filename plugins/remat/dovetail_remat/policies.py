"""Policies, which select the intermediate values of a checkpointed function that are kept.

A policy is called for each operation, ``policy(primitive, *avals, **params)``, and returns True if
its results may be kept, False if not, or one of the decisions in ``verdicts``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .verdicts import Offloadable, Policy, Recompute, Saveable


def everything_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep every value."""
    return True


def nothing_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep no value but the function's inputs."""
    return False


def dots_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep the results of matrix products and convolutions."""
    return prim.name in ("dot_general", "conv_general_dilated")


checkpoint_dots = dots_saveable


def dots_with_no_batch_dims_saveable(prim: Any, *avals: Any, **params: Any) -> bool:
    """Keep the results of matrix products that have no batch dimensions."""
    if prim.name != "dot_general":
        return False
    (_, _), (lhs_batch, rhs_batch) = params["dimension_numbers"]
    return not lhs_batch and not rhs_batch


checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Keep the results of matrix products without batch dimensions in another memory.

    Args:
        offload_src: the memory that they are computed in and brought back to, as ``"device"``.
        offload_dst: the memory that keeps them between the passes, as ``"pinned_host"``.
    """
    where = _offloading("offload_dot_with_no_batch_dims", offload_src, offload_dst)

    def policy(prim: Any, *avals: Any, **params: Any) -> Any:
        return where if dots_with_no_batch_dims_saveable(prim, *avals, **params) else Recompute

    return policy


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Keep the values with these names (see ``checkpoint_name``), and no others."""
    names = frozenset(names_which_can_be_saved)
    return lambda prim, *avals, **params: prim.name == "name" and params["name"] in names


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Keep the values that have a name, except for these."""
    names = frozenset(names_not_to_save)
    return lambda prim, *avals, **params: prim.name == "name" and params["name"] not in names


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Keep every value, except for those with these names."""
    names = frozenset(names_not_to_save)
    return lambda prim, *avals, **params: not (prim.name == "name" and params["name"] in names)


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Iterable[str],
    names_which_can_be_offloaded: Iterable[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Keep the values with some names, those with others in another memory, and no more.

    Args:
        names_which_can_be_saved: names of values to keep in their memory.
        names_which_can_be_offloaded: names of values to keep in memory ``offload_dst``.
        offload_src, offload_dst: as for :func:`offload_dot_with_no_batch_dims`.

    Raises:
        ValueError: a name is in both lists; says which.
    """
    saved, offloaded = frozenset(names_which_can_be_saved), frozenset(names_which_can_be_offloaded)
    both = sorted(saved & offloaded)
    if both:
        raise ValueError(
            f"save_and_offload_only_these_names: {', '.join(map(repr, both))} cannot be both in "
            "names_which_can_be_saved and in names_which_can_be_offloaded. Take each name out of "
            "one of them."
        )
    where = _offloading("save_and_offload_only_these_names", offload_src, offload_dst)

    def policy(prim: Any, *avals: Any, **params: Any) -> Any:
        name = params["name"] if prim.name == "name" else None
        return Saveable if name in saved else where if name in offloaded else Recompute

    return policy


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Keep the values that either of two policies keeps; not moved if either does not move them."""

    def policy(prim: Any, *avals: Any, **params: Any) -> Any:
        one = policy_1(prim, *avals, **params)
        if one and not isinstance(one, Offloadable):
            return one
        return policy_2(prim, *avals, **params) or one

    return policy


def _offloading(who: str, src: str, dst: str) -> Offloadable:
    for name, memory in (("offload_src", src), ("offload_dst", dst)):
        if not isinstance(memory, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{who}: {name} names a memory, as 'pinned_host', got {memory!r}")
    return Offloadable(src, dst)
