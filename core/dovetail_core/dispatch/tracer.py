"""Tracers: the values that functions are called with while they are traced."""

from __future__ import annotations

from operator import attrgetter, index
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from dovetail_base import errors
from dovetail_base.source import Source, current_source, describe

from ..types.avals import AbstractValue, ShapedArray
from ..types.typeof import register_type
from .primitive import Trace, get_trace

T = TypeVar("T", bound=Trace)


class Tracer(Generic[T]):
    """A value under a trace: it has a type and stands for a value that is not known yet.

    Operators and array methods are added by the plugin that provides ``array_methods``.
    """

    __slots__ = ("_trace", "aval", "__weakref__")
    __array_priority__ = 1000
    _trace: T
    aval: AbstractValue

    def __init__(self, trace: Any = None, aval: Any = None) -> None:
        # Optional in version 1 of the interface; set by subclasses or here.
        self._trace, self.aval = trace, aval

    def concrete(self) -> Any:
        """The array that this tracer stands for if it is known while tracing, else None."""
        return None

    def origin(self) -> Source | None:
        """The user's line that made this value, if the trace knows it."""
        return None

    # Attributes of array types; other types answer through their own methods.
    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape  # type: ignore[attr-defined]

    @property
    def dtype(self) -> Any:
        return self.aval.dtype  # type: ignore[attr-defined]

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type  # type: ignore[attr-defined]

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)  # type: ignore[attr-defined]

    @property
    def size(self) -> int:
        return self.aval.size  # type: ignore[attr-defined]

    if TYPE_CHECKING:  # operators.py installs it

        def __getattr__(self, name: str) -> Any: ...

    def _is_traced_array(self) -> bool:
        return isinstance(self.aval, ShapedArray)

    def __repr__(self) -> str:
        return f"Traced<{self.aval.str_short()}> under {self._trace.what}"

    __hash__: Any = None  # so that it is no collections.abc.Hashable

    def __bool__(self) -> bool:
        self._refuse_many("used as a Python condition, which is true or false", ValueError)
        return bool(self._known(_bool_remedy, errors.TracerBoolConversionError))

    def __int__(self) -> int:
        return int(self._known(_number_remedy, errors.ConcretizationTypeError))

    def __float__(self) -> float:
        return float(self._known(_number_remedy, errors.ConcretizationTypeError))

    def __complex__(self) -> complex:
        return complex(self._known(_number_remedy, errors.ConcretizationTypeError))

    def __index__(self) -> int:
        return index(self._known(_index_remedy, errors.TracerIntegerConversionError))

    def __format__(self, spec: str) -> str:
        if spec:
            self._fail("formatted as text", _format_remedy, errors.ConcretizationTypeError)
        return repr(self)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._fail("converted to a NumPy array", _array_remedy, errors.TracerArrayConversionError)

    def __copy__(self) -> Tracer[T]:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer[T]:
        return self

    def __reduce__(self) -> NoReturn:
        self._fail("pickled", return_remedy, errors.ConcretizationTypeError)

    def _refuse_many(self, use: str, error: type[Exception]) -> None:
        """Raise ``error`` unless this is an array of one element."""
        if isinstance(self.aval, ShapedArray) and self.aval.size != 1:
            check_alive(self)
            raise error(
                f"a traced array of type {self.aval.str_short()} is {use}"
                f"{describe(current_source())}, but it has {self.aval.size} elements. "
                "Use x.any(), x.all() or x.size."
            )

    def _known(self, remedy: tuple[str, str], error: type[Exception]) -> Any:
        check_alive(self)
        known = self.concrete()
        if known is None:
            self._fail(remedy[0], remedy[1], error)
        return known

    def _fail(self, use: str, remedy: str, error: type[Exception]) -> NoReturn:
        check_alive(self)
        raise error(
            f"a value of type {self.aval.str_short()} that is being traced by {self._trace.what} "
            f"is {use}{describe(current_source())}, but it is not known while tracing"
            f"{_made(self.origin())}. {remedy}"
        )


_bool_remedy = (
    "used as a Python condition",
    "Use dovetail.lax.cond, dovetail.lax.while_loop or dovetail.numpy.where, or make the argument "
    "that it comes from static (static_argnums).",
)
_number_remedy = (
    "converted to a Python number",
    "Keep it as an array (x.astype(...) converts its type), or compute it outside of the "
    "transformed function.",
)
_index_remedy = (
    "used as a Python integer",
    "Index arrays with it directly (x[i]), use dovetail.lax.fori_loop instead of range, or make "
    "the argument that it comes from static (static_argnums).",
)
_format_remedy = (
    "Print it with dovetail.debug.print when the program runs, or format its type (x.shape, "
    "x.dtype)."
)
_array_remedy = (
    "Use the function of dovetail.numpy in place of NumPy's, or dovetail.pure_callback to call "
    "NumPy code."
)
return_remedy = "Return the value from the transformed function, and ask the array that it becomes."


def _made(source: Source | None) -> str:
    return f" (it was made{describe(source)})" if source is not None else ""


def check_alive(tracer: Tracer[Any]) -> None:
    """Raise if ``tracer`` belongs to a transformation that is over.

    Raises:
        UnexpectedTracerError: names the type, the lines that use and made it, and the remedy.
    """
    if tracer._trace.ended and not _is_replaced(tracer):  # pyright: ignore[reportPrivateUsage]
        raise errors.UnexpectedTracerError(
            f"a value of type {tracer.aval.str_short()} left {tracer._trace.what}, which is over, "  # pyright: ignore[reportPrivateUsage]
            f"and is used{describe(current_source())}{_made(tracer.origin())}. Return it from the "
            "transformed function instead of storing it in a global, an attribute or a closure."
        )


def _is_replaced(x: Any) -> bool:
    """Return whether the current trace or one of its parents replaces a value."""
    trace: Trace | None = get_trace()
    while trace is not None:
        if trace.replaces(x):
            return True
        trace = trace.parent
    return False


register_type(Tracer, attrgetter("aval"))
