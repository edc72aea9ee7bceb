"""The primitives of probabilistic programs.

    acme.sample(*parameters) -> value        family, name
    acme.observe(value, *parameters)         family

Operands have one shape; ``family`` is the distribution's class. Neither can be computed as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from dovetail import eval_shape, numpy as dnp, random
from dovetail_core import Effect, Primitive, here, typeof


@dataclass(frozen=True, slots=True)
class Random(Effect):
    """Sites stay though nobody uses their values: they are part of the density."""


sample_p = Primitive("acme.sample")
observe_p = Primitive("acme.observe", multiple_results=True).def_traits(effect_only=True)


@sample_p.def_effectful_abstract_eval
def _sample_type(*params: Any, family: Any, name: str) -> Any:
    avals = [a.strong() for a in params]
    drawn = eval_shape(
        lambda key, *xs: family.draw(key, avals[0].shape, *xs), random.key(0), *avals
    )
    return typeof(drawn).strong(), {Random()}


@observe_p.def_effectful_abstract_eval
def _observe_type(value: Any, *params: Any, family: Any) -> Any:
    return [], {Random()}


@sample_p.def_decomposition
def _no_value(*params: Any, family: Any, name: str) -> NoReturn:
    raise TypeError(
        f"{name!r}{here()} has no value: this function is a model. Run "
        "simulate(model)(key, ...), or say what its values are: log_density(model)(values, ...)."
    )


@observe_p.def_decomposition
def _no_density(value: Any, *params: Any, family: Any) -> NoReturn:
    raise TypeError(
        f"an observation of {family.__name__}{here()} has nothing to go to: this "
        "function is a model. Run simulate(model)(key, ...) or log_density(model)(values, ...)."
    )


def sample(distribution: Any, name: str) -> Any:
    """A value of a distribution, known by a name. Names differ, except in different branches."""
    params = dnp.broadcast_arrays(*map(_real, distribution))
    return sample_p.bind(*params, family=type(distribution), name=name)


def observe(distribution: Any, value: Any) -> None:
    """Say that a distribution had a value (or each of its elements one)."""
    value = dnp.asarray(value)
    _, *params = dnp.broadcast_arrays(value, *map(_real, distribution))
    value = dnp.broadcast_to(value, params[0].shape)
    observe_p.bind(value, *params, family=type(distribution))


def _real(x: Any) -> Any:
    return dnp.asarray(x, dnp.result_type(x, np.float32))
