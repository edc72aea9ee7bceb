"""What the benchmarks are held to: patterns, verdicts, growth and errors, on made-up samples."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[2] / "benchmarks" / "targets.py"


@pytest.fixture(scope="module")
def targets() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_targets", SOURCE)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("workload", "limit"),
    [
        ("cold.import", 0.4),
        ("cold.first_op", None),
        ("dispatch.jit_100_leaves", 1.0),
        ("dispatch.eager_index", 0.3),
        ("dispatch.eager_add", 0.9),
        ("trace.grad_mlp32", 0.3),
        ("trace.grad3_chain_45", 0.15),
        ("run.svd_128", 1.05),
        ("scaling.trace_3000", None),
    ],
)
def test_the_narrower_pattern_counts(targets: ModuleType, workload: str, limit: float) -> None:
    assert targets.ratio_target(workload) == limit


def test_the_ratio_is_the_median_of_the_rounds(targets: ModuleType) -> None:
    ours = {"lower.a": [1.0, 1.0, 9.0], "lower.b": [0.6]}
    peer = {"lower.a": [4.0, 3.0, 3.0], "lower.b": [1.0]}
    good, bad = targets.ratio_rows(ours, peer)
    assert (good.figure, good.target, good.verdict) == ("0.33", "≤ 0.5", "pass")
    assert (bad.figure, bad.verdict) == ("0.60", "FAIL")


def test_an_error_of_ours_is_a_miss_and_is_shown(targets: ModuleType) -> None:
    (row,) = targets.ratio_rows({"run.svd": ["MissingRule: svd"]}, {"run.svd": [1.0]})
    assert (row.ours, row.figure, row.verdict) == ("error", "MissingRule: svd", "FAIL")


def test_a_group_that_failed_whole_is_a_miss_of_its_workloads(targets: ModuleType) -> None:
    ours, peer = {"run": ["failed"]}, {"run.svd": [1.0]}
    verdicts = {row.name: row.verdict for row in targets.ratio_rows(ours, peer)}
    assert verdicts["run.svd"] == "FAIL"


def test_growth_is_held_to_linear(targets: ModuleType) -> None:
    ours = {f"scaling.trace_{n}": [n * 1e-6 * (2 if n == 48000 else 1)] for n in targets.SIZES}
    first, second = targets.growth_rows(ours)
    assert (first.figure, first.verdict) == ("4.00 x", "pass")
    assert (second.figure, second.verdict) == ("8.00 x", "FAIL")


def test_cost_per_operation_of_a_higher_order(targets: ModuleType) -> None:
    (row,) = targets.order_rows({"trace.grad2_chain_45": [45 * 80e-6]})
    assert (row.ours, row.target) == ("80 µs", "aim at 100 µs")


def test_plugins_may_add_a_fifth_of_a_second(targets: ModuleType) -> None:
    fast, slow = targets.startup_rows({"import": 0.1, "first operation": 0.3})
    assert (fast.verdict, slow.verdict) == ("pass", "FAIL")
