"""The names of a mesh's axes in programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import string

from .meshes import BaseMesh


def words_of(mesh: BaseMesh) -> dict[Any, str]:
    """How the axes are called in programs: as they are where that is plain."""
    plain = all(isinstance(n, str) and n for n in mesh.axis_names)
    names: Sequence[str] = (
        mesh.axis_names if plain else [f"axis{i}" for i in range(len(mesh.axis_names))]
    )
    return {n: string(text) for n, text in zip(mesh.axis_names, names)}
