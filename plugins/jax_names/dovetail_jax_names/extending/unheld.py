"""Primitives of JAX that no program of Dovetail holds.

Libraries that write a rule for every primitive of JAX (the tests of quax do) ask for these by name
when they are imported. Their rules are kept, and never needed.
"""

from __future__ import annotations

from typing import Any, NoReturn

from dovetail_core import here

from .primitive import Primitive


class _Unheld(Primitive):
    """Cannot be bound."""

    def __init__(self, name: str, instead: str) -> None:
        super().__init__(name)
        self.instead = instead

    def bind(self, *args: Any, **params: Any) -> NoReturn:
        raise NotImplementedError(
            f"{self.name} is bound{here()}, but programs of Dovetail do not hold it. {self.instead}"
        )


_NO_TOKENS = "Effects that are ordered keep their order without tokens: leave it out."

after_all_p = _Unheld("after_all", _NO_TOKENS)
create_token_p = _Unheld("create_token", _NO_TOKENS)
select_and_scatter_p = _Unheld("select_and_scatter", "Differentiate jax.lax.reduce_window.")
