"""Reports on budgets: kept values and their sizes, recomputation, live memory, as text or plot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail_base.scopes import run_with
from dovetail_core import callable_name

from ..residuals import SavedResidual, linearization, residual_record
from .plan import Plan, listener


@dataclass(frozen=True)
class Recomputed:
    """An operation that is computed again.

    Attributes:
        operation: the primitive's name. ``source``: the user's source line.
        flops: floating-point operations in one computation. ``times``: the number of times that it
            is computed again.
    """

    operation: str
    source: str
    flops: float
    times: int

    def __str__(self) -> str:
        times = f" {self.times} times" if self.times > 1 else ""
        return f"{self.operation} ({_count(self.flops)}flop){times} from {self.source}"


@dataclass(frozen=True)
class BudgetReport:
    """A budget's choice for one function.

    All sizes are estimates in bytes, made on the program: of values between forward and backward
    pass, values computed again, and cotangents; not of arguments, results and gradients.

    Attributes:
        name: of the function. ``limit``: the budget.
        peak, unlimited_peak: the most memory at any time, within the budget and without one.
        kept: the kept values, largest first. ``recomputed``: the operations that are computed
            again, most work first.
        forward_flops, recomputed_flops: work of the forward pass, and work done again.
        timeline, unlimited_timeline: memory in use after each operation of the forward pass and
            then of the backward pass; ``turn`` is the index at which the backward pass begins.
    """

    name: str
    limit: int
    peak: int
    unlimited_peak: int
    kept: tuple[SavedResidual, ...]
    recomputed: tuple[Recomputed, ...]
    forward_flops: float
    recomputed_flops: float
    timeline: tuple[int, ...]
    unlimited_timeline: tuple[int, ...]
    turn: int

    @property
    def kept_bytes(self) -> int:
        """Bytes of all values that are kept."""
        return sum(r.nbytes for r in self.kept)

    @property
    def fits(self) -> bool:
        """True if the estimated peak is within the limit."""
        return self.peak <= self.limit

    @property
    def overhead(self) -> float:
        """Work that is done again, as a fraction of the forward pass."""
        return self.recomputed_flops / self.forward_flops if self.forward_flops else 0.0

    def __str__(self) -> str:
        lines = [
            f"budget of {_count(self.limit)}B for the backward pass of {self.name}",
            f"  peak        {_count(self.peak)}B (without a limit {_count(self.unlimited_peak)}B)"
            + ("" if self.fits else ": does not fit"),
            f"  kept        {_count(self.kept_bytes)}B in {len(self.kept)} values",
            f"  computed    {_count(self.recomputed_flops)}flop again in "
            f"{len(self.recomputed)} operations: {100 * self.overhead:.1f} % of the forward pass",
            f"  live memory {self.sparkline()}",
        ]
        lines += _some("kept", self.kept) + _some("computed again", self.recomputed)
        return "\n".join(lines)

    def sparkline(self, width: int = 60) -> str:
        """Live memory over the program as a line of text; ``|`` is where the pass turns back."""
        bars = "▁▂▃▄▅▆▇█"
        top = max(self.unlimited_peak, self.peak, 1)

        def line(values: Sequence[int]) -> str:
            n = max(width * len(values) // max(len(self.timeline), 1), 1)
            step = max(len(values) / n, 1)
            groups = [values[int(i * step) : int((i + 1) * step) or 1] for i in range(n)]
            return "".join(bars[round(7 * max(g) / top)] for g in groups if g)

        return f"{line(self.timeline[: self.turn])}|{line(self.timeline[self.turn :])}"

    def plot(self, ax: Any = None) -> Any:
        """Draw live memory over the program with matplotlib; returns the axes.

        Args:
            ax: axes to draw into; None makes a figure.

        Raises:
            ImportError: matplotlib is not installed; says how to install it, and that
                :meth:`sparkline` draws with text.
        """
        return _draw(self, ax)


def report_of(f: Callable[..., Any], args: Any, kwargs: Any) -> BudgetReport:
    """The report on the first budget in the derivative of ``f``.

    Raises:
        ValueError: ``f`` has no checkpoint with a budget, or nothing in it is differentiated.
    """
    plans: list[Plan] = []
    run_with(listener, plans, linearization, f, args, kwargs)
    if not plans:
        name = callable_name(f)
        raise ValueError(
            f"{name} has no report: no checkpoint with policy=Budget(...) is met in "
            "differentiating it at these arguments (are they floating-point numbers?)"
        )
    return _report(plans[0])


def _report(plan: Plan) -> BudgetReport:
    graph, chosen, free = plan.graph, plan.chosen, plan.free
    records = [residual_record(plan.known.jaxpr, v) for v in chosen.kept if v in plan.used]
    times: dict[int, int] = {}
    for piece in chosen.pieces:
        for e in piece.again:
            times[e] = times.get(e, 0) + 1
    again = [
        Recomputed(
            graph.known[e].primitive.name, str(graph.known[e].source or "?"),
            graph.works[e].flops, n,
        )
        for e, n in times.items() if graph.works[e].flops
    ]  # fmt: skip
    return BudgetReport(
        plan.known.jaxpr.name or "a function", plan.budget.limit, chosen.peak, free.peak,
        tuple(sorted(records, key=lambda r: (-r.nbytes, str(r)))),
        tuple(sorted(again, key=lambda r: (-r.flops * r.times, str(r)))),
        graph.forward.flops, chosen.again.flops, chosen.timeline, free.timeline,
        len(graph.known),
    )  # fmt: skip


def _draw(report: BudgetReport, ax: Any) -> Any:
    """The axes with live memory within the budget and without one (see ``BudgetReport.plot``)."""
    if ax is None:
        try:
            from matplotlib.figure import Figure
        except ImportError as e:
            raise ImportError(
                "BudgetReport.plot draws with matplotlib, which is not installed: pip install "
                "'dovetail[viz]'. print(report) and report.sparkline() draw with text."
            ) from e
        ax = Figure(figsize=(8, 3.5), layout="constrained").subplots()
    megabytes = [1e-6 * b for b in report.timeline]
    free = [1e-6 * b for b in report.unlimited_timeline]
    ax.plot(free, color="0.65", label="no limit")
    ax.fill_between(range(len(megabytes)), megabytes, alpha=0.5, label="within the budget")
    ax.axhline(1e-6 * report.limit, color="tab:red", linestyle="--", label="budget")
    ax.axvline(report.turn, color="0.8", zorder=0)
    ax.set(xlabel="operations, forward and then back", ylabel="live memory [MB]", title=report.name)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax


def _some(title: str, items: Sequence[Any], most: int = 12) -> list[str]:
    """A paragraph that lists items, equal ones together."""
    counts = Counter(map(str, items))
    lines = [f"  {n} x {x}" if n > 1 else f"  {x}" for x, n in counts.items()]
    more = len(items) - sum(list(counts.values())[:most])
    head = [f"{title}:", *lines[:most]] if lines else []
    return head + ([f"  and {more} more"] if more else [])


def _count(x: float) -> str:
    """``1234567`` as ``1.23 M``."""
    for prefix in ("", "k", "M", "G", "T"):
        if abs(x) < 1000:
            return f"{x:.3g} {prefix}"
        x /= 1000
    return f"{x:.3g} P"
