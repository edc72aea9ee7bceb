"""Policies: which intermediate values of a checkpointed function are kept.

A policy is asked for each operation, ``policy(primitive, *avals, **params)``, and says whether its
results may be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Policy = Callable[..., bool]


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


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Keep what either of two policies keeps."""
    return lambda prim, *avals, **params: (
        policy_1(prim, *avals, **params) or policy_2(prim, *avals, **params)
    )
