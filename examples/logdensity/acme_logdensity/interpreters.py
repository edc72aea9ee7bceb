"""What can be asked of a model: interpreters of its program, of which each speaks of sites only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import dovetail_tree.util as tree
from dovetail import numpy as dnp, random
from dovetail_core import (
    ClosedJaxpr,
    Interpreter,
    Kind,
    Part,
    RegionInterface,
    Slot,
    algebra,
    assemble,
    consts_to_inputs,
    here,
    slots_of,
    stage,
    stage_closed,
    typeof,
    without_leading,
)

from .sites import observe_p, sample_p

Model = Callable[..., Any]


def simulate(model: Model) -> Callable[..., dict[str, Any]]:
    """``simulate(model)(key, *args)`` runs a model and returns the values of its sites by name.

    The values of a site in a ``scan`` come stacked; those in a branch that does not run are zeros.
    """

    def simulated(key: Any, *args: Any) -> dict[str, Any]:
        program, operands, _ = _recorded(model, args)
        simulation = _Simulation(key)
        simulation.run(program, operands)
        return simulation.collected

    return simulated


def condition(model: Model, values: Mapping[str, Any]) -> Model:
    """The model in which the sites that ``values`` names are observed to have these values.

    Values are as :func:`simulate` returns them.

    Raises:
        ValueError: there is no site of a name, or its values have another shape.
        TypeError: it is in a loop of unknown length.
    """

    def conditioned(*args: Any) -> Any:
        program, operands, structure = _recorded(model, args)
        given = _Condition(values)
        outs = given.run(program, operands)
        unknown = [name for name in values if name not in given.collected]
        if unknown:
            found = sorted(set(_names(program)))
            raise ValueError(f"there is no site {unknown[0]!r} in the model; its sites are {found}")
        return tree.tree_unflatten(structure, outs)

    return conditioned


def log_density(model: Model) -> Callable[..., Any]:
    """``log_density(model)(values, *args)``: of the values by name and of what is observed.

    Raises:
        ValueError: a site has no value; and what :func:`condition` raises.
    """

    def density(values: Mapping[str, Any], *args: Any) -> Any:
        program, operands, _ = _recorded(condition(model, values), args)
        total = _Total([dnp.zeros(())])
        total.run(program, operands)
        return total.state[0]

    return density


class _Simulation(Interpreter):
    """The state is a key: its arrays."""

    def __init__(self, key: Any) -> None:
        leaves, self.structure = tree.tree_flatten(key)
        super().__init__(leaves)

    def visit(self, eqn: Any, args: list[Any]) -> Any:
        if eqn.primitive is observe_p:
            return []
        if eqn.primitive is not sample_p:
            return NotImplemented
        key, own = random.split(tree.tree_unflatten(self.structure, self.state))
        self.state = tree.tree_leaves(key)
        value = eqn.params["family"].draw(own, eqn.outvars[0].aval.shape, *args)
        self.collect(eqn.params["name"], value)
        return [value]


class _Total(Interpreter):
    """The state is the sum of log densities so far."""

    def visit(self, eqn: Any, args: list[Any]) -> Any:
        if eqn.primitive is sample_p:
            raise ValueError(f"{eqn.params['name']!r}{here()} is not among the values. Add it.")
        if eqn.primitive is not observe_p:
            return NotImplemented
        found = dnp.sum(eqn.params["family"].log_prob(*args))
        self.state = [self.state[0] + found.astype(self.state[0].dtype)]
        return []


class _Condition(Interpreter):
    """Sites of given values become observations; what is used of the values is collected."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.values = values

    def visit(self, eqn: Any, args: list[Any]) -> Any:
        if eqn.primitive is sample_p and eqn.params["name"] in self.values:
            aval = eqn.outvars[0].aval
            value = self._value(eqn.params["name"], aval.shape)
            value = algebra().convert(value, aval)
            self.collect(eqn.params["name"], value)
            observe_p.bind(value, *args, family=eqn.params["family"])
            return [value]
        if eqn.primitive.regions is not None:
            interface = eqn.primitive.regions(eqn.params)
            if interface.is_loop:
                return self._loop(eqn, args, interface)
        return NotImplemented

    def _loop(self, eqn: Any, args: list[Any], interface: RegionInterface) -> Any:
        """The loop with values as further operands, of which each iteration sees one slice."""
        own = [[n for n in _names(r.program) if n in self.values] for r in interface.regions]
        names = list(dict.fromkeys(n for found in own for n in found))
        if not names:
            return NotImplemented
        if interface.length is None:
            raise TypeError(f"{names[0]!r}{here()} is in a loop of unknown length: use scan.")
        slots = {n: Slot(Kind.SLICED, self._value(n, (interface.length, ...))) for n in names}
        operands, results = slots_of(interface, args)
        parts = [
            Part(
                _conditioned(r.program, {n: slots[n].value for n in found}),
                [*(operands[i] for i in r.operands), *(slots[n] for n in found)],
                [results[i] for i in r.results],
            )
            for r, found in zip(interface.regions, own)
        ]
        made = assemble(interface.rebuild, parts, [*operands, *slots.values()], results)
        for name, slot in slots.items():
            self.collect(name, slot.value)
        found = made.bind(eqn.primitive)
        return [found[s] for s in results]

    def _value(self, name: str, shape: tuple[Any, ...]) -> Any:
        value = dnp.asarray(self.values[name])
        n = len(shape) - (shape[-1:] == (...,))
        if value.shape[:n] != shape[:n] or (n == len(shape) and value.ndim > n):
            _refuse(name, value.shape, shape)
        return value


def _refuse(name: str, found: Any, wanted: tuple[Any, ...]) -> NoReturn:
    shown = str(wanted).replace("Ellipsis", "...")
    raise ValueError(f"the value of {name!r}{here()} has shape {found}; it must be {shown}")


def _conditioned(program: ClosedJaxpr, slices: Mapping[str, Any]) -> ClosedJaxpr:
    """A program with the values of its sites, stacked ones in ``slices``, as further inputs."""
    n = len(program.in_avals)

    def run(*xs: Any) -> list[Any]:
        return _Condition(dict(zip(slices, xs[n:]))).run(program, xs[:n])

    avals = [without_leading(typeof(x)) for x in slices.values()]
    return stage_closed(run, [*program.in_avals, *avals], program.jaxpr.name)


def _names(program: ClosedJaxpr) -> Iterator[str]:
    """The names of the sites in a program."""
    for eqn in program.jaxpr.eqns:
        if eqn.primitive is sample_p:
            yield eqn.params["name"]
        elif eqn.primitive.regions is not None:
            for region in eqn.primitive.regions(eqn.params).regions:
                yield from _names(region.program)


def _recorded(f: Model, args: Any) -> tuple[ClosedJaxpr, list[Any], Any]:
    """The program of ``f``, its operands, and the structure of its result."""
    leaves, structure = tree.tree_flatten(args)
    found: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        found[:] = tree.tree_flatten(f(*tree.tree_unflatten(structure, xs)))
        return found[0]

    jaxpr, consts = stage(flat, [typeof(x) for x in leaves], getattr(f, "__name__", "model"))
    return consts_to_inputs(jaxpr), [*consts, *leaves], found[1]
