"""Writing StableHLO as text: values, operations, regions and constants.

Modules are written in MLIR's generic form. Writing a line costs a fraction of a microsecond, needs
no MLIR bindings at all, and the C++ parser reads it as part of compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail_core import NO_EFFECTS, AbstractValue, ClosedJaxpr, Effects, ShapedArray, float0

from .attributes import Attribute, i64_array, spelled
from .partition import Partition, Parts
from .text import dense, identifier, tensor_type


class Val:
    """A value of the module that is being written: its SSA name, its type, and its spelling."""

    __slots__ = ("name", "aval", "type")

    def __init__(self, name: str, aval: AbstractValue, type: str) -> None:
        self.name = name
        self.aval: Any = aval
        self.type = type

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"

    def moved(self, made: Val) -> Val:
        """``made``, whose elements are those of this value, with what is known of them."""
        return made


class Constant(Val):
    """A value that depends on no argument.

    Attributes:
        array: what it was made of, whose elements are all of its elements (a scalar fills it); None
            where it is computed.
    """

    __slots__ = ("array",)

    def __init__(self, value: Val, array: np.ndarray[Any, Any] | None) -> None:
        super().__init__(value.name, value.aval, value.type)
        self.array = array

    def moved(self, made: Val) -> Val:
        return Constant(made, self.array)


def _of_constants(operands: Sequence[Val], made: Any, regions: Sequence[str]) -> Any:
    """The results of an operation, as constants if its operands are some, and so is what its
    regions use of outside."""
    if any(x.__class__ is not Constant for x in operands):
        return made
    if any(r.__class__ is not Region for r in regions):
        return made
    return Constant(made, None) if isinstance(made, Val) else [Constant(x, None) for x in made]


def definition(
    visibility: str, name: str, args: Sequence[Val], results: Sequence[Val], lines: Sequence[str]
) -> str:
    """The text of a function, whose last line returns its results."""
    head = ", ".join([f"{a.name}: {a.type}" for a in args])
    types = ", ".join([v.type for v in results])
    return f"func.func {visibility} @{name}({head}) -> ({types}) {{\n{''.join(lines)}}}\n"


class Region(str):
    """A region that is written once and used by many operations, from :func:`shared_region`.

    Attributes:
        operations, blocks: its operations and blocks, as those of :class:`ModuleText`.
    """

    operations: Sequence[Emitted]
    blocks: Sequence[Sequence[Val]]


Emitted = tuple[str, Sequence[Val], "Val | Sequence[Val]", str, Sequence[str]]
"""An operation: its name, its operands, its results, the text of its attributes, its regions."""


class ModuleText:
    """A module that is being written.

    Attributes:
        operations: the emitted operations, in order. ``blocks``: the arguments of functions and
            regions. The module's facts are computed from these (module ``facts``).
        functions: the text of its private functions. ``names``: their names, by program.
            ``results``: their results, by name. ``inlined``: programs whose operations were
            inlined, by identity. ``mlir_functions``: the names of functions that were written with
            MLIR's bindings, by their text.
        annotated: True to write a comment that names the operation above the lines of each one.
        marks: True to add annotations of equations to operations (module ``annotations``).
        partition: the devices and shardings if it runs on several devices.
        parts: the manual region that is being written, or None.
        located: the prefix of names in locations (module ``annotations``), if these are written.
        alike: the number of groups of values with equal shardings.
        divides: True if types have shardings.
    """

    def __init__(
        self,
        platform: str,
        annotated: bool = False,
        marks: bool = False,
        partition: Partition | None = None,
    ) -> None:
        self.platform = platform
        self.partition = partition
        self.parts: Parts | None = None
        self.located = ""
        self.divides = partition is not None and partition.grid.has_explicit_axes
        self.annotated = annotated
        self.marks = marks
        self.operations: list[Emitted] = []
        self.blocks: list[list[Val]] = []
        self.functions: list[str] = []
        self.callbacks: list[Callable[..., Any]] = []
        self.names: dict[Any, str] = {}
        self.results: dict[str, Sequence[Val]] = {}
        self.inlined: dict[int, ClosedJaxpr] = {}
        self.mlir_functions: dict[Any, str] = {}
        self.alike = 0
        self._used: set[str] = {"main"}

    @property
    def is_instrumented(self) -> bool:
        """True if lowering an equation does more than emitting its operations."""
        return self.annotated or self.marks

    def companion(self) -> ModuleText:
        """An empty module whose text becomes part of this one; it shares the callbacks."""
        result = ModuleText(self.platform, self.annotated, self.marks)
        result.callbacks = self.callbacks
        return result

    def add_callback(self, fun: Callable[..., Any]) -> int:
        """The number under which the module's operations call a Python function."""
        self.callbacks.append(fun)
        return len(self.callbacks) - 1

    def fresh(self, wanted: str) -> str:
        """A name that no function of the module has."""
        stem = identifier(wanted) or "fn"
        name, n = stem, 0
        while name in self._used:
            n += 1
            name = f"{stem}_{n}"
        self._used.add(name)
        return name


class Emitter:
    """Writes the operations of one function, independent of programs and rules.

    While a rule runs, ``outs`` are the result types of the operation that is being lowered and
    ``out`` the first of them.
    """

    __slots__ = (
        "module", "lines", "outs", "source", "effects", "clock", "_count", "_constants", "_record",
    )  # fmt: skip

    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self._record = module.operations.append
        self.lines: list[str] = []
        self.outs: tuple[Any, ...] = ()
        self.source: Any = None  # the user's line behind the operation that is being lowered
        self.effects: Effects = NO_EFFECTS  # of the operation that is being lowered
        self.clock: Val | None = None  # see the module effects
        self._count = 0
        self._constants: dict[Any, Val] = {}

    @property
    def platform(self) -> str:
        return self.module.platform

    @property
    def is_divided(self) -> bool:
        """True if XLA divides the operations among devices, which it cannot for custom calls."""
        divided = self.module.partition is not None and len(self.module.partition.devices) > 1
        return divided and (self.module.parts is None or not self.module.parts.has_all())

    @property
    def out(self) -> Any:
        return self.outs[0]

    def op(
        self,
        name: str,
        operands: Sequence[Val],
        out: Any,
        attrs: str | Mapping[str, Any] = "",
        regions: Sequence[str] = (),
        notes: str | Mapping[str, Any] = "",
    ) -> Any:
        """Emit an operation.

        Args:
            out: its result type (returns a ``Val``), or a sequence of types (returns a list).
            attrs: its attributes by name (see the module ``attributes``), or their text, as
                ``"dimension = 0 : i64, is_stable = true"``.
            regions: from :meth:`region`.
            notes: attributes that are not the operation's own, as ``mhlo.frontend_attributes``.
        """
        args = ", ".join([x.name for x in operands])
        types = ", ".join([x.type for x in operands])
        if not isinstance(attrs, str):
            attrs = spelled(attrs)
        props = f" <{{{attrs}}}>" if attrs else ""
        body = f" ({', '.join(regions)})" if regions else ""
        if notes:
            body += f" {{{notes if isinstance(notes, str) else spelled(notes)}}}"
        self._count = n = self._count + 1
        if isinstance(out, (list, tuple)):
            result = self._multiple(n, f'"{name}"({args}){props}{body} : ({types})', out)  # type: ignore[arg-type]
        else:
            type_ = tensor_type(out)
            self.lines.append(f'%{n} = "{name}"({args}){props}{body} : ({types}) -> {type_}\n')
            result = Val(f"%{n}", out, type_)
        if operands and operands[0].__class__ is Constant:
            result = _of_constants(operands, result, regions)
        self._record((name, operands, result, attrs, regions))
        return result

    def _multiple(self, n: int, text: str, outs: Sequence[AbstractValue]) -> list[Val]:
        types = [tensor_type(a) for a in outs]
        left = f"%{n}:{len(outs)} = " if len(outs) > 1 else f"%{n} = " if outs else ""
        self.lines.append(f"{left}{text} -> ({', '.join(types)})\n")
        if len(outs) == 1:
            return [Val(f"%{n}", outs[0], types[0])]
        return [Val(f"%{n}#{i}", a, t) for i, (a, t) in enumerate(zip(outs, types))]

    def arguments(self, avals: Sequence[AbstractValue]) -> list[Val]:
        """Fresh names for the arguments of a function or block."""
        self._count = n = self._count + 1
        result = [Val(f"%a{n}_{i}", a, tensor_type(a)) for i, a in enumerate(avals)]
        self.module.blocks.append(result)
        return result

    def terminate(self, name: str, values: Sequence[Val]) -> None:
        """End a block: ``func.return`` or ``stablehlo.return``."""
        args = ", ".join([v.name for v in values])
        types = ", ".join([v.type for v in values])
        self.lines.append(f'"{name}"({args}) : ({types}) -> ()\n')
        self._record((name, values, (), "", ()))

    def region(
        self,
        in_avals: Sequence[AbstractValue],
        body: Callable[..., Sequence[Val]],
        end: str = "stablehlo.return",
        isolated: bool = False,
    ) -> str:
        """A region of one block: ``body(b, *block_arguments)`` returns the values it yields.

        Args:
            end: the operation that yields them. isolated: True if the region may not use values
                that are defined outside.
        """
        lines, constants, outs, clock = self.lines, self._constants, self.outs, self.clock
        self.lines, self._constants = [], {} if isolated else dict(constants)
        try:
            args = self.arguments(in_avals)
            self.terminate(end, body(self, *args))
            head = ", ".join(f"{a.name}: {a.type}" for a in args)
            label = f"^bb0({head}):\n" if args else ""
            return f"{{\n{label}{''.join(self.lines)}}}"
        finally:
            self.lines, self._constants, self.outs, self.clock = lines, constants, outs, clock

    def constant(self, value: Any, aval: ShapedArray) -> Val:
        """A constant of type ``aval``; a scalar ``value`` fills it."""
        if aval.dtype == float0:
            return self.constant(False, ShapedArray(aval.shape, np.bool_))
        array = np.asarray(value, aval.dtype)
        key = (aval.shape, aval.dtype, array.tobytes(), array.shape)
        result = self._constants.get(key)
        if result is None:
            result = self._constants[key] = self._constant(array, aval)
        return result

    def _constant(self, array: np.ndarray[Any, Any], aval: ShapedArray) -> Val:
        text = dense(array)
        if array.dtype == np.bool_ and '"' in text:  # raw bytes of i1 depend on MLIR's version
            bits = self.constant(array.astype(np.uint8), aval.update(dtype=np.uint8))
            return self.op("stablehlo.convert", [bits], aval)
        if array.shape != aval.shape and array.ndim:
            raise ValueError(f"a constant of shape {array.shape} cannot fill {aval.str_short()}")
        value = f"{text} : {tensor_type(aval)}"
        if array.dtype.kind in "iu" and array.size and '"' not in text:
            attrs: Any = {"value": Attribute.of(value, int(array.reshape(-1)[0]))}
        else:
            attrs = f"value = {value}"
        return Constant(self.op("stablehlo.constant", [], aval, attrs), array)

    def broadcast(self, x: Val, shape: Sequence[int], dims: Sequence[int]) -> Val:
        """``broadcast_in_dim``: axis ``i`` of ``x`` becomes axis ``dims[i]`` of ``shape``."""
        out = x.aval.update(shape=tuple(shape))
        if out is x.aval:
            return x
        attrs = f"broadcast_dimensions = {i64_array(dims)}"
        return x.moved(self.op("stablehlo.broadcast_in_dim", [x], out, attrs))

    def broadcast_scalar(self, x: Val, aval: ShapedArray) -> Val:
        """A scalar operand in the shape of ``aval``; others as they are."""
        return x if x.aval.shape == aval.shape else self.broadcast(x, aval.shape, ())

    def convert(self, x: Val, dtype: Any) -> Val:
        """``x`` with another element type."""
        if x.aval.dtype == dtype:
            return x
        made = self.op("stablehlo.convert", [x], x.aval.update(dtype=np.dtype(dtype)))
        if isinstance(x, Constant) and x.array is not None and x.array.ndim == 0:
            return Constant(made, x.array.astype(dtype))
        return made

    def divided_alike(self, values: Sequence[Val]) -> None:
        """Give values of one shape equal shardings, in a program on several devices."""
        self.module.alike += 1
        group = {"group_id": Attribute(f"{self.module.alike} : i64")}
        for x in values:
            self.op("sdy.sharding_group", [x], (), group)

    def as_told(self, x: Val, aval: Any) -> Val:
        """``x`` with the sharding of a type, in a program on several devices."""
        return x if aval.divided is None else self.constrain(x, aval.divided, aval)

    def constrain(self, x: Val, sharding: Any, aval: Any = None) -> Val:
        """``x`` with a sharding, in a program on several devices; else ``x`` itself.

        Args:
            aval: the type of the result, if its sharding differs from that of ``x``.
        """
        partition = self.module.partition
        text = partition and partition.attribute(sharding, len(x.aval.shape))
        if text is None:
            return x
        return self.op("sdy.sharding_constraint", [x], aval or x.aval, {"sharding": text})


def shared_region(in_avals: Sequence[AbstractValue], body: Callable[..., Sequence[Val]]) -> Region:
    """A region (:meth:`Emitter.region`) that uses no values from outside, to be written once.

    Its text is the same in every operation, since no other values have its names.
    """
    b = Emitter(ModuleText(""))
    result = Region(b.region(in_avals, body).replace("%", "%shared_"))
    result.operations, result.blocks = b.module.operations, b.module.blocks
    return result
