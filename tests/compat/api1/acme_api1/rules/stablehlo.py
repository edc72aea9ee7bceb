"""Rules of ``backends.stablehlo``: a builder and operands to results."""

from dovetail_backends import enum, i64, i64_array, mlir_rule
from dovetail_core import registry

from ..primitives import note_p, rotate_p

rules = registry().table("backends.stablehlo")


@rules.register(rotate_p)
def _rotate_stablehlo(b, x, *, by):
    (n,) = x.aval.shape
    at = -by % n if n else 0

    def part(start, stop):
        attributes = {
            "start_indices": i64_array([start]),
            "limit_indices": i64_array([stop]),
            "strides": i64_array([1]),
        }
        return b.op("stablehlo.slice", [x], x.aval.update(shape=(stop - start,)), attributes)

    joined = [part(at, n), part(0, at)]
    return b.op("stablehlo.concatenate", joined, b.out, {"dimension": i64(0)})


def compared(b, x, y, how):
    """``x`` compared with ``y``, for the attributes that are enumerations."""
    attributes = {"comparison_direction": enum("comparison_direction", how)}
    return b.op("stablehlo.compare", [x, y], x.aval.update(dtype=bool), attributes)


@rules.register(note_p)
def _note_stablehlo(b, x):
    from ..machinery import LEDGER

    def book(value):
        LEDGER.append(float(value))
        return ()

    return b.host_callback(book, [x], [], "api1.note", effect=True, ordered=True)


@mlir_rule
def negated(m, x):
    """The negative, by jaxlib's MLIR bindings."""
    from jaxlib.mlir.dialects import stablehlo

    return stablehlo.negate(x)
