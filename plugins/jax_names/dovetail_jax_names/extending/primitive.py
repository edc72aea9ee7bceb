"""``Primitive`` as authors make it: by a name that others may have, and filled in afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from dovetail_core import (
    AbstractValue,
    Inferred,
    Primitive as KernelPrimitive,
    eval_rules,
    get_trace,
    here,
    registry,
)

from .classes import Covering
from .functions import program_function

F = TypeVar("F", bound=Callable[..., Any])
REGISTERS_FOR_OTHERS = True  # origins of rules are the lines that set them here


class Primitive(KernelPrimitive, metaclass=Covering):
    """An operation that a library adds. Every primitive of Dovetail is an instance, too.

    Several may have one name. ``multiple_results`` is set after it is made. Type rules may have
    side effects: they are called again for each application, and their answers are not kept.
    """

    __slots__ = ("__dict__",)
    _covers = KernelPrimitive
    call_primitive = False
    skip_canonicalization = False
    ref_primitive = False
    is_effectful = None

    def __init__(self, name: str) -> None:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        super().__init__(name, unlisted=True, module=frame.f_globals.get("__name__", "?"))
        self._take_from_class()

    def _take_from_class(self) -> None:
        """Let what a class below this one defines hold, and not what was set here by default.

        A method ``abstract_eval`` returns ``(result types, set of effects)``; ``impl`` computes.
        """
        kind = type(self)
        for name in [n for n in vars(self) if hasattr(kind, n)]:
            del vars(self)[name]
        self._effectful = kind.abstract_eval is not KernelPrimitive.abstract_eval
        if kind.impl is not Primitive.impl:
            self.def_impl(self.impl)

    def infer(self, avals: tuple[AbstractValue, ...], params: dict[str, Any]) -> Inferred:
        """Result types and effects of one application."""
        return self._infer(avals, params)

    @property
    def impl(self) -> Callable[..., Any]:
        """Compute the primitive on concrete values: ``impl(*args, **params)``."""
        return eval_rules.rules.get(self) or super().impl

    @impl.setter
    def impl(self, impl: Callable[..., Any]) -> None:
        self.def_impl(impl)


class CallPrimitive(Primitive):
    """An operation that calls a function: ``bind(*args, subfuns=(fun,), **params)``.

    Under every trace the function, a ``WrappedFun``, is run as it is: its operations happen, or are
    recorded, one by one. A trace that defines ``process_call`` sees the call.
    """

    call_primitive = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.multiple_results = True

    def bind(self, *args: Any, subfuns: Sequence[Any], **params: Any) -> Any:
        """Run the function on the operands, under the current trace."""
        (fun,) = subfuns
        process = getattr(get_trace(), "process_call", None)
        if process is not None:
            return process(self, fun, args, params)
        return list(fun.call_wrapped(*args))

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The function, made of an equation's program, and the other parameters."""
        rest = dict(params)
        return {"subfuns": (program_function(rest.pop("call_jaxpr")),), **rest}


def call_impl(f: Any, *args: Any, **params: Any) -> Any:
    """Run a ``WrappedFun``."""
    return f.call_wrapped(*args)


call_p = CallPrimitive("call")
closed_call_p = CallPrimitive("closed_call")
call = call_p.bind


def apply_primitive(prim: Any, *args: Any, **params: Any) -> Any:
    """Compute an operation on concrete values as a compiled program, by the backend's rule."""
    return registry().provider("evaluator")(prim)(*args, **params)


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
