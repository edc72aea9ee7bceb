"""The stages from function to executable: ``Traced``, ``Lowered``, ``Compiled``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail_backends import LoweredModule, backend_of
from dovetail_core import (
    ClosedJaxpr,
    ShapedArray,
    current_source,
    describe_source,
    generation,
    register_type,
    registry,
    typeof,
)
from dovetail_core.tree.util import tree_flatten, tree_unflatten
from dovetail_core.xla import execution

from .argument_names import array_names, leaf_names, with_names
from .boundary import boundary_of, call_boundary, refuse_aliases
from .compilation import compile_module, executable_key, lower
from .executables import Executable
from .tracing import Program


class ShapeDtypeStruct:
    """Shape and dtype of an array without its values: an argument for tracing and lowering."""

    __slots__ = ("shape", "dtype", "weak_type", "sharding")

    def __init__(
        self, shape: Sequence[int], dtype: Any, *, sharding: Any = None, weak_type: bool = False
    ) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be given")
        aval = ShapedArray(tuple(shape), dtype, weak_type)
        self.shape, self.dtype, self.weak_type = aval.shape, aval.dtype, weak_type
        self.sharding = sharding

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return ShapedArray(self.shape, self.dtype).size

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"

    def _key(self) -> Any:
        return self.shape, self.dtype, self.weak_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


register_type(ShapeDtypeStruct, lambda x: ShapedArray(x.shape, x.dtype, x.weak_type))


def shape_struct(aval: Any) -> Any:
    """What describes a value of type ``aval``: shape and dtype, or a high type itself."""
    if aval.is_high:
        return aval
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


class Traced:
    """A traced function: ``jaxpr``, ``out_info``, and ``lower()``."""

    def __init__(
        self,
        settings: Any,
        program: Program,
        in_tree: Any,
        donated: tuple[bool, ...],
        committed: Sequence[tuple[int, Any]],
    ) -> None:
        self._settings = settings
        self._program = program
        self._donated = donated
        self._committed = committed  # of the arguments, which it does not keep alive
        self.in_tree = in_tree
        self.out_tree = program.out_tree
        self.fun_name: str = settings.name

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program, closed over its constants."""
        call, n = self._program.call.jaxpr, len(self._program.consts)
        opened = call.replace(constvars=call.invars[:n], invars=call.invars[n:])
        return ClosedJaxpr(opened, self._program.consts)

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the result."""
        return tree_unflatten(self.out_tree, list(map(shape_struct, self._program.call.out_avals)))

    @property
    def trace_seconds(self) -> float:
        """How long tracing took (when this program was traced first)."""
        return self._program.seconds

    def lower(self, *, lowering_platforms: Sequence[str] | None = None) -> Lowered:
        """Lower to StableHLO for the platform the call would run on (or the one named).

        Raises:
            ValueError: there is no such platform; names those that there are.
        """
        settings = self._settings
        device, committed = settings.place_with(self._committed)
        platform = lowering_platforms[0] if lowering_platforms else backend_of(device).platform
        known = registry().entries("backends")
        if platform not in known:
            raise ValueError(
                f"{settings.name} cannot be lowered for {platform!r}"
                f"{describe_source(current_source())}: the platforms are {', '.join(known)}."
            )
        program, donated = self._callable()
        module = lower(program, settings.name, platform, donated, settings.keep_unused)
        return Lowered(self, module, device, committed)

    def _callable(self) -> tuple[ClosedJaxpr, Sequence[Any]]:
        """The program as it is lowered, and what is donated: without mutable inputs."""
        bound = boundary_of(self._program.call)
        if bound is None:
            return self._program.call, self._donated
        return bound.program, bound.donated(self._donated)


def at_rest(leaves: Sequence[Any]) -> list[Any]:
    """Arguments with what mutable ones hold in their place."""
    avals = [typeof(x) for x in leaves]
    return [y for x, a in zip(leaves, avals) for y in (a.take(x) if a.is_mutable else (x,))]


class Lowered:
    """A program in StableHLO: ``as_text()``, ``compile()``."""

    def __init__(self, traced: Traced, module: LoweredModule, device: Any, committed: bool) -> None:
        self._traced = traced
        self._generation = generation.value
        self._module = module
        self._device = device
        self._committed = committed
        self.in_tree, self.out_tree = traced.in_tree, traced.out_tree

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the result."""
        return self._traced.out_info

    @property
    def arg_names(self) -> list[str]:
        """A name for each argument of the module, after the function's: ``x``, ``state['speed']``;
        ``q.0`` and ``q.1`` for the arrays that a high value ``q`` is made of."""
        traced = self._traced
        settings, program = traced._settings, traced._program  # pyright: ignore[reportPrivateUsage]
        leaves = leaf_names(settings.fun, self.in_tree, settings.static_nums)
        names = array_names(program.call, len(program.consts), leaves)
        return [n for n, kept in zip(names, self._module.kept) if kept]

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The module as text: ``stablehlo`` (default), or ``hlo`` before optimisation.

        ``debug_info`` adds locations: where operations come from, and the names of arguments.
        """
        from dovetail_core.xla import mlir

        if dialect in (None, "stablehlo"):
            text = self._module.text
            if debug_info:
                text = with_names(text, self.arg_names)
            return mlir.pretty(text, locations=debug_info)
        if dialect == "hlo":
            return mlir.hlo_text(self._module.text)
        raise ValueError(f"unknown dialect {dialect!r}: stablehlo and hlo are known")

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The module as an MLIR object (``stablehlo``)."""
        from dovetail_core.xla import mlir

        if dialect not in (None, "stablehlo"):
            raise ValueError(f"unknown dialect {dialect!r}: stablehlo is known")
        return mlir.parse(self._module.text)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of the compiled program's cost."""
        return self.compile().cost_analysis()

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> Compiled:
        """Compile for the device that the call would run on; the call then finds it compiled.

        Raises:
            ValueError: the program was lowered for a platform that the device is not of.
        """
        traced = self._traced
        settings = traced._settings  # pyright: ignore[reportPrivateUsage]
        program, donated = traced._callable()  # pyright: ignore[reportPrivateUsage]
        options = {**settings.options, **(compiler_options or {})}
        platform = backend_of(self._device).platform
        if self._module.platform != platform:
            raise ValueError(
                f"{traced.fun_name} was lowered for {self._module.platform!r}, and {self._device} "
                f"is of platform {platform!r}. Lower it without lowering_platforms to run it there."
            )
        key = executable_key(
            self._device, donated, settings.keep_unused, options, lowered_at=self._generation,
        )  # fmt: skip
        found = program.cache.get(key)
        if found is None:
            found = compile_module(self._module, program, self._device, options)
            program.cache[key] = found
        return Compiled(self, found)


class Compiled:
    """An executable: call it, or look at it."""

    def __init__(self, lowered: Lowered, executable: Executable) -> None:
        self._lowered = lowered
        self._executable = executable
        self.in_tree, self.out_tree = lowered.in_tree, lowered.out_tree

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the result."""
        return self._lowered.out_info

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on arguments of exactly the types that were traced (static ones left out).

        Raises:
            TypeError: structure, shapes or dtypes differ; names them.
        """
        leaves, tree = tree_flatten((args, kwargs))
        traced = self._lowered._traced  # pyright: ignore[reportPrivateUsage]
        program = traced._program  # pyright: ignore[reportPrivateUsage]
        name = traced.fun_name
        if tree != traced.in_tree and (list(args), kwargs) != ([], {}):
            leaves, tree = tree_flatten((list(args), kwargs))
        if tree != traced.in_tree:
            raise TypeError(
                f"the compiled {name} was traced with arguments of structure {traced.in_tree}, "
                f"called with {tree}"
            )
        wanted: Any = program.call.in_avals[len(program.consts) :]
        for i, (x, want) in enumerate(zip(leaves, wanted)):
            got: Any = typeof(x)
            if got.strong() != want.strong():
                raise TypeError(
                    f"the compiled {name} takes {want.str_short()} as leaf {i} of its arguments, "
                    f"got {got.str_short()}. Trace and compile again for other types, or call the "
                    "jitted function itself."
                )
        committed = self._lowered._committed  # pyright: ignore[reportPrivateUsage]
        operands, bound = [*program.consts, *leaves], boundary_of(program.call)
        if bound is None:
            outs = self._executable.run(operands, committed)
        else:
            refuse_aliases(name, args, kwargs, program.consts, leaves)
            outs = call_boundary(bound, operands, (), lambda *_: self._executable, committed)
        return tree_unflatten(self.out_tree, outs)

    def as_text(self) -> str:
        """The optimised HLO."""
        return execution.hlo_text(self._executable.loaded)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of flops, bytes accessed and so on."""
        return execution.cost_analysis(self._executable.loaded)

    def memory_analysis(self) -> Any:
        """Bytes of arguments, outputs, aliases, temporaries and code."""
        return MemoryAnalysis(**execution.memory_stats(self._executable.loaded))

    def runtime_executable(self) -> Any:
        """The runtime's own object."""
        return self._executable.loaded


class MemoryAnalysis:
    """Bytes that a compiled program needs, by kind."""

    def __init__(self, **sizes: int) -> None:
        self.argument_size_in_bytes = sizes["argument"]
        self.output_size_in_bytes = sizes["output"]
        self.alias_size_in_bytes = sizes["alias"]
        self.temp_size_in_bytes = sizes["temp"]
        self.generated_code_size_in_bytes = sizes["generated_code"]

    def __repr__(self) -> str:
        parts = ", ".join(f"{k}={v}" for k, v in vars(self).items())
        return f"MemoryAnalysis({parts})"
