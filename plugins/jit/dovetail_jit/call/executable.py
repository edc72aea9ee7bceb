"""From an executable to an execution: a program compiled for a device, and how it is run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from dovetail_backends import (
    LoweredModule,
    any_custom_layout,
    asarray_in,
    asarray_on,
    has_layout,
    in_default_layout,
    is_default_order,
    note_custom_layout,
    release_donated,
    shardings_of,
    with_layout,
)
from dovetail_core import (
    ClosedJaxpr,
    HiType,
    float0,
    low_types,
    lower_values,
    raise_values,
    registry,
    typeof,
)
from dovetail_tree.util import calls, tree_unflatten
from dovetail_xla import execution
from dovetail_xla.arrays import (
    ArrayImpl,
    HostInput,
    XlaRuntimeError,
    block_until_ready,
    typed_with_sharding,
)
from dovetail_xla.execution import FastPath
from dovetail_xla.shardings import single_device_sharding

from ..options import no_execution, refuse_execution
from .effects import expect_callbacks, run_with_effects
from .observers import Run, notify_observers, timing, watching
from .request import Request


class Successor(Protocol):
    """The full executable of a program that runs provisionally until it is there."""

    @property
    def is_given_up(self) -> bool:
        """Tell whether it is not made any more: the provisional one is called as any other is."""
        ...

    def take(self) -> Any | None:
        """The runtime's executable if it is there; does not wait."""
        ...

    def wait(self) -> Any:
        """The runtime's executable; made now, if it is not being made."""
        ...


class Runnable:
    """Something that runs a program: an :class:`Executable`, or what a provider runs instead.

    Attributes:
        compiled: the compiled executable, if there is one.
        is_provisional: whether it will be exchanged for a better one, so that C++ must not repeat
            its calls.
        calls_python: whether the program calls functions of Python, whose exceptions are its
            caller's.
    """

    compiled: Executable | None = None
    is_provisional: bool = True
    calls_python: bool = False

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any] | None:
        """The results for a program's (flat) arguments; ``committed``: bound to their devices.

        A provisional one may return None: it does not run on these, and the compiled one does.
        """
        raise NotImplementedError

    def exchange(self, request: Request) -> Runnable:
        """Return what runs the program from now on: a better one, if there is one.

        This is called before each call of a provisional one. If ``request.may_be_provisional`` is
        off, it waits for the better one.
        """
        return self

    def repeat(
        self, out_tree: Any, committed: bool, operands: Sequence[Any], consts: Sequence[Any] = ()
    ) -> tuple[FastPath | None, bool]:
        """Return the path by which C++ repeats a call with ``operands``, or None; and whether
        Python must look the executable up again at the next such call.

        Args:
            consts: leading arguments that every call has in common.
        """
        return None, True


class Executable(Runnable):
    """A compiled program, with the compiler options that were given.

    Attributes:
        profile: "quick" where it is one operation, compiled for itself.
        device: where it runs; the first of several. sharding: of its results on one device.
        ins, outs: the sharding of each array that it takes, constants first, and returns.
        successor: of a provisional one, the source of the full one.
        was_loaded: whether the runtime made it of bytes; such a one cannot be serialized.
    """

    options: Mapping[str, Any] = {}
    profile = "default"
    successor: Successor | None = None
    was_loaded = False

    def __init__(
        self, module: LoweredModule, loaded: Any, device: Any, in_avals: Sequence[Any]
    ) -> None:
        self.module = module
        self.loaded = loaded
        self.device = device
        self.in_avals = list(in_avals)
        self.sharding = single_device_sharding(device)
        self.partition = module.partition
        if self.partition is None:
            self.ins = [self.sharding] * (len(module.const_args) + sum(module.kept))
            self.outs = [self.sharding] * len(module.out_avals)
        else:
            self.ins, self.outs = partitioned_shardings(module, loaded, self.in_avals)
        self.result_types = module.out_avals
        if self.partition is None or self.partition.grid.has_explicit_axes:
            self.result_types = tuple(map(typed_with_sharding, module.out_avals, self.outs))
        self.constants = [
            self._array(c, typeof(c).strong(), s) for c, s in zip(module.const_args, self.ins)
        ]
        self._layouts = self._required_layouts()
        self._handlers: dict[bool, list[Any]] = {}
        self._is_new = bool(self.partition) and not self.partition.devices.is_fully_addressable
        # The runtime has no arrays of float0, the tangents of integers: they are NumPy's.
        if self.calls_python:
            expect_callbacks(device.client)
        self._nothing = {i: a.shape for i, a in enumerate(module.out_avals) if a.dtype == float0}

    @property
    def calls_python(self) -> bool:
        """Tell whether the program calls functions of Python, whose exceptions are its caller's."""
        return bool(self.module.host_callbacks)

    @property
    def compiled(self) -> Executable:
        return self

    @property
    def is_provisional(self) -> bool:
        """Tell whether it will be exchanged for a better one: C++ must not repeat its calls."""
        return self.successor is not None and not self.successor.is_given_up

    def exchange(self, request: Request) -> Executable:
        """Run the full executable from now on, if it is there; wait for it where it is needed."""
        if (successor := self.successor) is not None:
            result = successor.take() if request.may_be_provisional else successor.wait()
            if result is not None:
                self.loaded, self.successor, self.was_loaded = result, None, True
        return self

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any]:
        """Run on the program's (flat) arguments.

        Raises:
            RuntimeError: the option ``no_execution`` forbids it.
        """
        if no_execution.value:
            refuse_execution(self.module.name)
        if self._is_new:
            self._compare()
        kept = self._taken(leaves)
        handlers = self._handlers.get(committed)
        if handlers is None:
            handlers = execution.result_handlers(self.result_types, self.outs, committed)
            self._handlers[committed] = handlers
        arrays = [*self.constants, *kept]
        effects, hear = self.module.effects, timing.hear
        start = time.perf_counter() if hear is not None else 0.0
        out: list[Any]
        if effects:
            ordered = any(e.ordered for e in effects)
            out = run_with_effects(self.loaded, arrays, handlers, ordered)
        else:
            out = execution.run(self.loaded, arrays, handlers)
        if hear is not None:
            with suppress(XlaRuntimeError):  # reading the results raises it
                block_until_ready(out)
            hear(self, time.perf_counter() - start)
        for x, d in zip(kept, self.module.donated):
            # The runtime has taken its memory, if the compiler has chosen so: now C++ sends its use
            # to Python.
            if d and x.is_deleted():
                release_donated(x, self.module.name)
        for i, shape in self._nothing.items():
            out[i] = np.zeros(shape, float0)
        return out

    def _taken(self, leaves: Sequence[Any]) -> list[Any]:
        """The arguments that the program uses, in the types and layouts that it takes."""
        triples = zip(leaves, self.in_avals, self.module.kept)
        given = [(x, a) for x, a, keep in triples if keep]
        own = self.ins[len(self.constants) :]
        orders = self._layouts or [None] * len(own)
        return [self._with_layout(x, a, s, o) for (x, a), s, o in zip(given, own, orders)]

    def _compare(self) -> None:
        """Check, before the first run on devices of several processes, that all of them run it."""
        processes = registry().provider("processes", None)
        if processes is not None:
            assert self.partition is not None
            takes = ", ".join(a.str_short() for a in self.in_avals)
            processes.compare_program(
                f"{self.module.name}({takes})", self.module.text, set(self.partition.devices)
            )
        self._is_new = False

    def repeat(
        self, out_tree: Any, committed: bool, operands: Sequence[Any], consts: Sequence[Any] = ()
    ) -> tuple[FastPath | None, bool]:
        """See :meth:`Runnable.repeat`.

        C++ repeats no call of a program with effects, whose end and order are kept in Python, or
        with results of float0; none while it is provisional or observed; none where an operand is
        copied to another layout first, or divided in another way. (C++ tells calls apart by the
        layouts and the shardings of arrays.)
        """
        if self.is_provisional:
            return None, True
        if timing.hear is not None or self.module.effects or self._nothing or watching():
            return None, False
        given = [*consts, *operands]
        if self.needs_relayout(given) or self.needs_resharding(given):
            return None, False
        return self._fast_path(out_tree, committed, operands, consts), False

    def _fast_path(
        self, out_tree: Any, committed: bool, operands: Sequence[Any], consts: Sequence[Any]
    ) -> FastPath | None:
        common = [
            self._array(c, a, s) for c, a, s in zip(consts, self.in_avals, self.input_shardings())
        ]
        return FastPath(
            self.loaded,
            out_tree,
            self.ins,
            self.outs,
            self.result_types,
            [committed] * len(self.outs),
            [*[True] * len(self.constants), *self.module.kept],
            self._from_host([*common, *operands]),
            [*self.constants, *common],
        )

    def _from_host(self, operands: Sequence[Any]) -> list[Any]:
        """The layouts of inputs for C++: those of NumPy arrays, which are copied."""
        given = zip(operands, self.in_avals, self.input_shardings(), self.module.kept)
        return [
            *[None] * len(self.constants),
            *[
                HostInput(a, s) if isinstance(x, np.ndarray) else None
                for x, a, s, keep in given
                if keep
            ],
        ]

    def _required_layouts(self) -> list[tuple[int, ...]] | None:
        """The order of axes in memory of each array that the program takes, constants left out;
        None where all is as usual."""
        if self.module.layouts is None:
            return None
        layouts = execution.parameter_layouts(self.loaded)
        if not all(is_default_order(x[0]) for x in execution.output_layouts(self.loaded)):
            note_custom_layout()
        return [x[0] for x in layouts[len(self.constants) :]]

    def required_layouts(self) -> list[tuple[int, ...] | None] | None:
        """The order in memory of each input, None for those that are not taken; None where all is
        as usual."""
        if self._layouts is None:
            return None
        own = iter(self._layouts)
        return [next(own) if keep else None for keep in self.module.kept]

    def needs_relayout(self, operands: Sequence[Any]) -> bool:
        """Tell whether an operand is copied to another layout first: C++ would take it as it is."""
        orders = self.required_layouts()
        if orders is None:
            return any_custom_layout(operands)
        arrays = lower_values(operands, f"asked for to call {self.module.name}")
        for x, order in zip(arrays, orders):
            there = x.__class__ is ArrayImpl
            if order is not None and not (
                has_layout(x, order) if there else is_default_order(order)
            ):
                return True
        return False

    def needs_resharding(self, operands: Sequence[Any]) -> bool:
        """Tell whether an operand is on the program's devices and divided in another way: C++ would
        take it as it is."""
        if self.partition is None:
            return False
        count = len(self.partition.devices)
        arrays = lower_values(operands, f"asked for to call {self.module.name}")
        for x, a, s in zip(arrays, self.in_avals, self.input_shardings()):
            if x.__class__ is ArrayImpl and s is not None and x._sharding is not s:
                own = x._sharding
                if len(own._internal_device_list) == count and not own.is_equivalent_to(s, a.ndim):
                    return True
        return False

    def input_shardings(self) -> list[Any]:
        """The sharding of each input, None for those that the program does not take."""
        own = iter(self.ins[len(self.constants) :])
        return [next(own) if keep else None for keep in self.module.kept]

    def _array(self, x: Any, aval: Any, sharding: Any) -> Any:
        if x.__class__ is ArrayImpl and x._sharding is sharding and not x.is_deleted():  # type: ignore[union-attr]
            return in_default_layout(x)
        if self.partition is None or sharding is None:
            return asarray_on(x, aval, self.device)
        return asarray_in(x, aval, sharding)

    def _with_layout(self, x: Any, aval: Any, sharding: Any, order: tuple[int, ...] | None) -> Any:
        """An argument as the program takes it, in the required layout."""
        if order is None:
            return self._array(x, aval, sharding)
        own = x._sharding if x.__class__ is ArrayImpl and not x.is_deleted() else None
        if own is None or sharding is None or not own.is_equivalent_to(sharding, aval.ndim):
            x = self._array(x, aval, sharding)
        return x if has_layout(x, order) else with_layout(x, order)


def partitioned_shardings(
    module: LoweredModule, loaded: Any, in_avals: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """The shardings of inputs and results of a program on several devices, as requested or chosen
    by XLA. A result has the object of an equivalent one of an argument."""
    partition = module.partition
    assert partition is not None
    constants: list[Any] = [typeof(c) for c in module.const_args]
    kept = [(a, s) for a, s, keep in zip(in_avals, partition.ins, module.kept) if keep]
    taken = [*[(a, None) for a in constants], *kept]
    returned = list(zip(module.out_avals, partition.outs))
    ins, outs = execution.parameter_shardings(loaded), execution.output_shardings(loaded)

    def chosen(aval: Any, requested: Any, parts: Any) -> Any:
        return partition.grid.sharding_of(parts, aval.ndim) if requested is None else requested

    result = [chosen(a, s, p) for (a, s), p in zip(taken, shardings_of(ins, len(taken)))]
    alike: dict[Any, list[Any]] = {}
    for (a, _), s in zip(taken, result):
        alike.setdefault(a.shape, []).append(s)
    results: list[Any] = []
    for (a, s), p in zip(returned, shardings_of(outs, len(returned))):
        own = chosen(a, s, p)
        same = [x for x in alike.get(a.shape, ()) if x.is_equivalent_to(own, a.ndim)]
        results.append(same[0] if s is None and same else own)
    return result, results


class HighExecutable(Executable):
    """A compiled program with arguments or results of high types."""

    def __init__(self, module: Any, loaded: Any, device: Any, program: ClosedJaxpr) -> None:
        super().__init__(module, loaded, device, low_types(program.in_avals))
        self.out_avals: list[Any] = list(program.out_avals)
        avals = (*program.in_avals, *program.out_avals)
        self._in_python = any(isinstance(a, HiType) for a in avals)

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any]:
        """Run on high and low values; returns such."""
        arrays = lower_values(leaves, f"asked for to call {self.module.name}")
        return raise_values(super().run(arrays, committed), self.out_avals)

    def _fast_path(
        self, out_tree: Any, committed: bool, operands: Sequence[Any], consts: Sequence[Any]
    ) -> FastPath | None:
        """The path of low values, if the registry of calls knows how high ones are made of arrays.

        None if it does not: Python lowers and raises them.
        """
        if self._in_python:
            return None
        parts = [[0] * len(low_types((a,))) for a in self.out_avals]
        leaves = [a.raise_val(*p) if a.is_high else p[0] for a, p in zip(self.out_avals, parts)]
        tree = calls.flatten(tree_unflatten(out_tree, leaves))[1]
        operands, consts = (lower_values(x, "asked for to call it") for x in (operands, consts))
        return super()._fast_path(tree, committed, operands, consts)


def executable_of(
    module: LoweredModule, loaded: Any, device: Any, program: ClosedJaxpr
) -> Executable:
    """A loaded executable as one of a program."""
    if any(a.is_high for a in (*program.in_avals, *program.out_avals)):
        return HighExecutable(module, loaded, device, program)
    return Executable(module, loaded, device, program.in_avals)


def run(
    ex: Executable, program: ClosedJaxpr, name: str, operands: Sequence[Any], committed: bool
) -> list[Any]:
    """The results of an executable of ``program``, which observers are shown."""
    outs = ex.run(operands, committed)
    if watching():
        notify_observers(Run(program, name, operands, outs))
    return outs
