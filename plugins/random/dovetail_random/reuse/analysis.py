"""Which keys a program uses up, found equation by equation, in sub-programs too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_base.errors import JAXTypeError
from dovetail_base.source import Source
from dovetail_core import (
    ClosedJaxpr,
    DovetailError,
    Eqn,
    Kind,
    Literal,
    RegionInterface,
    describe_source,
)

from ..keys import KeyArray
from .table import Operand, Uses, is_of_keys, reuse_rules


class KeyReuseError(DovetailError, JAXTypeError):
    """A random key is used up a second time while ``debug_key_reuse`` is on."""


class Keys:
    """An array of keys: which of its elements were used up, and where the last ones were."""

    __slots__ = ("used", "by", "source", "origin")

    def __init__(self, shape: tuple[int, ...], origin: int | None = None) -> None:
        self.used = np.zeros(shape, bool)
        self.by = ""
        self.source: Source | None = None
        self.origin = origin
        """The input of the program that it is, if it is one."""

    def use(self, elements: Any, by: str, source: Source | None) -> None:
        """Use some elements up.

        Raises:
            KeyReuseError: one of them is used up already; says by what and where.
        """
        if (self.used & elements).any():
            raise KeyReuseError(
                f"{by}{describe_source(source)} uses a key that {self.by} used up before"
                f"{describe_source(self.source)}: what is drawn is not independent. {REMEDY}"
            )
        if np.any(elements):
            self.used = self.used | elements
            self.by, self.source = by, source


class Spent:
    """What one operation uses up; it may be given an array of keys several times."""

    def __init__(self) -> None:
        self._found: dict[Keys, Any] = {}

    def add(self, keys: Keys, elements: Any, by: str, source: Source | None) -> None:
        """Note some elements."""
        before = self._found.get(keys, (False,))[0]
        self._found[keys] = elements | before, by, source

    def use(self) -> None:
        """Use up what was noted.

        Raises:
            KeyReuseError: as :meth:`Keys.use`.
        """
        for keys, result in self._found.items():
            keys.use(*result)


REMEDY = (
    "Make a new key for each use (dovetail.random.split, fold_in), or say that this is meant "
    "(dovetail.random.clone)."
)


class Signature(NamedTuple):
    """What a program does with keys: for each input and output the array of keys, None for others.

    An output that is an input is the same object.
    """

    inputs: Sequence[Keys | None]
    outputs: Sequence[Keys | None]


def signature(
    program: ClosedJaxpr, known: Sequence[Any] = (), line: Source | None = None
) -> Signature:
    """What a program does with keys.

    Args:
        known: its operands, as far as they are known; None for others.
        line: the user's, in place of those that equations have.

    Raises:
        KeyReuseError: it uses a key up twice.
    """
    env: dict[Any, Keys] = {}
    values = dict(zip(program.jaxpr.invars, known))
    for v, x in zip(program.jaxpr.constvars, program.consts):
        if isinstance(x, KeyArray):
            env[v] = state_of(x)
    for i, v in enumerate(program.jaxpr.invars):
        if is_of_keys(v.aval):
            env[v] = Keys(v.aval.shape, i)  # type: ignore[attr-defined]
    for eqn in program.eqns:
        if any(is_of_keys(x.aval) for x in (*eqn.invars, *eqn.outvars)):
            _apply(eqn, env, values, line or eqn.source)
    outs = [env.get(v) for v in program.jaxpr.outvars]
    return Signature([env.get(v) for v in program.jaxpr.invars], outs)


def state_of(keys: KeyArray) -> Keys:
    """What is known of the uses of concrete keys."""
    if keys.uses is None:
        keys.uses = Keys(keys.shape)
    return keys.uses


def _apply(eqn: Eqn, env: dict[Any, Keys], values: dict[Any, Any], line: Source | None) -> None:
    primitive = eqn.primitive
    if primitive.regions is not None:
        result = _through_regions(eqn, env, values, line)
    else:
        rule = reuse_rules.rules.get(primitive) or reuse_rules.miss(primitive)
        known = [x.val if isinstance(x, Literal) else values.get(x) for x in eqn.invars]
        operands = [Operand(x.aval, v) for x, v in zip(eqn.invars, known)]
        uses: Uses = rule(*operands, **eqn.params)
        spent, by = Spent(), primitive.name.removeprefix("random_")
        for i, elements in uses.used.items():
            spent.add(env[eqn.invars[i]], elements, by, line)
        spent.use()
        result = {j: env[eqn.invars[i]] for j, i in uses.passed_on.items()}
    for j, v in enumerate(eqn.outvars):
        if is_of_keys(v.aval):
            env[v] = result.get(j) or Keys(v.aval.shape)  # type: ignore[attr-defined]


def _through_regions(
    eqn: Eqn, env: dict[Any, Keys], values: dict[Any, Any], line: Source | None
) -> dict[int, Keys]:
    """The results of a primitive that holds programs; what these use, its operands lose."""
    interface: RegionInterface = eqn.primitive.regions(eqn.params)  # type: ignore[misc]
    title = interface.title or str(eqn.params.get("name", eqn.primitive.name)).lstrip("_")
    inner: list[Signature] = []
    for region in interface.regions:
        known = [] if interface.is_loop else [values.get(eqn.invars[i]) for i in region.operands]
        inner.append(signature(region.program, known, line))
    spent = _spent(interface, inner, title, line)
    if interface.is_loop and interface.length not in (0, 1):
        _refuse_repeated(interface, inner, spent, title, line)
    together = Spent()
    for i, elements in spent.items():
        together.add(env[eqn.invars[i]], _spread(elements, interface.operands[i]), title, line)
    together.use()
    return _results(eqn, interface, inner, env)


def _spent(
    interface: RegionInterface, inner: Sequence[Signature], title: str, line: Source | None
) -> dict[int, Any]:
    """Which elements of each operand the regions use up, as these see it."""
    result: dict[int, Keys] = {}
    for region, found_in in zip(interface.regions, inner):
        for i, keys in zip(region.operands, found_in.inputs):
            if keys is None:
                continue
            total = result.setdefault(i, Keys(keys.used.shape))
            if interface.is_choice:
                total.used = total.used | keys.used
            else:
                total.use(keys.used, keys.by or title, keys.source or line)
    return {i: keys.used for i, keys in result.items()}


def _refuse_repeated(
    interface: RegionInterface, inner: Sequence[Signature], spent: dict[int, Any], title: str,
    line: Source | None,
) -> None:  # fmt: skip
    """Raise where an iteration uses what the one before has used up."""
    after = dict(spent)  # of each operand that a next iteration gets
    back = dict(interface.loop)
    for region, found in zip(interface.regions, inner):
        for result, keys in zip(region.results, found.outputs):
            if keys is not None and result in back:
                after[back[result]] = keys.used
                if keys.origin is not None:  # used up by another region, such as a condition
                    after[back[result]] |= spent.get(region.operands[keys.origin], False)
    for i, elements in spent.items():
        kind = interface.operands[i]
        again = kind.carried or kind is Kind.CONSTANT
        if again and (elements & after[i]).any():
            what = "a loop variable" if kind.carried else "a key from outside"
            raise KeyReuseError(
                f"each iteration of {title}{describe_source(line)} uses up the same key, "
                f"{what}: what is drawn is not independent. {REMEDY}"
            )


def _spread(elements: Any, kind: Kind) -> Any:
    """What iterations use of slices, as elements of the operand."""
    return elements[None] if kind.leading else elements


def _results(
    eqn: Eqn, interface: RegionInterface, inner: Sequence[Signature], env: dict[Any, Keys]
) -> dict[int, Keys]:
    result: dict[int, Keys] = {}
    for region, found_in in zip(interface.regions, inner):
        for j, keys in zip(region.results, found_in.outputs):
            if keys is None or j < 0:
                continue
            operand = None if keys.origin is None else region.operands[keys.origin]
            stays = (j, operand) in interface.loop if interface.is_loop else not interface.is_choice
            if operand is not None and stays:
                result[j] = env[eqn.invars[operand]]
                continue
            shape: tuple[int, ...] = eqn.outvars[j].aval.shape  # type: ignore[attr-defined]
            total = result.setdefault(j, Keys(shape))
            total.used = total.used | _spread(keys.used, interface.results[j])
            total.by, total.source = keys.by or total.by, keys.source or total.source
    return result
