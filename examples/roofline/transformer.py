"""The roofline of a training step of a small transformer on an H100: a report and a picture.

``python examples/roofline/transformer.py [PICTURE]``
"""

from __future__ import annotations

import sys
from typing import Any

from acme_roofline import Machine, roofline

import dovetail
from dovetail import lax, nn, numpy as dnp

H100 = Machine(flops=67e12, bandwidth=3.35e12, name="H100 SXM, float32")
LAYERS, WIDTH, HEADS, SIZE, TOKENS = 6, 512, 8, 64, 256


def norm(x: Any) -> Any:
    """Layer normalisation."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt(dnp.mean(centred**2, -1, keepdims=True) + 1e-5)


def attention(p: Any, x: Any) -> Any:
    """Attention of each token to all."""
    q, k, v = (dnp.einsum("td,dhk->htk", x, p[i]) for i in "qkv")
    scores = dnp.einsum("hik,hjk->hij", q, k) / SIZE**0.5
    weights = nn.softmax(scores)
    heads = dnp.einsum("hij,hjk->hik", weights, v)
    return dnp.einsum("hik,hkd->id", heads, p["o"])


def layer(x: Any, p: Any) -> Any:
    """One layer, as ``scan`` takes it."""
    x = x + attention(p, norm(x))
    hidden = nn.gelu(norm(x) @ p["up"])
    return x + hidden @ p["down"], None


def loss(p: Any, x: Any) -> Any:
    """The mean square of what comes out."""
    y, _ = lax.scan(layer, x, p)
    return dnp.mean(y**2)


def arguments() -> Any:
    """Types of the weights of all layers, and of the tokens; no arrays."""
    heads, whole = (WIDTH, HEADS, SIZE), (WIDTH, 4 * WIDTH)
    shapes = {**dict.fromkeys("qkv", heads), "o": (HEADS, SIZE, WIDTH)}
    shapes |= {"up": whole, "down": whole[::-1]}
    kind = dovetail.ShapeDtypeStruct
    weights = {k: kind((LAYERS, *s), dnp.float32) for k, s in shapes.items()}
    return weights, kind((TOKENS, WIDTH), dnp.float32)


def main() -> None:
    """Print the report and draw the picture."""
    report = roofline(dovetail.grad(loss), H100)(*arguments())
    print(report)
    if sys.argv[1:]:
        report.plot(sys.argv[1])


if __name__ == "__main__":
    main()
