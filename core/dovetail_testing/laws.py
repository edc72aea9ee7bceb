"""Laws: properties that every rule of a rule table has, tried on the samples of primitives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from dovetail_base.errors import RegistryError
from dovetail_core import discovery, registry

from .samples import Sample

Check = Callable[[Sample], None]


class Skip(Exception):
    """Raised by a law that does not apply to a sample."""


def skip(reason: str) -> NoReturn:
    """Leave a law that does not apply to this sample, for ``reason``."""
    raise Skip(reason)


@dataclass(frozen=True)
class Law:
    """A law: ``check(sample)`` raises (``AssertionError``) where it is broken.

    Attributes:
        name: for reports.
        without: tags of samples to which the law does not apply (``"nonsmooth"``, ...).
        applies: returns whether it applies to a sample; other samples are not even counted. A law
            that finds out later calls :func:`skip`.
        mixed: True to try it with some operands fixed (``Sample.fixed``), too: not if nothing is
            lifted, or if the law itself chooses the operands that are.
    """

    name: str
    check: Check
    without: frozenset[str] = frozenset()
    applies: Callable[[Sample], bool] = lambda sample: True
    mixed: bool = True

    def speaks_of(self, sample: Sample) -> bool:
        """Return whether the law applies to ``sample``."""
        if self.without & set(sample.tags) or (sample.fixed and not self.mixed):
            return False
        return self.applies(sample)

    def __call__(self, sample: Sample) -> None:
        """Try the law; an error names the sample."""
        try:
            self.check(sample)
        except Skip:
            raise
        except Exception as e:
            e.add_note(f"the law {self.name!r} on the sample {sample}")
            raise


def law(
    name: str,
    *,
    without: Collection[str] = (),
    applies: Callable[[Sample], bool] = lambda sample: True,
    mixed: bool = True,
) -> Callable[[Check], Law]:
    """Decorator: make a :class:`Law` of a function on samples, to name in a manifest's ``laws``."""
    return lambda check: Law(name, check, frozenset(without), applies, mixed)


_HERE = "dovetail_testing.kernel_laws"
KERNEL_LAWS: Mapping[str, str] = {
    "text": f"{_HERE}:text_law",
    "check": f"{_HERE}:check_law",
    "dce": f"{_HERE}:dce_law",
    "eval": f"{_HERE}:eval_law",
    "decomposition": f"{_HERE}:decomposition_law",
    "to_lo": f"{_HERE}:to_lo_law",
    "types": "dovetail_testing.type_laws:type_law",
    "traits": "dovetail_testing.trait_laws:trait_law",
}


def all_laws() -> Iterator[tuple[str, str, Law]]:
    """Plugin (empty for the kernel's), rule table and law, of every rule table that has one.

    Raises:
        RegistryError: a manifest names a law that is neither a :class:`Law` nor a function.
    """
    result = [("", table, target) for table, target in KERNEL_LAWS.items()]
    for plugin, manifest in registry().active.items():
        result += [(plugin, table, target) for table, target in manifest.laws.items()]
    for plugin, table, target in result:
        made = discovery.load_object(target)
        if not callable(made):
            raise RegistryError(f"the law of {table!r}, {target}, is not a function: {made!r}")
        yield plugin, table, as_law(table, made)


def as_law(name: str, made: Any) -> Law:
    """``made`` if it is a law; a function as a law called ``name``."""
    return made if isinstance(made, Law) else Law(name, made)
