"""The full executable of a program, which another process makes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

from dovetail_xla import fork

_told: list[str] = []


class Full:
    """A ``Successor``: it is asked for when it is made, and brought by another thread.

    Args:
        request: the header and the body of what is asked of the process; let go when answered.
        load: makes an executable of bytes.
        compile: compiles the program here, with a profile.
        is_next: whether the process works on an executable now.
        is_compiled: whether what runs meanwhile is compiled, so that the program may go on in it.
    """

    def __init__(
        self,
        name: str,
        request: tuple[dict[str, Any], bytes],
        load: Callable[[bytes], Any],
        compile: Callable[[str], Any],
        is_next: Callable[[Full], bool],
        is_compiled: bool = True,
    ) -> None:
        self.name = name
        self.request: tuple[dict[str, Any], bytes] | None = request
        self.load, self._compile, self._is_next = load, compile, is_next
        self._is_compiled = is_compiled
        self._loaded: Any = None
        self._failure = ""
        self._is_over = threading.Event()

    @property
    def is_given_up(self) -> bool:
        """Tell whether nobody makes it any more."""
        return bool(self._failure)

    def bring(self, loaded: Any, failure: str = "") -> None:
        """The executable is there, or why it never will be."""
        self._loaded, self._failure, self.request = loaded, failure, None
        self._is_over.set()

    def take(self) -> Any | None:
        """The runtime's executable if it is there. If it never will be, it is compiled here where
        nothing else is, and else a warning says so, once in a process."""
        if self._failure and not self._is_compiled:
            return self.wait()
        if self._failure and not _told:
            _told.append(self._failure)
            warnings.warn(
                f"{self.name} goes on in its quickly compiled form, which is slower: "
                f"{self._failure} jit(f).lower(...).compile() compiles in this process, and the "
                "option tiered='off' all programs.",
                RuntimeWarning,
                stacklevel=8,
            )
        return self._loaded

    def wait(self) -> Any:
        """The runtime's executable; compiled here if the process does not, or has others first."""
        if not fork.forked() and self._is_next(self):
            self._is_over.wait()
        return self._compile("default") if self._loaded is None else self._loaded
