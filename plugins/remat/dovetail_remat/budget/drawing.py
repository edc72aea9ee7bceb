"""Drawing live memory over a program with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .report import BudgetReport

_MEGA = 1e-6


def draw(report: BudgetReport, ax: Any) -> Any:
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
    megabytes = [b * _MEGA for b in report.timeline]
    free = [b * _MEGA for b in report.unlimited_timeline]
    ax.plot(free, color="0.65", label="no limit")
    ax.fill_between(range(len(megabytes)), megabytes, alpha=0.5, label="within the budget")
    ax.axhline(report.limit * _MEGA, color="tab:red", linestyle="--", label="budget")
    ax.axvline(report.turn, color="0.8", zorder=0)
    ax.set(xlabel="operations, forward and then back", ylabel="live memory [MB]", title=report.name)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax
