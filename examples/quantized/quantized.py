"""A quantised array as a high type: int8 values with one scale per row, made of two arrays.

Transformations see one value. Its gradient is that of the numbers it stands for, passed straight
through the rounding, so that quantised weights can be trained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dovetail
import dovetail.numpy as dnp
from dovetail.hijax import HiPrimitive, HiType, ShapedArray, register_hitype


@dataclass(frozen=True)
class QuantizedType(HiType):
    """The type of a quantised array of numbers of the given shape; rows lie along the last axis."""

    shape: tuple[int, ...]

    def lo_ty(self) -> list[Any]:
        return [ShapedArray(self.shape, "int8"), ShapedArray(self.shape[:-1], "float32")]

    def lower_val(self, value: Quantized) -> list[Any]:
        return [value.values, value.scales]

    def raise_val(self, *arrays: Any) -> Quantized:
        return Quantized(*arrays)

    def tangent_type(self) -> ShapedArray:
        return ShapedArray(self.shape, "float32")  # of the numbers that it stands for

    def mapped(self, size: int, spec: int) -> QuantizedType:
        return QuantizedType(self.shape[:spec] + self.shape[spec + 1 :])

    def unmapped(self, size: int, spec: int) -> QuantizedType:
        return QuantizedType((*self.shape[:spec], size, *self.shape[spec:]))

    def str_short(self) -> str:
        return f"q8[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, eq=False)
class Quantized:
    """A quantised array: it stands for ``values * scales[..., None]``."""

    values: Any
    scales: Any


register_hitype(Quantized, lambda q: QuantizedType(q.values.shape))


class Quantize(HiPrimitive):
    """From numbers to the nearest quantised ones."""

    def abstract_eval(self, x: Any) -> QuantizedType:
        return QuantizedType(x.shape)

    def to_lo(self, x: Any) -> Quantized:
        scales = dnp.max(dnp.abs(x), axis=-1) / 127
        safe = dnp.where(scales == 0, 1, scales)
        return Quantized(dnp.round(x / safe[..., None]).astype("int8"), scales)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self.bind(*primals), tangents[0]  # straight through

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        return self.bind(dnp.moveaxis(args[0], dims[0], 0)), 0  # the last axis stays the last


class Dequantize(HiPrimitive):
    """From quantised numbers to floating-point ones."""

    def abstract_eval(self, q: QuantizedType) -> ShapedArray:
        return ShapedArray(q.shape, "float32")

    def to_lo(self, q: Quantized) -> Any:
        return q.values.astype("float32") * q.scales[..., None]

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self.bind(*primals), tangents[0]

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        return self.bind(*args), dims[0]


quantize_p, dequantize_p = Quantize("quantized.quantize"), Dequantize("quantized.dequantize")


def quantize(x: Any) -> Any:
    """Floating-point numbers as a quantised array: one byte each, and a scale per row."""
    return quantize_p.bind(x)


def dequantize(q: Any) -> Any:
    """The numbers that a quantised array stands for."""
    return dequantize_p.bind(q)


def loss(weights: Any, x: Any, y: Any) -> Any:
    """Squared error of a linear model with quantised weights."""
    return dnp.mean((x @ dequantize(weights) - y) ** 2)


def main() -> None:
    """Train quantised weights: the gradient is an array, the weights stay bytes between steps."""
    x = dnp.linspace(-1, 1, 24).reshape(8, 3)
    y = x @ dnp.array([[2.0, 0.5], [-1.0, 1.0], [0.25, -3.0]])
    weights = quantize(dnp.zeros((3, 2)))

    @dovetail.jit
    def step(weights: Any) -> Any:
        return quantize(dequantize(weights) - 0.2 * dovetail.grad(loss)(weights, x, y))

    for i in range(200):
        if i % 50 == 0:
            print(f"step {i}: loss {loss(weights, x, y):.4f}")
        weights = step(weights)
    print(f"in the end: loss {loss(weights, x, y):.4f}, of {weights.values.dtype} weights")


if __name__ == "__main__":
    main()
