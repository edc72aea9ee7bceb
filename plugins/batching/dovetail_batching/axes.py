"""The mapped axes of a call: ``in_axes`` and ``out_axes`` over trees, and their common length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import (
    HiType,
    here,
    is_value,
    typeof,
)
from dovetail_tree.util import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_structure,
)

from .vmappable import check_spec, classes, is_vmappable, length_of


def check_axes(**axes: Any) -> None:
    """Raise TypeError for leaves that are numbers or arrays and not integers.

    Other leaves, such as names and specs, are interpreted by the types of the arguments.
    """
    for what, tree in axes.items():
        for x in tree_leaves(tree, is_leaf=is_spec):
            is_number = isinstance(x, (float, complex)) or hasattr(x, "dtype")
            if is_number and not hasattr(x, "__index__"):
                raise TypeError(
                    f"vmap: {what}: expected an integer or None, got {x!r} of type "
                    f"{type(x).__name__}{here()}"
                )


def _is_axis(x: Any) -> bool:
    return not isinstance(x, bool) and (isinstance(x, int) or is_spec(x))


def is_spec(x: Any) -> bool:
    """True if ``x`` is a spec of a registered class (see ``register_vmappable``)."""
    return bool(classes) and any(isinstance(x, known.spec_type) for known in classes.values())


def spread_over(what: str, axes: Any, tree: Any) -> list[int | None]:
    """``axes``, an integer, None or a prefix of ``tree``, broadcast to the leaves of ``tree``."""
    spread: list[int | None] = []

    def walk(prefix: Any, subtree: Any, path: str) -> None:
        if classes and is_vmappable(subtree):
            check_spec(what + path, subtree, prefix)
            spread.append(prefix)
            return
        if is_value(subtree) and isinstance(typeof(subtree), HiType):
            spread.append(prefix)  # a spec, which the type understands
            return
        if prefix is None or _is_axis(prefix):
            if classes:  # the subtree may have values of these
                leaves = tree_leaves(subtree, is_leaf=is_vmappable)
                for x in leaves:
                    if is_vmappable(x):
                        check_spec(what + path, x, prefix)
                spread.extend([prefix] * len(leaves))
            else:
                spread.extend([prefix] * _num_leaves(subtree))
            return
        heads, prefix_def = tree_flatten(prefix, is_leaf=lambda x: x is not prefix)
        if prefix_def.num_leaves == 1 and heads and heads[0] is prefix:
            raise TypeError(f"{what}{path}: expected an integer or None, got {prefix!r}{here()}")
        subs, sub_def = tree_flatten(subtree, is_leaf=lambda x: x is not subtree)
        if prefix_def != sub_def:
            raise ValueError(
                f"{what}{path} is a {_describe(prefix)}, but the value there is a "
                f"{_describe(subtree)}{here()}. Give an integer, None, or a tree that is a "
                "prefix of the value's structure."
            )
        names = _child_paths(subtree)
        for p, s, n in zip(heads, subs, names):
            walk(p, s, path + n)

    walk(axes, tree, "")
    return spread


def _num_leaves(tree: Any) -> int:
    return tree_structure(tree).num_leaves


def _describe(tree: Any) -> str:
    if isinstance(tree, (tuple, list)):
        return f"{type(tree).__name__} of length {len(tree)}"  # type: ignore[arg-type]
    if isinstance(tree, dict):
        return f"dict with keys {sorted(map(repr, tree))}"  # type: ignore[arg-type]
    return type(tree).__name__


def _child_paths(tree: Any) -> list[str]:
    result, _ = tree_flatten_with_path(tree, is_leaf=lambda x: x is not tree)
    return [keystr(p) for p, _ in result]


def input_dims(
    name: str, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]
) -> list[int | None]:
    """The mapped axis, or None, of each leaf of a call's arguments.

    Raises:
        TypeError, ValueError: ``in_axes`` does not fit the arguments; names the leaf.
    """
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):  # type: ignore[arg-type]
        raise ValueError(
            f"vmap of {name}: in_axes has {len(in_axes)} entries, but {len(args)} positional "  # type: ignore[arg-type]
            f"arguments were passed{here()}. Give one entry per positional argument (keyword "
            "arguments are mapped over axis 0)."
        )
    dims = spread_over(f"vmap of {name}: in_axes", in_axes, args)
    dims += [0] * (len(leaves) - len(dims))
    out: list[int | None] = []
    for i, (x, d) in enumerate(zip(leaves, dims)):
        if d is None or (classes and is_vmappable(x)):
            out.append(d)
            continue
        try:
            aval: Any = typeof(x)
            if isinstance(aval, HiType):
                out.append(d)
                continue
            if aval.has_mutable_type:
                raise TypeError(
                    f"the contents of {aval.str_short()} have no common axis. Use None in in_axes "
                    "for it, and map over its contents."
                )
            ndim = aval.ndim
        except TypeError as e:
            where = leaf_names(args, kwargs)[i]
            raise type(e)(f"vmap of {name}: {where}{here()}: {e}") from None
        if not -ndim <= d < ndim:
            where = leaf_names(args, kwargs)[i]
            raise ValueError(
                f"vmap of {name}: in_axes asks for axis {d} of {where}, which has type "
                f"{typeof(x).str_short()} ({ndim} axes){here()}. Use None for values that are not "
                "mapped."
            )
        out.append(d % ndim)
    return out


def leaf_names(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The path of each leaf of a call's arguments: ``args[0]['w']``."""
    result = [
        [f"{what}{keystr(p)}" for p, _ in tree_flatten_with_path(tree, is_leaf=is_vmappable)[0]]
        for what, tree in (("args", args), ("kwargs", kwargs))
    ]
    return result[0] + result[1]


def common_size(
    name: str,
    given: int | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: list[Any],
    dims: Sequence[int | None],
) -> int:
    """The common length of the mapped axes; ``given`` is ``axis_size``.

    Raises:
        ValueError: they have several lengths, or none is mapped and none given.
    """
    sizes = [None if d is None else _length(x, d) for x, d in zip(leaves, dims)]
    result = {s for s in sizes if s is not None}
    if given is not None:
        result.add(given)
    if len(result) == 1:
        return result.pop()
    if not result:
        raise ValueError(
            f"vmap of {name}: no argument is mapped (in_axes is None everywhere){here()}. Map at "
            "least one, or pass axis_size."
        )
    names = leaf_names(args, kwargs)
    lines = [
        f"  {n} has type {_type_name(x)}, mapped over axis {d}, of length {s}"
        for n, x, d, s in zip(names, leaves, dims, sizes)
        if s is not None
    ]
    last = f"\n  axis_size={given} was given" if given is not None else ""
    raise ValueError(
        f"vmap got inconsistent sizes for array axes to be mapped of {name}{here()}; mapped axes "
        "must have one length:\n"
        + "\n".join(lines)
        + last
        + "\nSlice or broadcast them to one length, or pass in_axes with None for those not mapped."
    )


def _type_name(x: Any) -> str:
    return type(x).__name__ if is_vmappable(x) else typeof(x).str_short()


def _length(x: Any, dim: Any) -> int | None:
    if classes and is_vmappable(x):
        return length_of(x, dim)
    aval: Any = typeof(x)
    return aval.axis_size(dim) if isinstance(aval, HiType) else aval.shape[dim]
