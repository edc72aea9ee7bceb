"""What each workload is held to, and whether a measurement holds it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import NamedTuple

Samples = Mapping[str, Sequence[float | str]]
"""Workload -> one figure per round: seconds, or the text of the error that it met."""

RATIOS: tuple[tuple[str, float], ...] = (
    ("cold.import", 0.4),
    ("dispatch.jit_*", 1.0),
    ("dispatch.eager_index", 0.3),
    ("dispatch.eager_slice", 0.3),
    ("dispatch.eager_at_set", 0.3),
    ("dispatch.eager_*", 0.9),
    ("trace.grad2_*", 0.15),
    ("trace.grad3_*", 0.15),
    ("trace.*", 0.3),
    ("lower.*", 0.5),
    ("eager_grad.*", 0.35),
    ("run.*", 1.05),
    ("first_step.*", 1.0),
)
"""The largest time, as a share of the peer's, by workload; the first pattern that fits counts."""

GROWTH = 4.4
"""The largest growth of the time when the work grows fourfold: linear, and a tenth for noise."""
SIZES = (3000, 12000, 48000)

ADDED_BY_PLUGINS = 0.2
"""Seconds that 200 installed plugins may add to start-up."""

PER_OPERATION: Mapping[str, tuple[int, float]] = {
    "trace.grad2_chain_45": (45, 100e-6),
    "trace.grad3_chain_45": (45, 300e-6),
}
"""Primal operations of a workload, and the seconds per operation that it aims at."""


class Row(NamedTuple):
    """One line of the table: what was measured, on both sides, against what."""

    name: str
    ours: str
    peer: str
    figure: str
    target: str
    verdict: str


def ratio_target(name: str) -> float | None:
    """The largest ratio that workload ``name`` may have, if there is one."""
    return next((limit for pattern, limit in RATIOS if fnmatchcase(name, pattern)), None)


def seconds(value: float) -> str:
    """``value`` in the unit that reads well."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def numbers(samples: Sequence[float | str]) -> list[float] | None:
    """The samples if all of them are times, None if one is an error."""
    times: list[float] = [s for s in samples if not isinstance(s, str)]
    return times if times and len(times) == len(samples) else None


def against(value: float, limit: float | None) -> str:
    """The verdict on a value that has a limit or none."""
    return "" if limit is None else "pass" if value <= limit else "FAIL"


def ratio_rows(ours: Samples, peer: Samples) -> Iterator[Row]:
    """Per workload the median of the rounds' ratios; an error of one side is shown as such."""
    for name in dict.fromkeys([*peer, *ours]):
        limit = ratio_target(name)
        target = "" if limit is None else f"≤ {limit:g}"
        a, b = (numbers(side.get(name, ["not measured"])) for side in (ours, peer))
        left, right = (seconds(statistics.median(t)) if t else "error" for t in (a, b))
        if a and b:
            ratio = statistics.median(x / y for x, y in zip(a, b))
            yield Row(name, left, right, f"{ratio:.2f}", target, against(ratio, limit))
        else:
            failed = ours if a is None else peer
            why = next(str(s) for s in failed.get(name, ["not measured"]) if isinstance(s, str))
            yield Row(name, left, right, why[:80], target, "FAIL" if a is None and target else "")


def growth_rows(ours: Samples) -> Iterator[Row]:
    """How our own time grows when a program becomes four times as long."""
    for kind in ("scaling.trace", "scaling.grad_trace"):
        for small, large in pairwise(SIZES):
            few = numbers(ours.get(f"{kind}_{small}", []))
            many = numbers(ours.get(f"{kind}_{large}", []))
            name = f"{kind}: {small} to {large} operations"
            if few and many:
                growth = statistics.median(m / f for f, m in zip(few, many))
                figure, verdict = f"{growth:.2f} x", against(growth, GROWTH)
                yield Row(name, "", "", figure, f"≤ {GROWTH:g} x", verdict)


def order_rows(ours: Samples) -> Iterator[Row]:
    """What a higher order of differentiation costs per operation of the primal program."""
    for name, (operations, aim) in PER_OPERATION.items():
        times = numbers(ours.get(name, []))
        if times:
            each = statistics.median(times) / operations
            target = f"aim at {seconds(aim)}"
            yield Row(f"{name}, per primal operation", seconds(each), "", "", target, "")


def startup_rows(added: Mapping[str, float]) -> Iterator[Row]:
    """What 200 plugins add, by stage of the start-up."""
    for stage, value in added.items():
        verdict = against(value, ADDED_BY_PLUGINS)
        target = f"≤ {seconds(ADDED_BY_PLUGINS)}"
        yield Row(f"200 plugins add to {stage}", "", "", f"{value * 1e3:.0f} ms", target, verdict)
