"""Manual computations in Shardy's words: what each device of a mesh runs by itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from .specs import axes_of
from .words import words_of


def sharding_text(
    mesh: Any, partitions: Sequence[Any], ndim: int, axes: Sequence[Any],
    unreduced: Collection[Any] = (),
) -> str:  # fmt: skip
    """How a value is divided: dimensions that are not are open to the compiler's axes, if any."""
    words = words_of(mesh)
    is_open = bool(axes) and len(axes) < len(mesh.axis_names)
    dims: list[str] = []
    for p in [*partitions, *[None] * ndim][:ndim]:
        dims.append(f"{{{', '.join([*(words[a] for a in axes_of(p)), *(['?'] * is_open)])}}}")
    sizes = ", ".join(f"{words[n]}={size}" for n, size in mesh.shape_tuple)
    left = ", ".join(words[a] for a in mesh.axis_names if a in unreduced)
    sums = f", unreduced={{{left}}}" if left else ""
    return f"<mesh<[{sizes}]>, [{', '.join(dims)}]{sums}>"


def attributes_of(ins: Sequence[str], outs: Sequence[str], mesh: Any, axes: Sequence[Any]) -> str:
    """The attributes of a manual computation along ``axes``."""
    words = words_of(mesh)
    names = ", ".join(words[a] for a in mesh.axis_names if a in axes)
    return (
        f"in_shardings = #sdy.sharding_per_value<[{', '.join(ins)}]>, "
        f"manual_axes = #sdy<manual_axes{{{names}}}>, "
        f"out_shardings = #sdy.sharding_per_value<[{', '.join(outs)}]>"
    )
