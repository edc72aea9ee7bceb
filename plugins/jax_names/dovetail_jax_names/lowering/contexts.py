"""The arguments of lowering rules: contexts of an operation and of the module that is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from dovetail_backends import Builder, MlirFunction, ModuleText, backend as _backend
from dovetail_core import Effect
from dovetail_xla import mlir_functions as bindings


@dataclass(frozen=True)
class LoweringParameters:
    """Parameters of lowering in JAX. Here only ``override_lowering_rules`` has an effect."""

    override_lowering_rules: Any = None
    global_constant_computation: bool = False
    for_export: bool = False
    export_ignore_forward_compatibility: bool = False
    hoist_constants_as_args: bool = False


@dataclass(frozen=True)
class ShardingContext:
    """The devices of a program whose partition the compiler finds."""

    num_devices: int
    device_assignment: tuple[Any, ...] | None = None
    abstract_mesh: Any = None


@dataclass(frozen=True)
class SPMDAxisContext:
    """The mesh of a program whose parts are written by hand."""

    mesh: Any
    manual_axes: frozenset[Any] = frozenset()


AxisContext = ShardingContext | SPMDAxisContext


class ShapePolyLoweringState:
    """The names of sizes that a program leaves open; here it leaves none open."""

    def __init__(
        self, dim_vars: tuple[str, ...] = (), lowering_platforms: tuple[str, ...] | None = None
    ) -> None:
        self.dim_vars = dim_vars
        self.uses_dim_vars = bool(dim_vars)
        self.has_platform_index_argument = len(lowering_platforms or ()) > 1


class EffectTypes:
    """Classes of effects; a value of a class, or of one below it, belongs to them."""

    def __init__(self) -> None:
        self._types: set[type] = {Effect}

    def add_type(self, effect_type: type) -> None:
        """Let a class belong to them."""
        self._types.add(effect_type)

    def contains(self, effect: Any) -> bool:
        """True if an effect, or a class of effects, belongs to them."""
        result = effect if isinstance(effect, type) else type(effect)
        return issubclass(result, tuple(self._types))

    def filter_in(self, effects: Iterable[Any]) -> list[Any]:
        """Those of some effects that belong to them."""
        return [e for e in effects if self.contains(e)]

    def filter_not_in(self, effects: Iterable[Any]) -> list[Any]:
        """Those of some effects that do not belong to them."""
        return [e for e in effects if not self.contains(e)]


lowerable_effects = EffectTypes()
"""The effects that programs may have when they are compiled: all."""


class TokenSet:
    """Per effect, the value by which operations with that effect are kept in order."""

    def __init__(self, tokens: dict[Any, Any] | None = None) -> None:
        self._tokens: dict[Any, Any] = dict(tokens or {})

    @classmethod
    def create(cls, effects: Sequence[Any]) -> TokenSet:
        """A set with a new token for each effect."""
        return cls({e: bindings.dialect("stablehlo").create_token() for e in effects})

    def __len__(self) -> int:
        return len(self._tokens)

    def get(self, effect: Any) -> Any:
        """The token of an effect. Raises KeyError where there is none."""
        return self._tokens[effect]

    def items(self) -> Sequence[tuple[Any, Any]]:
        """Effects and their tokens."""
        return tuple(self._tokens.items())

    def effects(self) -> set[Any]:
        """The effects that have a token."""
        return set(self._tokens)

    def subset(self, effects: Any) -> TokenSet:
        """The tokens of some effects."""
        return TokenSet({e: self._tokens[e] for e in effects})

    def update_tokens(self, tokens: TokenSet) -> TokenSet:
        """The tokens after an operation, of which some are new."""
        return TokenSet({e: tokens._tokens.get(e, t) for e, t in self._tokens.items()})


class ModuleContext:
    """The module that is being written, and what its operations share.

    Args are those of JAX. Without ``module`` it is a new one, of ``context`` or of a new one.
    """

    def __init__(
        self,
        *,
        platforms: Sequence[str],
        backend: Any,
        axis_context: Any,
        keepalives: list[Any],
        channel_iterator: Iterator[int],
        host_callbacks: list[Any],
        lowering_parameters: LoweringParameters,
        context: Any = None,
        module: Any = None,
        ip: Any = None,
        symbol_table: Any = None,
        shape_poly_state: Any = None,
        all_default_mem_kind: bool = True,
        cached_primitive_lowerings: dict[Any, Any] | None = None,
        lowering_cache: dict[Any, Any] | None = None,
        function: MlirFunction | None = None,
    ) -> None:
        ir = bindings.ir()
        self.context = context or (bindings.new_context() if module is None else module.context)
        self.module = module or ir.Module.create(ir.Location.unknown(self.context))
        self.ip = ip or ir.InsertionPoint(self.module.body)
        self.symbol_table = symbol_table or ir.SymbolTable(self.module.operation)
        self.platforms = tuple(platforms)
        self.backend = backend
        self.axis_context = axis_context
        self.keepalives = keepalives
        self.channel_iterator = channel_iterator
        self.host_callbacks = host_callbacks
        self.lowering_parameters = lowering_parameters
        self.shape_poly_state = shape_poly_state or ShapePolyLoweringState()
        self.all_default_mem_kind = all_default_mem_kind
        self.cached_primitive_lowerings = cached_primitive_lowerings or {}
        self.lowering_cache = lowering_cache or {}
        self.function = function or self._new_function()

    @classmethod
    def of(cls, m: MlirFunction) -> ModuleContext:
        """The context of a rule that Dovetail's builder runs."""
        return cls(
            platforms=(m.platform,), backend=None, axis_context=ShardingContext(1), keepalives=[],
            channel_iterator=count(1), host_callbacks=m.builder.module.callbacks,
            lowering_parameters=LoweringParameters(), module=m.module, ip=m.insertion_point,
            function=m,
        )  # fmt: skip

    def _new_function(self) -> MlirFunction:
        text = ModuleText(self.platforms[0])
        text.callbacks = self.host_callbacks
        return MlirFunction(Builder(text), self.module, self.ip, [], [])

    def get_backend(self, optional: bool = False) -> Any:
        """The runtime's client of the platform."""
        if self.backend is None and optional:
            return None
        return self.backend or _backend(self.platforms[0]).client

    def new_channel(self) -> int:
        """A number that no other channel of the module has."""
        return next(self.channel_iterator)

    def add_host_callback(self, host_callback: Any) -> None:
        """A Python function that the module calls."""
        self.host_callbacks.append(host_callback)

    def add_keepalive(self, keepalive: Any) -> None:
        """An object that lives as long as the program."""
        self.keepalives.append(keepalive)
        if not any(keepalive is f for f in self.host_callbacks):
            # The executable keeps its callbacks, and no executable with callbacks is stored.
            self.host_callbacks.append(partial(_never_called, keepalive))

    def replace(self, **changes: Any) -> ModuleContext:
        """A copy with some attributes replaced."""
        result = object.__new__(type(self))
        result.__dict__.update({**self.__dict__, **changes})
        return result


def _never_called(kept: Any, *args: Any) -> Any:
    raise AssertionError(f"{kept!r} is no callback of the program")


@dataclass
class LoweringRuleContext:
    """The context of an operation for its lowering rule, with JAX's fields."""

    module_context: ModuleContext
    name_stack: Any
    traceback: Any
    primitive: Any
    avals_in: Sequence[Any]
    avals_out: Any
    tokens_in: TokenSet
    tokens_out: TokenSet | None
    const_lowering: dict[Any, Any] = field(default_factory=dict)
    axis_size_env: dict[Any, Any] | None = None
    dim_var_values: Sequence[Any] = ()
    jaxpr_eqn_ctx: Any = None
    platforms: Sequence[str] | None = None

    def set_tokens_out(self, tokens_out: TokenSet) -> None:
        """Say, once, which tokens come after the operation."""
        assert self.tokens_out is None, "tokens_out is set already"
        self.tokens_out = tokens_out

    def replace(self, **changes: Any) -> LoweringRuleContext:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def is_forward_compat(self) -> bool:
        """True if what is written must be readable by older versions."""
        return False


class LoweringResult(NamedTuple):
    """A lowered program: its ``ir.Module``, and the Python objects that it needs."""

    module: Any
    keepalive: Any
    host_callbacks: list[Any]
    shape_poly_state: ShapePolyLoweringState


class LoweringRuleEntry(NamedTuple):
    """A rule as it was registered."""

    rule: Callable[..., Any]
    inline: bool = True
    cacheable: bool = True
