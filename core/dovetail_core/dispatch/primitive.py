"""Primitives, and the traces that handle them.

There is one current trace (a context variable: one per thread and task), no stack and no levels.
``Primitive.bind`` hands the operation to it; a transformation's trace holds its ``parent`` and
passes on operations that do not concern it. Outside of every trace the current one is ``EVAL``,
which evaluates.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar
from weakref import WeakSet

from dovetail_base.caches import Cache
from dovetail_base.errors import MissingRule, PluginError, RegistryError
from dovetail_base.keys import ParameterKeys, keeps_alive
from dovetail_base.plugin_calls import disable_with_warning
from dovetail_base.source import current_source, describe
from dovetail_mesh.manual_axis_types import NO_AXES, has_roles, joined

from ..registry.discovery import registry
from ..types.avals import AbstractValue
from ..types.effects import NO_EFFECTS, Effects, RetypeEffect
from ..types.type_shardings import sharding_provider
from .traits import NO_TRAITS

F = TypeVar("F", bound=Callable[..., Any])


watched: WeakSet[Trace] | None = None
"""Traces that were made since leaks are looked for (see ``leaks``); None if they are not."""


def watch_traces() -> WeakSet[Trace]:
    """The traces that were made since the first call of this function, as far as they are alive."""
    global watched
    if watched is None:
        watched = WeakSet()
    return watched


class Trace:
    """Interprets operations while it is current. ``ended`` is set when its transformation ends."""

    __slots__ = ("parent", "ended", "__weakref__")
    what = "a transformation"
    function = ""
    """The public function that applies it, such as ``vmap``, for messages."""
    is_reverse = False
    """True if a backward pass follows, so that operations are those of a forward pass."""
    computes = False
    """True if an operation on values that are all known is computed at once."""

    def __init__(self, parent: Trace | None) -> None:
        self.parent = parent
        self.ended = False
        if watched is not None:
            watched.add(self)

    @property
    def main(self) -> Any:
        """The identity of the transformation, for code that compares traces: the trace itself."""
        return self

    def replaces(self, x: Any) -> bool:
        """Return whether it replaces ``x`` by another value (see ``replacing``)."""
        return False

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Apply ``primitive``: one value, or a list where it has multiple results."""
        raise NotImplementedError

    def stand_in_for(self, local: Any) -> Any:
        """The mutable value of the parent that an operation gets in place of a local one of this
        trace; its contents are set to those of ``local``. Called under the parent; NotImplemented
        if there is none (see ``interpret.local_values``)."""
        return NotImplemented

    def read_stand_in(self, local: Any) -> None:
        """Set a local mutable value's contents to those of the parent's (see ``stand_in_for``)."""


class EvalTrace(Trace):
    """The trace outside of all others: computes results by rules that ``rules.evaluation`` sets."""

    __slots__ = ("rules", "miss", "define")
    what = "evaluation"
    computes = True

    def __init__(self) -> None:
        super().__init__(None)
        self.rules: dict[Primitive, Callable[..., Any]] = {}
        self.miss: Callable[[Primitive], Callable[..., Any]]
        self.define: Callable[[Primitive, Callable[..., Any]], None]

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        rule = self.rules.get(primitive)
        if rule is None:
            rule = self.miss(primitive)
        return rule(*args, **params)


EVAL = EvalTrace()
_current: ContextVar[Trace] = ContextVar("dovetail_trace", default=EVAL)
get_trace: Callable[[], Trace] = _current.get
set_trace = _current.set
reset_trace = _current.reset


def run_under(trace: Trace, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``f(*args, **kwargs)`` with ``trace`` as the current trace."""
    outer = get_trace()  # as in base.scopes.run_with, without its frame
    try:
        try:
            set_trace(trace)
            return f(*args, **kwargs)
        finally:
            set_trace(outer)
    finally:
        set_trace(outer)


class HeldProgram:
    """Base of the programs that primitives hold in their parameters (see ``ir.programs``)."""

    __slots__ = ()

    @property
    def is_high(self) -> bool:
        """True if a high type or primitive occurs in it."""
        raise NotImplementedError


class Inferred(NamedTuple):
    """The inferred facts about one application: result types, effects, and whether it is high."""

    avals: tuple[AbstractValue, ...]
    effects: Effects
    is_high: bool


_named: dict[str, Primitive] = {}


packages_with_primitives: set[str] = set()
"""The packages of which a module has made a primitive (no anonymous one). It only grows."""


class Primitive:
    """An operation that programs are made of.

    ``name`` is unique among installed packages (``"sin"``; third parties prefix theirs:
    ``"acme.square"``). A primitive with ``multiple_results`` binds to a list, others to one value.
    Give it a type rule with :meth:`def_abstract_eval`; a decomposition (:meth:`def_decomposition`)
    makes it work under every transformation; rules in the tables of transformations and backends
    make it better there. ``anonymous`` primitives (custom rules made at run time) do not enter the
    table of names, and tables do not keep them: they carry their own ``rules``, by the names of
    tables, and may define how a forward-style transformation lifts them whole,
    ``lift(carrier, lifted_args, params)``, so that their rules are kept. ``unlisted`` ones do not
    enter the table of names either, since another primitive may have the same name, and are like
    others in all else. ``stateful`` ones may take mutable values (all that hold sub-programs may),
    and those with ``allocates`` make one: see ``mutable``.
    """

    __slots__ = (
        "name", "multiple_results", "module", "abstract_eval", "decomposition", "regions",
        "is_high", "anonymous", "unlisted", "rules", "lift", "stateful", "allocates", "traits",
        "keys", "_effectful", "_memo", "__weakref__",
    )  # fmt: skip

    call_primitive: ClassVar[bool] = False
    """False: no primitive is a call with a function among its operands, which interpreters test."""
    map_primitive: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        *,
        multiple_results: bool = False,
        anonymous: bool = False,
        stateful: bool = False,
        allocates: bool = False,
        module: str = "",
        unlisted: bool = False,
    ) -> None:
        self.name = name
        self.multiple_results = multiple_results
        self.anonymous = anonymous
        self.unlisted = unlisted or anonymous
        self.stateful = stateful or allocates or anonymous
        self.allocates = allocates
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        self.module: str = module or frame.f_globals.get("__name__", "?")
        self.abstract_eval: Callable[..., Any] | None = None
        self.decomposition: Callable[..., Any] | None = None
        self.regions: Callable[[dict[str, Any]], Any] | None = None
        self.is_high: Callable[..., bool] | None = None
        self.rules: dict[str, Callable[..., Any]] | None = None
        self.lift: Callable[[Any, Sequence[Any], dict[str, Any]], Any] | None = None
        self.traits = NO_TRAITS
        self._effectful = False
        self._memo: Cache[Any, Inferred] = Cache()
        self.keys = ParameterKeys()
        if not anonymous:
            packages_with_primitives.add(self.module.partition(".")[0])
        if not self.unlisted:
            _claim(self)

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply to values under the current trace: evaluate, stage or transform."""
        return get_trace().process(self, args, params)

    def bind_with_trace(self, trace: Trace, args: Sequence[Any], *rest: Any) -> Any:
        """:meth:`bind` under ``trace``: ``bind_with_trace(trace, args, avals, params)``, where the
        types may be left out."""
        return run_under(trace, self.bind, *args, **rest[-1])

    @property
    def impl(self) -> Callable[..., Any]:
        """The function that computes it on concrete values: ``impl(*args, **params)``."""
        return lambda *args, **params: run_under(EVAL, EVAL.process, self, args, params)

    def def_impl(self, impl: F) -> F:
        """Set the function that computes it on concrete values: ``impl(*args, **params)``.

        Eager operations call it; compiled programs do not, nor functions of surfaces that call a
        compiled program of their own.
        """
        EVAL.define(self, impl)
        return impl

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters with which an interpreter of programs binds an equation's primitive."""
        return dict(params)

    def title(self, params: dict[str, Any]) -> str:
        """The name of an application in messages: the primitive's, or the called function's."""
        return self.name

    def def_abstract_eval(self, rule: F) -> F:
        """Set the type rule: ``rule(*avals, **params)`` returns the result type (or a list).

        It must be a pure function of types and parameters: its results are remembered.
        """
        self.abstract_eval = rule
        self._effectful = False
        return rule

    def def_effectful_abstract_eval(self, rule: F) -> F:
        """Like :meth:`def_abstract_eval`; the rule returns ``(result types, set of effects)``."""
        self.def_abstract_eval(rule)
        self._effectful = True
        return rule

    def def_decomposition(self, function: F) -> F:
        """Set a function of other primitives that does the same: ``function(*args, **params)``.

        It is used where there is no rule.
        """
        self.decomposition = function
        return function

    def def_traits(self, **traits: Any) -> Primitive:
        """Set traits of the operation: ``def_traits(linear=((0,),), ...)``.

        A second call adds to those of the first. Returns the primitive. See :class:`Traits`.
        """
        self.traits = self.traits.extended(**traits)
        return self

    def def_regions(self, function: Callable[[dict[str, Any]], Any]) -> Any:
        """Set the structural interface of a primitive that holds sub-programs.

        Raises:
            RegistryError: the primitive has a single result; regions define a list of them.
        """
        if not self.multiple_results:
            raise RegistryError(
                f"primitive {self.name!r} has regions and so a list of results: define it with "
                "Primitive(..., multiple_results=True)."
            )
        self.regions = function
        self.stateful = True
        return function

    def infer(self, avals: tuple[AbstractValue, ...], params: dict[str, Any]) -> Inferred:
        """Result types and effects of one application; remembered per types and parameters.

        Nothing is remembered for parameters with sub-programs: that would keep them and their
        constants alive, and to hash and compare them costs more than the rule. Nor for a parameter
        that is a function or another object that is equal to itself alone.
        """
        if self.regions is not None:
            return self._infer(avals, params)
        memo = self._memo
        try:
            return memo[(avals, self.keys.of(params)) if params else avals]
        except KeyError:
            pass
        except TypeError:  # an unhashable parameter
            return self._infer(avals, params)
        result = self._infer(avals, params)
        if self.is_high is not None and any(a.is_mutable for a in avals):
            return result
        for value in params.values():
            if keeps_alive(value) or isinstance(value, HeldProgram):
                return result
        with suppress(TypeError):
            memo[(avals, self.keys.new(params)) if params else avals] = result
        return result

    @property
    def variable(self) -> str:
        """The conventional name of the variable that holds it: ``sin_p``."""
        return f"{self.name.rpartition('.')[2].replace('-', '_')}_p"

    def _infer(self, avals: tuple[AbstractValue, ...], params: dict[str, Any]) -> Inferred:
        if self.abstract_eval is None:
            raise MissingRule(
                f"primitive {self.name!r} ({self.module}) has no type rule, which is asked for"
                f"{describe(current_source())}. Define one with "
                f"@{self.variable}.def_abstract_eval."
            )
        # Evaluated, a high primitive runs its rule on the values themselves, also mutable ones.
        if not self.stateful and (self.is_high is None or get_trace() is not EVAL):
            for a in avals:
                if a.is_mutable:
                    self._refuse(a)
        types: Sequence[AbstractValue] = avals
        vma = NO_AXES.union(*[a.vma for a in avals])
        if vma and self.regions is not None:
            # Axes in the types of sub-programs' inputs are left to their own types.
            regions = self.regions(params).regions
            vma = vma.difference(*[a.vma for r in regions for a in r.program.in_avals])
        elif vma:
            types = [a.with_vma(NO_AXES) for a in avals]
        divided = (
            self.regions is None
            and not self.traits.divides
            and any(a.divided is not None for a in avals)
        )
        if divided:
            types = [a.without_sharding() for a in types]
        result = self.abstract_eval(*types, **params)
        outs, effects = result if self._effectful else (result, NO_EFFECTS)
        results: Sequence[AbstractValue] = outs if self.multiple_results else (outs,)
        varies = self.traits.varies
        if varies is not None:
            vma = varies(vma, params)
        if vma and self.regions is None and has_roles(vma):
            vma = joined(self, avals, params, vma)
        if vma:
            results = [a.with_vma(vma | a.vma) for a in results]
        if divided:
            results = sharding_provider().infer(self, avals, params, results)
        high = any(a.is_high for a in (*avals, *results)) or self._is_high(params, effects)
        return Inferred(tuple(results), frozenset(effects), high)

    def _is_high(self, params: dict[str, Any], effects: Any) -> bool:
        """Return whether an application is high, apart from the types of operands and results."""
        high = self.is_high is not None and self.is_high(**params)
        high = high or (self.regions is not None and self.holds_high(params))
        return high or any(e.__class__ is RetypeEffect for e in effects)

    def holds_high(self, params: dict[str, Any]) -> bool:
        """Return whether one of the sub-programs in the parameters is high."""
        for value in params.values():
            for program in value if value.__class__ is tuple else (value,):
                if not isinstance(program, HeldProgram):
                    break  # a tuple of something else
                if program.is_high:
                    return True
        return False

    def _refuse(self, aval: AbstractValue) -> NoReturn:
        raise TypeError(
            f"{self.name} takes values, got {aval.str_short()}{describe(current_source())}, which "
            "is mutable. Pass what it holds: ref[...]."
        )

    def forget(self) -> None:
        """Drop remembered types."""
        self._memo.clear()

    def __repr__(self) -> str:
        return self.name


def _claim(primitive: Primitive) -> None:
    """Enter the name in the table. A plugin's primitive replaces one of a user's module."""
    name, module = primitive.name, primitive.module
    other = _named.get(name)
    if other is not None and other.module != module:
        text = f"primitive {name!r} is defined by {other.module} and by {module}"
        if registry().precedence(module) <= registry().precedence(other.module):
            raise RegistryError(
                f"{text}. Rename one of them (third parties prefix names with their package's: "
                "'acme.square')."
            )
        disable_with_warning(text, more=f". The name is that of {module}; rename the other one.")
    _named[name] = primitive


class _Primitives(dict[str, Primitive]):
    """Primitives by name; for a missing one the modules of all plugins are imported."""

    def __missing__(self, name: str) -> Primitive:
        import_primitives()
        return _named[name]


def primitives() -> dict[str, Primitive]:
    """The named primitives of all modules imported so far, by name; ``primitives()[name]`` imports
    those of plugins where none has that name."""
    return _Primitives(_named)


def import_primitives() -> None:
    """Import every module that active plugins name as defining primitives.

    One that does not import is set aside with a warning.
    """
    result = registry()
    for name, manifest in result.active.items():
        for module in manifest.primitives:
            try:
                result.plugins[name].load("primitives", target=module)
            except PluginError as e:
                disable_with_warning(str(e), e)
