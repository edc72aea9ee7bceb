"""How types say that arrays are divided along axes of a mesh: what the kernel asks a plugin for.

``ShapedArray.divided`` is None where a type says nothing of it, and that is all that programs
without such axes pay. What else it can be is the provider's (``type_sharding``): a sharding without
devices, one object for all equal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Protocol

from dovetail_base.errors import ShardingTypeError

from ..registry.discovery import registry


class Dividing(Protocol):
    """What a plugin that knows meshes says of types. Dimensions are counted from 0."""

    def around(self, ndim: int) -> Any:
        """The sharding of arrays whose type says nothing of it."""
        ...

    def shown(self, divided: Any) -> Any:
        """What a type tells, as users see it here."""
        ...

    def said(self, sharding: Any, shape: tuple[int, ...]) -> Any:
        """What types say of arrays with this sharding; None where that is nothing."""
        ...

    def text(self, divided: Any, shape: tuple[int, ...]) -> tuple[list[str], list[str]]:
        """How a type is printed: its dimensions, and what is said behind them."""
        ...

    def read(self, dims: Sequence[str], roles: Mapping[str, str]) -> Any:
        """The sharding whose :meth:`text` that is: dimensions, and what is said behind them.

        Raises:
            ValueError: there is no mesh that it can be of.
        """
        ...

    def infer(
        self, primitive: Any, avals: Sequence[Any], params: dict[str, Any], results: Sequence[Any]
    ) -> Sequence[Any]:
        """The types of an operation's results, of which ``results`` say all else."""
        ...

    def with_dimension(self, divided: Any, at: int, name: Any) -> Any:
        """With one more dimension, which is divided along the axis ``name``, if that is not None.

        ``divided`` may be None, for ``at`` dimensions or more, where a name is given."""
        ...

    def without_dimension(self, divided: Any, at: int) -> Any:
        """With one dimension less."""
        ...

    def cotangent(self, divided: Any) -> Any:
        """How cotangents of values that are divided so are."""
        ...

    def put(self, x: Any, divided: Any) -> Any:
        """``x``, traced or at rest, divided so (None: in no way that types tell)."""
        ...

    def leaving(self, axes: Set[Any], f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)``, in which sums over devices along ``axes`` are left to be done.

        Raises:
            ShardingTypeError: it is ambiguous for another reason.
        """
        ...

    def forget(self, x: Any) -> Any:
        """``x``, traced or at rest, as a value whose type tells nothing: the compiler chooses."""
        ...

    def result(
        self, sharding: Any, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """See :func:`divided_result`."""
        ...


def dividing() -> Dividing:
    """The provider ``type_sharding``.

    Raises:
        PluginError: no installed plugin provides it.
    """
    return registry().provider("type_sharding")


def dividing_or_none() -> Dividing | None:
    """The provider, or None where no plugin is installed that knows meshes."""
    return registry().provider("type_sharding", default=None)


def divided_as(x: Any, aval: Any, now: Any) -> Any:
    """``x``, of type ``now``, divided as ``aval`` says; of other types as it is."""
    wanted = aval.divided
    return x if now.divided is wanted else dividing().put(x, wanted)


def is_ambiguous(error: Exception, values: Sequence[Any]) -> bool:
    """Whether an error may be due to types that tell how ``values`` are divided: a rule that did
    not know of it may go on without (see :func:`forgotten`)."""
    if isinstance(error, ShardingTypeError):
        return True
    return isinstance(error, TypeError) and any(_divided(x) is not None for x in values)


def unreduced_along(aval: Any) -> Set[Any]:
    """The axes along which values of a type are sums over devices that are left to be done."""
    divided = getattr(aval, "divided", None)
    return frozenset() if divided is None else divided.spec.unreduced


def forgotten(values: Sequence[Any]) -> list[Any]:
    """Values (others as they are) whose types tell nothing of how they are divided, so that no
    operation on them is ambiguous."""
    return [x if _divided(x) is None else dividing().forget(x) for x in values]


def _divided(x: Any) -> Any:
    return getattr(getattr(x, "aval", None), "divided", None)


def divided_result(sharding: Any, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """``f(*args, **kwargs)``, divided as ``sharding`` says: what functions with an argument
    ``out_sharding`` do where it is given.

    Within ``f`` types tell of no axes, so that nothing is ambiguous: the compiler chooses.

    Raises:
        PluginError: no installed plugin knows meshes.
    """
    return dividing().result(sharding, f, args, kwargs)
