"""The function that a program was traced from, for messages and for readers of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class DebugInfo(NamedTuple):
    """The function that a program was traced from.

    Attributes:
        traced_for: the transformation that traced it (``"jit"``).
        func_src_info: the function's name, and ``at FILE:LINE`` where that is known.
        arg_names: of the arguments' leaves, None where they are not known.
        result_paths: of the results' leaves likewise; or a function that returns them.
    """

    traced_for: str
    func_src_info: str
    arg_names: tuple[str, ...] | None = None
    result_paths: tuple[str, ...] | Callable[[], tuple[str, ...]] | None = None

    @property
    def func_name(self) -> str:
        """The function's name."""
        return self.func_src_info.split(" at ")[0]

    @property
    def func_filename(self) -> str | None:
        """The file that defines it, where that is known."""
        return self._source_location()[0]

    @property
    def func_lineno(self) -> int | None:
        """The line that defines it, where that is known."""
        return self._source_location()[1]

    def _source_location(self) -> tuple[str | None, int | None]:
        file, colon, line = self.func_src_info.partition(" at ")[2].rpartition(":")
        return (file, int(line)) if colon and line.isdecimal() else (None, None)

    def with_unknown_names(self) -> DebugInfo:
        """A copy for a function of other arguments and results, whose names are unknown."""
        return self._replace(arg_names=None, result_paths=None)

    def resolve_result_paths(self) -> DebugInfo:
        """A copy with the results' paths computed, if they are a function."""
        paths = self.result_paths
        return self._replace(result_paths=tuple(paths())) if callable(paths) else self

    def set_result_paths(self, paths: Sequence[str]) -> DebugInfo:
        """A copy with other paths of results."""
        return self._replace(result_paths=tuple(paths))

    def safe_arg_names(self, expected: int) -> tuple[str, ...]:
        """The arguments' names, empty ones where there are not as many as ``expected``."""
        return _as_many(self.arg_names, expected)

    def safe_result_paths(self, expected: int) -> tuple[str, ...]:
        """The results' paths, empty ones where there are not as many as ``expected``."""
        paths = self.resolve_result_paths().result_paths
        return _as_many(None if callable(paths) else paths, expected)

    def filter_arg_names(self, keep: Sequence[bool]) -> tuple[str, ...]:
        """The names of some arguments."""
        return tuple([n for n, k in zip(self.safe_arg_names(len(keep)), keep) if k])

    def filter_result_paths(self, keep: Sequence[bool]) -> tuple[str, ...]:
        """The paths of some results."""
        return tuple([n for n, k in zip(self.safe_result_paths(len(keep)), keep) if k])


def _as_many(names: Sequence[str] | None, expected: int) -> tuple[str, ...]:
    return tuple(names) if names is not None and len(names) == expected else ("",) * expected


def of_program(name: str) -> DebugInfo:
    """The function that a program of this name was traced from: provider ``debug_info``."""
    return DebugInfo("jit", name or "<unknown>")
