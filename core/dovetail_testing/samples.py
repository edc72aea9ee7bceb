"""Sample inputs of primitives, and finding those that installed plugins bring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from dovetail_base.errors import RegistryError
from dovetail_base.options import enable_x64
from dovetail_core import AbstractValue, ClosedJaxpr, Inferred, Jaxpr, Primitive, registry, typeof


def _no_params() -> dict[str, Any]:
    return {}


def _no_operands() -> dict[int, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class Sample:
    """One application of a primitive, on which the law of every rule table is tried.

    Attributes:
        args: NumPy arrays and scalars, Python scalars.
        params: parameters of the primitive.
        tags: its difficulties, so that laws can skip it: ``"empty"`` (no elements), ``"nonsmooth"``
            (not differentiable at its operands), ``"extreme"`` (limits of integers, NaN,
            infinities), ``"open-ended"`` (a loop of unknown length, which has no transpose),
            ``"wide"`` (elements of 64 bits: it is tried with ``enable_x64``), ``"tame"`` (no
            samples with other values are derived from it), or any tag that a law knows.
        scale: the size of terms that cancel in its results, if results are smaller than these:
            comparisons allow for rounding relative to it, besides that of each element.
        name: distinguishes samples of one primitive in reports; by default made from the types.
        fixed: operands, by position, that are none of ``args``: laws do not pass them, so that a
            transformation has some operands that are lifted and others that are not.
        oracle: a function that computes the results, ``oracle(*operands, **params)``, by other
            means: NumPy, SciPy, a formula. The law of evaluation compares with it. For a primitive
            that is evaluated by its decomposition or its ``to_lo`` rule nothing else can.
    """

    primitive: Primitive
    args: tuple[Any, ...]
    params: Mapping[str, Any] = field(default_factory=_no_params)
    tags: Set[str] = frozenset()
    name: str = ""
    scale: float = 0.0
    fixed: Mapping[int, Any] = field(default_factory=_no_operands)
    oracle: Callable[..., Any] | None = None

    @property
    def avals(self) -> tuple[AbstractValue, ...]:
        """The types of the arguments."""
        return tuple(typeof(x) for x in self.args)

    @property
    def operands(self) -> tuple[Any, ...]:
        """All operands in order: the arguments, and those that are fixed."""
        return self._with_fixed(self.args)

    def infer(self, avals: Sequence[AbstractValue] = ()) -> Inferred:
        """The types of the results, and the effects, from the type rule.

        ``avals``: the types of the arguments, if not their own.
        """
        types: tuple[Any, ...] = self._with_fixed(tuple(avals) or self.avals)
        fixed = [typeof(a) if i in self.fixed else a for i, a in enumerate(types)]
        return self.primitive.infer(tuple(fixed), dict(self.params))

    def bind(self, *args: Any) -> Any:
        """The primitive with this sample's parameters, on ``args`` (its own if none are given)."""
        return self.primitive.bind(*self._with_fixed(args or self.args), **self.params)

    def _with_fixed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self.fixed:
            return args
        rest = iter(args)
        count = len(self.args) + len(self.fixed)
        return tuple(self.fixed[i] if i in self.fixed else next(rest) for i in range(count))

    def flat(self, *args: Any) -> list[Any]:
        """Like :meth:`bind`; a list of results also where the primitive has one."""
        out = self.bind(*args)
        return list(out) if self.primitive.multiple_results else [out]

    @property
    def label(self) -> str:
        """A short name for reports."""
        types = ",".join(a.str_short() for a in self.avals)
        params = ",".join(f"{k}={_brief(v)}" for k, v in self.params.items())
        tags = "".join(f" {t}" for t in sorted(self.tags))
        return self.name or f"{types}{' ' if params else ''}{params}{tags}"

    def __str__(self) -> str:
        return f"{self.primitive.name}({self.label})"


SampleSource = Callable[[], Iterable[Sample]]


def samples_of(module: str) -> Iterator[Sample]:
    """The samples of a module, which its function ``samples()`` yields.

    Raises:
        RegistryError: the module has no such function, or it yields something else.
    """
    source: SampleSource | None = getattr(import_module(module), "samples", None)
    if source is None:
        raise RegistryError(f"{module} is named in a manifest's samples and has no samples()")
    for result in source():
        if not isinstance(result, Sample):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RegistryError(f"{module}.samples() yields {result!r}, which is not a Sample")
        yield result


def all_samples() -> Iterator[tuple[str, Sample]]:
    """The samples of every active plugin's primitives, with the plugin's name."""
    for plugin, manifest in registry().active.items():
        for module in manifest.samples:
            for result in samples_of(module):
                yield plugin, result


def is_wide(sample: Sample) -> bool:
    """Return whether to try laws on a sample with 64-bit types: they are on, or it is tagged so."""
    return "wide" in sample.tags or enable_x64.value


def _brief(x: Any) -> str:
    if isinstance(x, (Jaxpr, ClosedJaxpr)):
        return "{...}"
    text = x.name if isinstance(x, np.dtype) else str(x)
    return text if len(text) <= 24 else f"{text[:21]}..."
