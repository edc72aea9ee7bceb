"""``WrappedFun``: a function with transformations of its arguments and results around it.

A transformation is a generator function: it yields arguments for what it is around, as a pair of a
tuple and a dict, gets the results, and yields its own. Or it is a function that takes what it is
around first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from functools import partial, wraps
from typing import Any, NamedTuple

from dovetail_core import Cache, ClosedJaxpr, Jaxpr, callable_name, eval_jaxpr, trace_key
from dovetail_jax_names.debug_info import DebugInfo


class StoreException(Exception):
    """An auxiliary output was read before it was stored, or was stored twice."""


class Store:
    """The auxiliary output of one transformation in one run."""

    __slots__ = ("_value", "_again")

    def __init__(self, again: bool = False) -> None:
        self._value: list[Any] = []
        self._again = again

    def store(self, value: Any) -> None:
        """Keep a value; only once, but for equal ones where that is allowed."""
        if self._value and not (self._again and self._value[0] == value):
            raise StoreException("the function ran already, and said something else")
        self._value = [value]

    def reset(self) -> None:
        """Forget the value."""
        self._value = []

    @property
    def val(self) -> Any:
        """The value."""
        if not self._value:
            raise StoreException("the function has not run yet: call it first")
        return self._value[0]

    def __bool__(self) -> bool:
        return bool(self._value)


class _Step(NamedTuple):
    """One transformation: how it runs what it is around, and where it says more."""

    apply: Callable[..., Any]
    args: tuple[Hashable, ...]
    store: Store | None


class WrappedFun:
    """A function and the transformations around it; ``call_wrapped`` runs all of them."""

    def __init__(
        self,
        f: Callable[..., Any],
        steps: tuple[_Step, ...] = (),
        params: dict[str, Any] | None = None,
        debug_info: DebugInfo | None = None,
    ) -> None:
        self.f = f
        self._steps = steps
        self.params = params or {}
        self.debug_info = debug_info or DebugInfo("function", callable_name(f))
        self.in_type = None

    @property
    def __name__(self) -> str:
        return callable_name(self.f)

    @property
    def transforms(self) -> tuple[tuple[Callable[..., Any], tuple[Hashable, ...]], ...]:
        """The transformations with their static arguments, outermost first."""
        return tuple((s.apply, s.args) for s in reversed(self._steps))

    @property
    def stores(self) -> tuple[Store | None, ...]:
        """The stores of auxiliary outputs, one per transformation, outermost first."""
        return tuple(s.store for s in reversed(self._steps))

    @property
    def f_transformed(self) -> Callable[..., Any]:
        """The function with all transformations."""
        run: Callable[..., Any] = partial(self.f, **self.params) if self.params else self.f
        for step in self._steps:
            store = () if step.store is None else (step.store,)
            run = partial(step.apply, run, *store, *step.args)
        return run

    def wrap(
        self, apply: Callable[..., Any], args: tuple[Hashable, ...], store: Store | None = None
    ) -> WrappedFun:
        """The function with one more transformation around it: ``apply(run, *args, ...)``, with the
        store after ``run`` where there is one."""
        steps = (*self._steps, _Step(apply, args, store))
        return WrappedFun(self.f, steps, self.params, self.debug_info)

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function through its transformations."""
        return self.f_transformed(*args, **kwargs)

    def replace_debug_info(self, debug_info: DebugInfo) -> WrappedFun:
        """The same function, about which other things are known."""
        return WrappedFun(self.f, self._steps, self.params, debug_info)

    def with_unknown_names(self) -> WrappedFun:
        """The same function, of whose arguments no names are known."""
        return self.replace_debug_info(self.debug_info.with_unknown_names())

    def populate_stores(self, stores: tuple[Store | None, ...]) -> None:
        """Take over what the transformations of another such function have said."""
        for own, other in zip(self.stores, stores):
            if own is not None and other is not None:
                own.reset()
                own.store(other.val)

    def _identity(self) -> tuple[Any, ...]:
        return self.f, tuple((s.apply, s.args) for s in self._steps), tuple(self.params.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrappedFun) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        steps = "".join(f"{i}: {callable_name(t)}\n" for i, (t, _) in enumerate(self.transforms))
        return f"Wrapped function:\n{steps}\nCore: {self.__name__}\n"


def wrap_init(
    f: Callable[..., Any],
    params: dict[str, Any] | None = None,
    *,
    debug_info: DebugInfo | None = None,
) -> WrappedFun:
    """A function without transformations; ``params`` are keyword arguments that it always gets."""
    if debug_info is None:
        text = "wrap_init without debug_info is deprecated: pass api_util.debug_info(...)"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
    return WrappedFun(f, (), dict(params or {}), debug_info)


def _wrapped(fun: Any) -> WrappedFun:
    """A function out of an equation's parameters is one without transformations."""
    return fun if isinstance(fun, WrappedFun) else WrappedFun(fun.call_wrapped)


def _run_generator(gen: Any, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    steps = gen(*args, **kwargs)
    given, named = next(steps)
    try:
        outs = run(*given, **named)
    except BaseException as e:
        steps.throw(e)  # what it has begun (a trace, say) ends
        raise
    result = steps.send(outs)
    steps.close()
    return result


def transformation(gen: Callable[..., Any], fun: Any = None, *static: Hashable) -> Any:
    """Put a transformation, a generator function, around a function; or, as a decorator, make the
    function ``(fun, *static)`` that does."""
    if fun is None:
        return wraps(gen)(lambda fun, *static: transformation(gen, fun, *static))
    return _wrapped(fun).wrap(_GeneratorStep(gen), static)


def transformation2(gen: Callable[..., Any], fun: Any = None, *static: Hashable) -> Any:
    """:func:`transformation` for ``gen(run, *static, *args, **kwargs)``, which calls ``run``."""
    if fun is None:
        return wraps(gen)(lambda fun, *static: transformation2(gen, fun, *static))
    return _wrapped(fun).wrap(gen, static)


def transformation_with_aux(gen: Callable[..., Any], fun: Any = None, *static: Hashable) -> Any:
    """:func:`transformation` for a generator function that yields pairs in the end: results, and
    what the function that is returned beside gives afterwards."""
    if fun is None:
        return wraps(gen)(lambda fun, *static: transformation_with_aux(gen, fun, *static))
    store = Store()
    return _wrapped(fun).wrap(_GeneratorStep(gen, True), static, store), lambda: store.val


def transformation_with_aux2(
    gen: Callable[..., Any],
    fun: Any = None,
    *static: Hashable,
    use_eq_store: bool = False,
    unk_names: bool = False,
) -> Any:
    """:func:`transformation2` for ``gen(run, store, *static, *args)``, which stores something."""
    if fun is None:
        return wraps(gen)(
            lambda fun, *static, **how: transformation_with_aux2(gen, fun, *static, **how)
        )
    store = Store(again=use_eq_store)
    wrapped = _wrapped(fun).wrap(gen, static, store)
    return (wrapped.with_unknown_names() if unk_names else wrapped), lambda: store.val


class _GeneratorStep:
    """A transformation that is written as a generator function."""

    __slots__ = ("gen", "has_aux")

    def __init__(self, gen: Callable[..., Any], has_aux: bool = False) -> None:
        self.gen = gen
        self.has_aux = has_aux

    def __call__(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not self.has_aux:
            return _run_generator(self.gen, run, *args, **kwargs)
        store, *rest = args
        result, aux = _run_generator(self.gen, run, *rest, **kwargs)
        store.store(aux)
        return result

    @property
    def __name__(self) -> str:
        return callable_name(self.gen)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _GeneratorStep) and self.gen is other.gen

    def __hash__(self) -> int:
        return hash(self.gen)


def merge_linear_aux(aux1: Callable[[], Any], aux2: Callable[[], Any]) -> tuple[bool, Any]:
    """The auxiliary output of that of two functions which has run; True before it for the first."""
    try:
        return True, aux1()
    except StoreException:
        return False, aux2()


def cache(call: Callable[..., Any], *, explain: Any = None) -> Callable[..., Any]:
    """``call(fun, *args)`` with its results cached, by what ``fun`` is made of, ``args``, and the
    options, user contexts and named axes that are set."""
    known: Cache[Any, tuple[Any, tuple[Store | None, ...]]] = Cache()

    @wraps(call)
    def keeping_exceptions(fun: WrappedFun, *args: Any) -> Any:
        key = fun, args, trace_key()
        result = known.get(key)
        if result is None:
            result = call(fun, *args), fun.stores
            known[key] = result
        else:
            fun.populate_stores(result[1])
        return result[0]

    keeping_exceptions.cache_clear = known.clear  # type: ignore[attr-defined]
    return keeping_exceptions


def program_function(program: Jaxpr | ClosedJaxpr) -> WrappedFun:
    """A program as such a function."""
    consts = program.consts if isinstance(program, ClosedJaxpr) else []
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    return wrap_init(partial(eval_jaxpr, jaxpr, consts), debug_info=jaxpr.debug_info)
