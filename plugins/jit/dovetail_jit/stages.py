"""The stages from function to executable: ``Traced``, ``Lowered``, ``Compiled``."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from dovetail_backends import AbsentDevice, LoweredModule, Partition, backend_of, first_device
from dovetail_core import (
    ClosedJaxpr,
    Tracer,
    generation,
    here,
    passes,
    registry,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_unflatten
from dovetail_xla import execution
from dovetail_xla.arrays import ArrayImpl

from .call.executable import Executable, run
from .call.layouts import check_layouts, requested_layouts
from .call.module import Lowering, lower, module_of
from .call.mutable_arguments import boundary_of, call_boundary, refuse_aliases
from .call.placement import Committed, Wanted
from .call.program import Program
from .call.providers import compiled_for
from .call.request import CompilationKey, Request, compilation_key
from .options import warn_of_captured
from .stage_base import (
    Stage,
    argument_formats,
    array_names,
    leaf_names,
    result_formats,
    result_names,
)
from .structs import ArgInfo as ArgInfo, Format, shape_struct

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]

CompilerOptions: TypeAlias = dict[str, str | bool]
"""Options of XLA's by name."""


@runtime_checkable
class Wrapped(Protocol):
    """A function that ``jit`` made, with the stages as methods."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def trace(self, *args: Any, **kwargs: Any) -> Traced: ...
    def lower(self, *args: Any, **kwargs: Any) -> Lowered: ...
    def eval_shape(self, *args: Any, **kwargs: Any) -> Any: ...
    def clear_cache(self) -> None: ...


class Traced(Stage):
    """A traced function: ``jaxpr``, ``out_info``, and ``lower()``."""

    def __init__(
        self,
        settings: Any,
        program: Program,
        in_tree: Any,
        donated: tuple[bool, ...],
        committed: Sequence[Committed],
        consts: int,
        layouts: Wanted | None = None,
    ) -> None:
        self._settings = settings
        self._program = program
        self._donated = donated
        self._committed = committed  # of the operands, which it does not keep alive
        self._layouts = layouts
        self._consts = consts  # how many of these the function closes over
        self.in_tree = in_tree
        self.out_tree = program.out_tree
        self.fun_name: str = settings.name

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program, closed over its constants."""
        call, n = self._program.call.jaxpr, len(self._program.consts)
        constvars = [*call.invars[:n], *call.constvars]
        opened = call.replace(constvars=constvars, invars=call.invars[n:])
        return ClosedJaxpr(opened, [*self._program.consts, *self._program.call.consts])

    @property
    def out_avals(self) -> Any:
        """The types of the result."""
        return tree_unflatten(self.out_tree, list(self._result_types()))

    @property
    def out_info(self) -> Any:
        """Shapes, dtypes and requested shardings of the result."""
        pairs = zip(self._result_types(), self._requested_shardings())
        return tree_unflatten(self.out_tree, [shape_struct(a, s) for a, s in pairs])

    def _requested_shardings(self) -> Sequence[Any]:
        """The sharding of each result that ``jit`` was given, or None."""
        requested = self._settings.result_shardings
        return requested.results(self.out_tree) if requested else [None] * self.out_tree.num_leaves

    @property
    def arg_names(self) -> list[str]:
        """A name for each leaf of the arguments: ``x``, ``state['speed']``."""
        return leaf_names(self._settings.fun, self.in_tree, self._settings.static_nums)

    @property
    def trace_seconds(self) -> float:
        """The seconds that tracing took, when this program was traced first."""
        return self._program.seconds

    def lower(self, *, lowering_platforms: Sequence[str] | None = None) -> Lowered:
        """Lower to StableHLO for the platform the call would run on (or the one named).

        Raises:
            ValueError: there is no such platform; names those that there are. None is named, and
                shardings are of a mesh without devices.
        """
        settings = self._settings
        captured = [*self._program.consts, *self._program.call.consts]
        warn_of_captured(settings.name, captured)
        backend = settings.non_pjrt_backend()
        if backend is not None and not lowering_platforms:
            from .call.non_pjrt import refuse_lowering

            refuse_lowering(settings.name, backend)
        target, committed = self._target_of_call()
        if lowering_platforms:
            platform = lowering_platforms[0]
        else:
            self._check_there(target, "Name the platform, trace(...).lower(lowering_platforms=...)")
            platform = backend_of(first_device(target)).platform
        known = registry().entries("backends")
        if platform not in known:
            raise ValueError(
                f"{settings.name} cannot be lowered for {platform!r}"
                f"{here()}: the platforms are {', '.join(known)}."
            )
        program, donated = self._callable()
        partition = target if target.__class__ is Partition else None
        # Remembered: lowering a model takes as long as tracing it.
        how = Lowering(
            settings.name, platform, tuple(donated), settings.keep_unused, partition,
            self._requested_layouts(),
        )  # fmt: skip
        module = module_of(program, how, remember=True)
        return Lowered(self, module, target, committed)

    def _requested_layouts(self) -> Any:
        bound = boundary_of(self._program.call)
        wanted = self._layouts if bound is None else bound.wanted(self._layouts)
        return requested_layouts(self._callable()[0], self.fun_name, wanted)

    def _target_of_call(self) -> tuple[Any, bool]:
        """The target of a call, and whether its results would be committed to it."""
        bound = boundary_of(self._program.call)
        program = self._program.call if bound is None else bound.program
        wanted = self._settings.wanted(self._program, self.in_tree)
        if bound is not None:
            wanted = bound.wanted(wanted)
        return self._settings.target_for(self._committed, program, self._consts, wanted)

    def _check_there(self, target: Any, remedy: str) -> None:
        if first_device(target).__class__ is AbsentDevice:
            raise ValueError(
                f"{self.fun_name}{here()} is for {len(target.devices)} devices of an abstract "
                f"mesh, which are not there. {remedy}, or give shardings of a Mesh."
            )

    def _callable(self) -> tuple[ClosedJaxpr, Sequence[Any]]:
        """The program as it is lowered, and what is donated: without mutable inputs."""
        bound = boundary_of(self._program.call)
        if bound is None:
            return self._program.call, self._donated
        return bound.program, bound.donated(self._donated)


class Lowered(Stage):
    """A program in StableHLO: ``as_text()``, ``compile()``."""

    def __init__(self, traced: Traced, module: LoweredModule, target: Any, committed: bool) -> None:
        self._traced = traced
        self._program, self._donated = traced._program, traced._donated
        self._generation = generation.value
        self._module = module
        self._target = target
        self._device = first_device(target)
        self._committed = committed
        self.in_tree, self.out_tree = traced.in_tree, traced.out_tree

    @property
    def fun_name(self) -> str:
        """The function's name."""
        return self._traced.fun_name

    @property
    def out_info(self) -> Any:
        """Shapes, dtypes and requested shardings of the result; programs have no weak types."""
        pairs = zip(self._result_types(), self._traced._requested_shardings())
        return tree_unflatten(self.out_tree, [shape_struct(a.strong(), s) for a, s in pairs])

    @property
    def platform(self) -> str:
        """The platform that it was lowered for, as ``"cpu"``."""
        return self._module.platform

    @property
    def arg_names(self) -> list[str]:
        """A name for each argument of the module, after the function's: ``x``, ``state['speed']``;
        ``q.0`` and ``q.1`` for the arrays that a high value ``q`` is made of."""
        program = self._traced._program
        names = array_names(program.call, len(program.consts), self._traced.arg_names)
        return [n for n, kept in zip(names, self._module.kept) if kept]

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The module as text: ``stablehlo`` (default), or ``hlo`` before optimisation.

        ``debug_info`` adds locations: where operations come from, and the names of arguments.
        """
        from dovetail_xla import mlir

        if dialect not in (None, "stablehlo", "hlo"):
            raise ValueError(f"unknown dialect {dialect!r}: stablehlo and hlo are known")
        module = mlir.parse(self._located() if debug_info else self._module.text)
        if debug_info:
            mlir.name_arguments(module, self.arg_names)
        if dialect == "hlo":
            return mlir.hlo_text(module)
        mlir.name_results(module, result_names(self.out_tree))
        return mlir.pretty(module, locations=debug_info)

    def _located(self) -> str:
        """The module with where its operations come from; without that, where a pass makes
        something else of a module that says it."""
        from dovetail_xla import mlir

        program, donated = self._traced._callable()
        of = self._module
        how = Lowering(
            self.fun_name, of.platform, tuple(donated), self._traced._settings.keep_unused,
            of.partition, of.layouts,
        )  # fmt: skip
        located = lower(program, how, located=True).text
        where = of.platform, of.partition is not None
        if not passes.passes_for("module", *where):
            return located
        try:
            result = passes.run_passes("module", located, *where)
            bare = passes.run_passes("module", mlir.pretty(located), *where)
        except Exception:  # a pass may not expect what it never sees
            return of.text
        return result if mlir.pretty(result) == mlir.pretty(bare) else of.text

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The module as an object: MLIR's (``stablehlo``, the default) or XLA's (``hlo``)."""
        from dovetail_xla import mlir

        if dialect in (None, "stablehlo"):
            return mlir.parse(self._module.text)
        if dialect == "hlo":
            return mlir.computation(self._module.text)
        raise ValueError(f"unknown dialect {dialect!r}: stablehlo and hlo are known")

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of the compiled program's cost."""
        return self.compile().cost_analysis()

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> Compiled:
        """Compile for the device that the call would run on; the call then finds it compiled.

        Raises:
            ValueError: the program was lowered for a platform that the device is not of.
        """
        traced = self._traced
        traced._check_there(self._target, "Lowering is all that is possible")
        program = traced._callable()[0]
        options = self._options(compiler_options)
        platform = backend_of(self._device).platform
        if self._module.platform != platform:
            raise ValueError(
                f"{traced.fun_name} was lowered for {self._module.platform!r}, and {self._device} "
                f"is of platform {platform!r}. Lower it without lowering_platforms to run it there."
            )
        request = Request(
            program, self._module.name, self._key(options), options, is_explicit=True,
            module=self._module,
        )  # fmt: skip
        return Compiled(self, compiled_for(request))

    def _options(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return {**self._traced._settings.options, **(more or {})}

    def _key(self, options: Mapping[str, Any]) -> CompilationKey:
        """Under what the program remembers its executable."""
        donated, keep_unused = self._traced._callable()[1], self._traced._settings.keep_unused
        return compilation_key(
            self._target, donated, keep_unused, options, layouts=self._module.layouts,
            lowered_at=self._generation,
        )  # fmt: skip


def executable_identity(lowered: Lowered) -> Hashable:
    """The key of the executable of a lowered program, while that lives: of two with equal keys the
    second is not compiled once the first one is."""
    return id(lowered._traced._callable()[0]), lowered._key(lowered._options())


class Compiled(Stage):
    """An executable: to be called, or inspected."""

    def __init__(self, lowered: Lowered, executable: Executable) -> None:
        self._lowered = lowered
        self._program, self._donated = lowered._program, lowered._donated
        self._executable = executable
        self.in_tree, self.out_tree = lowered.in_tree, lowered.out_tree

    @property
    def out_info(self) -> Any:
        """Shapes, dtypes and shardings of the result."""
        pairs = zip(self._result_types(), self._result_shardings())
        return tree_unflatten(self.out_tree, [shape_struct(a.strong(), s) for a, s in pairs])

    @property
    def input_shardings(self) -> Any:
        """The shardings that arguments must have; None for those that the program does not use."""
        return self._arguments([f.sharding for f in self._formats()])

    @property
    def output_shardings(self) -> Any:
        """The shardings of results."""
        return tree_unflatten(self.out_tree, self._result_shardings())

    def _result_shardings(self) -> list[Any]:
        return [f.sharding for f in result_formats(self._executable, self._result_types())]

    @property
    def input_formats(self) -> Any:
        """The formats that arguments must have."""
        return self._arguments(self._formats())

    @property
    def output_formats(self) -> Any:
        """The formats of results; layouts of what is made of arrays are None."""
        result = result_formats(self._executable, self._result_types())
        return tree_unflatten(self.out_tree, result)

    def _formats(self) -> list[Format]:
        return argument_formats(self._executable, self._program)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on arguments of exactly the types that were traced (static ones left out).

        Raises:
            TypeError: structure, shapes or dtypes differ, or one is traced; names them.
            ValueError: an array lies in memory in another layout than was requested, or chosen; or
                it is bound to other devices than the program takes it on, or otherwise divided.
        """
        program, name = self._program, self._lowered._traced.fun_name
        leaves = self._checked(name, args, kwargs)
        self._check_shardings(name, leaves)
        committed = self._lowered._committed
        operands, bound = [*program.consts, *leaves], boundary_of(program.call)
        if bound is None:
            check_layouts(self._executable, operands, chosen=True)
            outs = run(self._executable, program.call, name, operands, committed)
        else:
            refuse_aliases(name, args, kwargs, program.consts, leaves)
            outs = call_boundary(bound, name, operands, (), lambda *_: self._executable, committed)
        return tree_unflatten(self.out_tree, outs)

    def _checked(self, name: str, args: Any, kwargs: Any) -> list[Any]:
        """The leaves of arguments of the types that were traced."""
        leaves, tree = tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise TypeError(
                f"the compiled {name} was traced with arguments of structure {self.in_tree}, "
                f"called with {tree}"
            )
        wanted: Any = self._types()
        for i, (x, want) in enumerate(zip(leaves, wanted)):
            if isinstance(x, Tracer):
                raise TypeError(
                    f"the compiled {name} is called{here()} with {x!r}: it runs as it is, and "
                    "cannot be transformed. Call the jitted function instead."
                )
            got: Any = typeof(x)
            if got.strong() != want.strong():
                raise TypeError(
                    f"the compiled {name} takes {want.str_short()} as leaf {i} of its arguments, "
                    f"got {got.str_short()}. Trace and compile again for other types, or call the "
                    "jitted function itself."
                )
        return leaves

    def _check_shardings(self, name: str, leaves: Sequence[Any]) -> None:
        """Refuse committed arrays with another sharding than the program takes."""
        shardings = self._executable.input_shardings()
        consts = len(self._program.consts)
        if len(shardings) != consts + len(leaves):  # of high types, which are several arrays each
            return
        for i, (x, sharding) in enumerate(zip(leaves, shardings[consts:])):
            if (
                sharding is None
                or x.__class__ is not ArrayImpl
                or not x._committed
                or x.is_deleted()
            ):
                continue
            own = x._sharding
            if own is not sharding and not own.is_equivalent_to(sharding, x.ndim):
                raise ValueError(
                    f"the compiled {name} takes leaf {i} of its arguments with the sharding "
                    f"{sharding}, called{here()} with an array that is bound to {own}. Move it "
                    "with device_put, compile for that sharding, or call the jitted function "
                    "itself."
                )

    def as_text(self) -> str:
        """The optimised HLO."""
        return execution.hlo_text(self.runtime_executable())

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of flops, bytes accessed and so on."""
        return execution.cost_analysis(self.runtime_executable())

    def memory_analysis(self) -> Any:
        """Bytes of arguments, outputs, aliases, temporaries and code, as the runtime counts."""
        return execution.memory_stats(self._executable.loaded)

    def runtime_executable(self) -> Any:
        """The runtime's own object, with all that it was compiled from."""
        ex = self._executable
        complete = registry().provider("complete_executable", None)
        if complete is None:
            return ex.loaded
        return complete(ex.module, ex.device, ex.options, ex.loaded)
