"""What the texts of steps call. Their source is copied into the scripts of failing programs."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import dovetail
import dovetail.numpy as dnp


def joined(pair):
    """The two tuples that scan returns, as one."""
    return (*pair[0], *pair[1])


def halves(values, n):
    """What a scan's body returns, as a carry and slices."""
    return tuple(values[:n]), tuple(values[n:])


def dense(t):
    """A tangent, zeros where it is a symbolic zero."""
    if isinstance(t, dovetail.custom_derivatives.SymbolicZero):
        return dnp.zeros(t.shape, t.dtype)
    return t


def scan_numpy(f, carry, xs, length, reverse=False):
    """A scan over a flat function, as a loop."""
    n, rows = len(carry), [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        out = f(*carry, *[x[i] for x in xs])
        carry, rows[i] = out[:n], out[n:]
    return (*carry, *[np.stack(ys) for ys in zip(*rows)])


def repeat_numpy(f, lower, upper, values):
    """A loop over a range."""
    for i in range(int(lower), int(upper)):
        values = f(np.int32(i), *values)
    return tuple(values)


def while_numpy(holds, f, values):
    """A loop with a condition, of three steps at most."""
    while values[0] < 3 and holds(*values)[0]:
        values = (values[0] + 1, *f(*values))
    return tuple(values)


def each_numpy(f, axes, args):
    """A loop over slices, stacked in front."""
    n = next(np.shape(a)[ax] for a, ax in zip(args, axes) if ax is not None)
    rows = [
        f(*[a if ax is None else np.take(a, i, ax) for a, ax in zip(args, axes)]) for i in range(n)
    ]
    return tuple(np.stack(ys) for ys in zip(*rows))


DIFFERENCE_ERROR = 1e-9
"""A bound of the error of ``directional_numpy``, relative to 1 + its size.

The error of fourth order of half the step is a fifteenth of what the two steps may differ by, 1e-8.
Rounding errs by 1e-16 of values up to 60, in differences that are multiplied by at most
18 / (6 h) = 3000: by 2e-11.
"""


def directional_numpy(f, args, directions, h=1e-3):
    """The derivative of a flat function along a direction, of fourth order in the step.

    NaN where the slopes on both sides are not the same, or half the step gives another one.
    """

    def at(k):
        return f(*[x + k * h * d for x, d in zip(args, directions)])

    result = []
    halves = zip(at(0.5), at(-0.5))
    for z, a, b, c, d, (e, f_) in zip(at(0), at(1), at(-1), at(2), at(-2), halves):
        slope = (8 * (a - b) - (c - d)) / (12 * h)
        finer = (8 * (e - f_) - (a - b)) / (6 * h)
        one = (4 * a - c - 3 * z) / (2 * h)
        other = (3 * z - 4 * b + d) / (2 * h)
        kink = np.abs(one - other) > 1e-2 * (1 + np.abs(slope))
        rough = np.abs(slope - finer) > 1e-8 * (1 + np.abs(slope))
        result.append(np.where(kink | rough, np.nan, finer))
    return tuple(result)


def gradient_numpy(f, x):
    """The gradient of the sum of the first result of ``f``."""
    rows = [directional_numpy(f, [x], [e.reshape(x.shape)])[0].sum() for e in np.eye(x.size)]
    return np.stack(rows).reshape(x.shape) if rows else np.zeros_like(x)


def written_numpy(x, index, value, how="set"):
    """A copy of an array with some elements replaced, added to, or the like."""
    out = np.array(x)
    if how == "set":
        out[index] = value
    else:
        getattr(np, how).at(out, index, value)
    return out


def window_sum_numpy(x):
    """Sums of windows of two elements on each axis, padded with zeros at the end."""
    for axis in range(np.ndim(x)):
        rest = np.take(x, range(1, x.shape[axis]), axis)
        zero = np.zeros_like(np.take(x, [0], axis))
        x = x + np.concatenate([rest, zero], axis)
    return x


def softmax_numpy(x):
    """Softmax of the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def padded_numpy(x, value, low, high, interior):
    """Padding of each axis, also between elements."""
    for axis in range(np.ndim(x)):
        x = np.moveaxis(x, axis, 0)
        n = x.shape[0]
        out = np.full((low + high + n + max(n - 1, 0) * interior, *x.shape[1:]), value, x.dtype)
        out[low : low + n + max(n - 1, 0) * interior : interior + 1] = x
        x = np.moveaxis(out, 0, axis)
    return x


def bfloat16_numpy(x):
    """Rounded to bfloat16, which NumPy leaves where it meets a Python scalar."""
    x = np.asarray(x)
    return x.astype(ml_dtypes.bfloat16) if x.dtype == np.float32 else x


def stepped(log):
    """A factor: 0.5, 0.75, 1 at the first calls. ``log`` holds their number, then their factors."""
    n = log[0]
    factor = 0.5 + 0.25 * n
    log[n.astype(np.int32) + 1] = factor
    log[0] = n + 1
    return factor


def pull_and_factor(f, x, log):
    """A forward rule of a function times the factor of ``stepped``."""
    y, pull = dovetail.vjp(lambda x: f(x)[0], x)
    factor = stepped(log)
    return factor * y, (pull, factor, log)


def pulled_by_residual(kept, ct):
    """Its backward rule, by the factor that the forward rule returned."""
    pull, factor, _ = kept
    return pull(factor * ct)[0], None


def pulled_by_content(kept, ct):
    """The same by the factor that the log holds."""
    pull, factor, log = kept
    return pull(log[(4 * factor).astype(np.int32) - 1] * ct)[0], None


def pulled_and_spoiled(kept, ct):
    """The same; what it does to the log shows if it is done before the function has ended."""
    kept[2][0] += 10.0
    return pulled_by_content(kept, ct)


def pushed_with_factor(f, primals, tangents):
    """A rule of forward mode of a function times the factor of ``stepped``."""
    x, log = primals
    y, dy = dovetail.jvp(lambda x: f(x)[0], (x,), (tangents[0],))
    factor = stepped(log)
    return factor * y, factor * dy


def stashed(ref, ct):
    """A backward rule of the identity that writes the cotangent to a reference."""
    ref[...] = ct
    return ct, None
