"""The check of programs for keys that are used twice, and its option ``debug_key_reuse``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_base.environment import as_bool
from dovetail_base.errors import JAXTypeError
from dovetail_base.source import Source
from dovetail_core import (
    ClosedJaxpr,
    DovetailError,
    Eqn,
    Kind,
    Literal,
    Option,
    RegionInterface,
    current_source,
    describe_source,
)
from dovetail_jit import Run, watch_results

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
    """The keys that one operation uses up; it may be given an array of keys several times."""

    def __init__(self) -> None:
        self._noted: dict[Keys, Any] = {}

    def add(self, keys: Keys, elements: Any, by: str, source: Source | None) -> None:
        """Add some elements."""
        before = self._noted.get(keys, (False,))[0]
        self._noted[keys] = elements | before, by, source

    def use(self) -> None:
        """Use up all that were added.

        Raises:
            KeyReuseError: as :meth:`Keys.use`.
        """
        for keys, result in self._noted.items():
            keys.use(*result)


REMEDY = (
    "Make a new key for each use (dovetail.random.split, fold_in), or say that this is meant "
    "(dovetail.random.clone)."
)


class Signature(NamedTuple):
    """The arrays of keys among a program's inputs and outputs; None for other arrays.

    An output that is an input is the same object.
    """

    inputs: Sequence[Keys | None]
    outputs: Sequence[Keys | None]


def signature(
    program: ClosedJaxpr, operands: Sequence[Any] = (), line: Source | None = None
) -> Signature:
    """The keys that a program takes, uses up and returns.

    Args:
        operands: its operands where they are concrete; None for others.
        line: the user's line, instead of those of the equations.

    Raises:
        KeyReuseError: it uses a key up twice.
    """
    env: dict[Any, Keys] = {}
    values = dict(zip(program.jaxpr.invars, operands))
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
    """The uses so far of concrete keys."""
    if keys.uses is None:
        keys.uses = Keys(keys.shape)
    return keys.uses


def _apply(eqn: Eqn, env: dict[Any, Keys], values: dict[Any, Any], line: Source | None) -> None:
    primitive = eqn.primitive
    if primitive.regions is not None:
        result = _through_regions(eqn, env, values, line)
    else:
        rule = reuse_rules.rules.get(primitive) or reuse_rules.miss(primitive)
        concrete = [x.val if isinstance(x, Literal) else values.get(x) for x in eqn.invars]
        operands = [Operand(x.aval, v) for x, v in zip(eqn.invars, concrete)]
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
    """The keys that a primitive with regions returns; keys that the regions use are used up."""
    interface: RegionInterface = eqn.primitive.regions(eqn.params)  # type: ignore[misc]
    title = interface.title or str(eqn.params.get("name", eqn.primitive.name)).lstrip("_")
    inner: list[Signature] = []
    for region in interface.regions:
        concrete = [] if interface.is_loop else [values.get(eqn.invars[i]) for i in region.operands]
        inner.append(signature(region.program, concrete, line))
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
    """The elements of each operand that the regions use up, in the shapes that these see."""
    result: dict[int, Keys] = {}
    for region, inner_signature in zip(interface.regions, inner):
        for i, keys in zip(region.operands, inner_signature.inputs):
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
    """Raise if an iteration uses keys that the one before has used up."""
    after = dict(spent)  # of each operand that a next iteration gets
    back = dict(interface.loop)
    for region, inner_signature in zip(interface.regions, inner):
        for result, keys in zip(region.results, inner_signature.outputs):
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
    """The elements of an operand whose slices iterations use."""
    return elements[None] if kind.leading else elements


def _results(
    eqn: Eqn, interface: RegionInterface, inner: Sequence[Signature], env: dict[Any, Keys]
) -> dict[int, Keys]:
    result: dict[int, Keys] = {}
    for region, inner_signature in zip(interface.regions, inner):
        for j, keys in zip(region.results, inner_signature.outputs):
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


debug_key_reuse = Option(
    "debug_key_reuse",
    False,
    "A typed key that is used a second time raises, and says where it was used before.",
    check=as_bool,
    traced=True,
)


def check_run(run: Run) -> None:
    """Record the keys that a program has used up.

    Raises:
        KeyReuseError: one of them, or one in the program, was used up before.
    """
    if not run.program.is_high:
        return
    here = current_source()
    numbers = [x if x.__class__ in (int, np.int32, np.int64) else None for x in run.operands]
    result = signature(run.program, numbers, None if run.lines == "all" else here)
    spent = Spent()  # by this program: it may be given a key twice
    for x, keys in zip(run.operands, result.inputs):
        if keys is not None and keys.used.any():
            spent.add(state_of(x), keys.used, keys.by, keys.source or here)
    spent.use()
    for x, keys in zip(run.outs, result.outputs):
        if keys is not None:
            x.uses = keys if keys.origin is None else state_of(run.operands[keys.origin])


watch_results(debug_key_reuse, check_run)
