"""Densities estimated from data, by a normal distribution about each point."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any, NoReturn

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_jit import fused
from dovetail_nn import logsumexp
from dovetail_tree.registry import register_pytree_node_class

from ..arguments import Array, ArrayLike, inexact
from ..special import ndtr

FIELDS = ("neff", "dataset", "weights", "covariance", "inv_cov")


@register_pytree_node_class
class gaussian_kde:
    """The density that is the mean of normal ones about the points of a data set.

    It is immutable, and a pytree.

    Args:
        dataset: points in columns, or a vector of numbers; at least two.
        bw_method: the width of the normal distributions, in standard deviations of the data:
            ``"scott"`` (the default) or ``"silverman"``, rules by their names, a number, or a
            function of this object that returns one.
        weights: the weight of each point, by default all the same.

    Attributes:
        dataset: the points, in columns. weights: their sum is 1. neff: the effective number of
            points. covariance, inv_cov: of each of the normal distributions.

    Raises:
        TypeError: an argument is no array.
        ValueError: there are too few points, shapes do not fit, or there is no such method.
        NotImplementedError: complex data.
    """

    neff: Array
    dataset: Array
    weights: Array
    covariance: Array
    inv_cov: Array

    @reword_errors
    def __init__(
        self,
        dataset: ArrayLike,
        bw_method: str | ArrayLike | Callable[[Any], ArrayLike] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        (data,) = inexact("gaussian_kde", dataset)
        if data.dtype.kind == "c":
            raise NotImplementedError(f"gaussian_kde takes no complex data{here()}")
        data = dnp.atleast_2d(data)
        if data.ndim != 2 or data.shape[1] < 2:
            raise ValueError(
                f"gaussian_kde: dataset must be two or more points in columns, got shape "
                f"{data.shape}{here()}"
            )
        self._set(dataset=data, weights=_weights(weights, data))
        self._set(neff=1 / dnp.sum(self.weights**2))
        factor = self._factor(bw_method)
        covariance = dnp.atleast_2d(dnp.cov(data, rowvar=True, bias=False, aweights=self.weights))
        self._set(covariance=covariance * factor**2, inv_cov=dnp.linalg.inv(covariance) / factor**2)

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"gaussian_kde: {name} cannot be set{here()}. Make another one.")

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """The fields, for pytrees."""
        return tuple(getattr(self, name) for name in FIELDS), None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Any) -> gaussian_kde:
        """An object with the given fields."""
        out = object.__new__(cls)
        out._set(**dict(zip(FIELDS, children)))
        return out

    def __repr__(self) -> str:
        return f"gaussian_kde({', '.join(f'{n}={getattr(self, n)}' for n in FIELDS)})"

    @property
    def d(self) -> int:
        """The number of coordinates of a point."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """The number of points."""
        return self.dataset.shape[1]

    def _factor(self, method: Any) -> Any:
        power = -1 / (self.d + 4)
        if method is None or (isinstance(method, str) and method == "scott"):
            return self.neff**power
        if isinstance(method, str) and method == "silverman":
            return (self.neff * (self.d + 2) / 4) ** power
        if callable(method):
            return dnp.asarray(method(self)).astype(self.dataset.dtype)
        if not isinstance(method, str) and np.shape(method) == ():
            return inexact("gaussian_kde", method)[0].astype(self.dataset.dtype)
        raise ValueError(
            f"gaussian_kde: bw_method must be 'scott', 'silverman', a number or a function, got "
            f"{short_repr(method)}{here()}"
        )

    def evaluate(self, points: ArrayLike) -> Array:
        """The density at points, in columns, or at a vector of numbers (or one point).

        Raises:
            ValueError: they have another number of coordinates.
        """
        return lax.exp(_log_density(self, self._points("evaluate", points)))

    def __call__(self, points: ArrayLike) -> Array:
        """The density at points, as :meth:`evaluate`."""
        return self.evaluate(points)

    def pdf(self, x: ArrayLike) -> Array:
        """The density at points, as :meth:`evaluate`."""
        return self.evaluate(x)

    def logpdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at points, accurately far away from all data, too."""
        return _log_density(self, self._points("logpdf", x))

    def _points(self, name: str, points: Any) -> Any:
        (x,) = inexact(f"gaussian_kde.{name}", points)
        x = dnp.atleast_2d(x)
        if x.ndim == 2 and x.shape[0] == 1 and x.shape[1] == self.d:
            x = x.reshape(self.d, 1)
        if x.ndim != 2 or x.shape[0] != self.d:
            raise ValueError(
                f"gaussian_kde.{name}: points must have {self.d} coordinates, as the data, in "
                f"columns; got shape {x.shape}{here()}"
            )
        return x.astype(self.dataset.dtype)

    @reword_errors
    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """The integral of the density times that of a normal distribution.

        Raises:
            ValueError: the mean or the covariance has another number of coordinates.
        """
        m, c = inexact("gaussian_kde.integrate_gaussian", mean, cov)
        m, c = dnp.atleast_1d(dnp.squeeze(m)), dnp.atleast_2d(c)
        if m.shape != (self.d,) or c.shape != (self.d, self.d):
            raise ValueError(
                f"gaussian_kde.integrate_gaussian: mean and cov must be of {self.d} coordinates, "
                f"as the data, got shapes {m.shape} and {c.shape}{here()}"
            )
        logs = _log_normal(self.dataset, m[:, None], self.covariance + c)
        return lax.exp(logsumexp(logs[:, 0], b=self.weights))

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """The probability of an interval, of one-dimensional data.

        Raises:
            ValueError: the data have more coordinates.
        """
        if self.d != 1:
            raise ValueError(
                "gaussian_kde.integrate_box_1d is for data of one coordinate, these have "
                f"{self.d}{here()}"
            )
        width = dnp.sqrt(self.covariance[0, 0])
        a, b = ((v - self.dataset[0]) / width for v in inexact("gaussian_kde", low, high))
        # On the right the difference is that of the small tails.
        right = a > 0
        part = ndtr(dnp.where(right, -a, b)) - ndtr(dnp.where(right, -b, a))
        return dnp.sum(self.weights * part)

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """The integral of the product with another density of this class.

        Raises:
            ValueError: its data have another number of coordinates.
        """
        if other.d != self.d:
            raise ValueError(
                f"gaussian_kde.integrate_kde: the data have {self.d} and {other.d} coordinates"
                f"{here()}"
            )
        logs = _log_normal(self.dataset, other.dataset, self.covariance + other.covariance)
        return dnp.sum(lax.exp(logs) * self.weights[:, None] * other.weights)

    def resample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        """Points drawn from the distribution, of the dimensions ``(d, *shape)``."""
        from dovetail_random import choice, multivariate_normal, split

        first, second = split(key)
        index = choice(first, self.n, shape, p=self.weights)
        zero = dnp.zeros(self.d, self.dataset.dtype)
        noise = multivariate_normal(second, zero, self.covariance, shape, self.dataset.dtype)
        return self.dataset[:, index] + dnp.moveaxis(noise, -1, 0)

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None) -> NoReturn:
        """Not supported: integrals over boxes have no closed form.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            f"gaussian_kde.integrate_box is not supported{here()}. For data of one coordinate "
            "there is integrate_box_1d."
        )

    def set_bandwidth(self, bw_method: Any = None) -> NoReturn:
        """Not supported: this object does not change.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            f"gaussian_kde.set_bandwidth is not supported{here()}. Make another gaussian_kde with "
            "this bw_method."
        )


def _weights(weights: Any, data: Any) -> Any:
    n = data.shape[1]
    if weights is None:
        return dnp.full(n, 1 / n, data.dtype)
    (w,) = inexact("gaussian_kde", weights)
    if w.shape != (n,):
        raise ValueError(
            f"gaussian_kde: weights must be a vector of {n}, one for each point, got shape "
            f"{w.shape}{here()}"
        )
    w = w.astype(data.dtype)
    return w / dnp.sum(w)


def _log_normal(x: Any, y: Any, covariance: Any) -> Any:
    """The logarithm of the normal density of the difference of each pair of columns."""
    root = dnp.linalg.cholesky(covariance)
    x, y = (lax.linalg.triangular_solve(root, v, left_side=True, lower=True) for v in (x, y))
    square = lax.square(x[:, :, None] - y[:, None, :]).sum(0)
    scale = dnp.sum(lax.log(dnp.diagonal(root))) + 0.5 * x.shape[0] * log(2 * pi)
    return -0.5 * square - scale


@fused()
def _log_density(kde: Any, points: Any) -> Any:
    logs = _log_normal(kde.dataset, points, kde.covariance)
    return logsumexp(logs, 0, b=kde.weights[:, None])
