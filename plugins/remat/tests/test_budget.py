"""``Budget``: least recomputation within a number of bytes, and what it says of its choice."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp
from dovetail.ad_checkpoint import Budget, BudgetReport
from dovetail_ad import split_program
from dovetail_core import Var, stage_closed, typeof
from dovetail_remat import cost_rules, program_flops
from dovetail_remat.budget.graph import Graph
from dovetail_remat.budget.schedule import schedule
from dovetail_remat.budget.search import Network

N, D, DEPTH = 64, 32, 12
RNG = np.random.RandomState(0)
WEIGHTS = [RNG.randn(2, D, D).astype(np.float32) / 6 for _ in range(DEPTH)]
X = RNG.randn(N, D).astype(np.float32)


def blocks(weights: Any, x: Any) -> Any:
    """A residual network: products are expensive, the rest is cheap."""
    for w in weights:
        h = dnp.tanh(x @ w[0])
        x = x + dnp.sin(h * dnp.exp(-h)) @ w[1]
    return dnp.mean(x**2)


def compiled(f: Callable[..., Any], *args: Any) -> Any:
    return dovetail.jit(f).lower(*args).compile()


def work(f: Any, *args: Any) -> float:
    """The operations that the compiler counts, where it does not write sums as trees of sums, nor
    computes anew in each fusion what several read."""
    options = {"xla_disable_hlo_passes": "tree_reduction_rewriter,fusion"}
    return dovetail.jit(f).lower(*args).compile(options).cost_analysis()["flops"]


@pytest.fixture(scope="module")
def expected() -> Any:
    return dovetail.jit(dovetail.grad(blocks, (0, 1)))(WEIGHTS, X)


# --- the same derivatives, in less memory ---------------------------------------------------------


@pytest.mark.parametrize("limit", ["10MB", "400kB", "220 KB"])
def test_derivatives_are_the_same(limit: str, expected: Any) -> None:
    f = dovetail.remat(blocks, policy=Budget(limit))
    result = dovetail.jit(dovetail.grad(f, (0, 1)))(WEIGHTS, X)
    leaves = zip(dovetail.tree_util.tree_leaves(result), dovetail.tree_util.tree_leaves(expected))
    for got, want in leaves:
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-6)


def test_every_transformation_goes_through() -> None:
    def f(x: Any) -> Any:
        return dnp.sum(dnp.exp(dnp.sin(dnp.sin(x) @ WEIGHTS[0][0]) @ WEIGHTS[1][0]))

    g = dovetail.remat(f, policy=Budget(4 * 5 * D))
    row = X[0]
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)  # noqa: E731
    close(g(row), f(row))
    close(dovetail.grad(g)(row), dovetail.grad(f)(row))
    close(dovetail.jvp(g, (row,), (row,))[1], dovetail.jvp(f, (row,), (row,))[1])
    close(dovetail.linearize(g, row)[1](row), dovetail.jvp(f, (row,), (row,))[1])
    close(dovetail.vmap(dovetail.grad(g))(X[:3]), dovetail.vmap(dovetail.grad(f))(X[:3]))
    close(dovetail.jit(dovetail.hessian(g))(row), dovetail.jit(dovetail.hessian(f))(row))
    scanned = lambda h: lambda x: lax.scan(lambda c, _: (c + h(x * c), c), 1.0, None, length=3)[0]  # noqa: E731
    close(
        dovetail.jit(dovetail.grad(scanned(g)))(row), dovetail.jit(dovetail.grad(scanned(f)))(row)
    )


def test_results_that_are_known_or_inputs_pass_through() -> None:
    budget = Budget("1MB")
    f = dovetail.remat(lambda x, n: (x, n + 1, dnp.sin(x) * 2, 3.0), policy=budget)
    (_, n, _, c), pull = dovetail.vjp(lambda x: f(x, 4), X)
    assert (int(n), float(c)) == (5, 3.0)
    zero = np.zeros((), dovetail.float0)
    (result,) = pull((np.ones_like(X), zero, np.ones_like(X), np.float32(0)))
    np.testing.assert_allclose(result, 1 + 2 * np.cos(X), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Budget")
@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("limit", [1, 100, 400, 10_000])
def test_a_reference_that_a_backward_rule_reads_is_within_one_stage(
    limit: int, jitted: bool
) -> None:
    squared = dovetail.custom_vjp(lambda x, ref: (ref.__setitem__(..., ref[...] + 1), x * x)[1])

    def forward(x: Any, ref: Any) -> Any:
        ref[...] += 1.0
        return x * x, (x, ref)

    squared.defvjp(forward, lambda kept, ct: (2 * kept[0] * ct * kept[1][...], None))

    def f(x: Any) -> Any:
        ref = dovetail.new_ref(np.ones((), np.float32))
        y = lax.cond(x.sum() > 0, squared, lambda x, ref: x, x, ref)
        return dnp.sin(y).sum() + ref[...]

    g = dovetail.grad(lambda x: dovetail.remat(f, policy=Budget(limit))(dnp.sin(x)))
    x = np.linspace(0.1, 1, 50).astype(np.float32)
    s = np.sin(x)  # the rule's derivative is 2 x times what the reference holds then, which is 2
    result = (dovetail.jit(g) if jitted else g)(x)
    np.testing.assert_allclose(result, 4 * s * np.cos(s * s) * np.cos(x), rtol=1e-5)


def transformer(layers: int) -> tuple[Any, Any, Any]:
    """The benchmark's: the loss, parameters and tokens."""
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "workloads.py"
    spec = importlib.util.spec_from_file_location("workloads", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tokens = RNG.randint(0, 128, (4, 32)).astype(np.int32)
    return module.gpt_loss(dovetail, dnp), module.gpt_params(dnp, layers, 32, 128, 32), tokens


@dovetail.config.option("compile_repeats_once")(False)  # what is kept anyway is half of it then
def test_the_compiled_program_keeps_within_the_budget() -> None:
    """At a third of all that a backward pass keeps a fifth of the forward pass at most is computed
    again. (The temporary memory of the compiled program without a budget depends on its fusions,
    and with them on the compiler's version and options.)"""
    loss, *args = transformer(6)
    most = dovetail.remat(loss, policy=Budget("1GiB")).report(*args).unlimited_peak
    f = dovetail.remat(loss, policy=Budget(most / 3))
    result = compiled(dovetail.value_and_grad(f), *args)
    plain = compiled(dovetail.value_and_grad(loss), *args)
    again = work(dovetail.value_and_grad(f), *args) - work(dovetail.value_and_grad(loss), *args)
    assert result.memory_analysis().temp_size_in_bytes <= most / 3
    assert result.memory_analysis().temp_size_in_bytes <= 0.6 * (
        plain.memory_analysis().temp_size_in_bytes
    )
    assert 0 < again <= 0.2 * work(loss, *args)
    assert f.report(*args).overhead <= 0.2


def test_chains_of_equal_blocks_are_cut_into_seams() -> None:
    """No value is dearer than another: at every price all are kept or none is."""
    x = np.tile(X, (8, 1))
    loss = dovetail.value_and_grad(blocks)
    most = compiled(loss, WEIGHTS, x).memory_analysis().temp_size_in_bytes
    f = dovetail.remat(blocks, policy=Budget(0.35 * most))
    result = compiled(dovetail.value_and_grad(f), WEIGHTS, x)
    assert result.memory_analysis().temp_size_in_bytes <= 0.35 * most
    assert f.report(WEIGHTS, x).overhead < 0.9


def test_what_fits_is_left_alone() -> None:
    f = dovetail.remat(blocks, policy=Budget("1GiB"))
    text = dovetail.jit(dovetail.grad(f)).lower(WEIGHTS, X).as_text()
    assert "optimization_barrier" not in text
    assert f.report(WEIGHTS, X).recomputed_flops == 0


def test_a_budget_that_cannot_be_kept_warns_and_comes_close() -> None:
    f = dovetail.remat(blocks, policy=Budget(1000))
    with pytest.warns(
        UserWarning, match=r"Budget\(1000\) is less than what .*'blocks' reaches: ab"
    ):
        least = f.report(WEIGHTS, X)
    assert not least.fits and "does not fit" in str(least)
    assert least.peak < least.unlimited_peak / 3


def test_calls_are_looked_into_and_the_world_is_not_asked_again() -> None:
    inner = dovetail.jit(lambda w, x: dnp.tanh(dnp.sin(x @ w)))

    def f(x: Any) -> Any:
        for w in WEIGHTS:
            x = inner(w[0], x)
        return dnp.sum(x)

    report = Budget("120kB").report(f, X)
    assert {r.operation for r in report.recomputed} & {"tanh", "sin", "dot_general"}
    assert "jit" not in {r.operation for r in report.recomputed}


# --- the choice is the best one -------------------------------------------------------------------


def small(x: Any, w: Any) -> Any:
    a = dnp.sin(x @ w)
    b = dnp.exp(a) * a
    return dnp.sum(dnp.tanh(b @ w) * dnp.sin(b) * a[:, :1])


def graph_of(f: Callable[..., Any], *args: Any) -> Graph:
    avals = [typeof(x) for x in args]
    n = len(args)
    program = stage_closed(lambda *a: list(dovetail.jvp(lambda *x: f(*x), a[:n], a[n:])), avals * 2)
    split = split_program(program, (False,) * n + (True,) * n)
    return Graph(split.known, split.linear, split)


def price_of(graph: Graph, kept: frozenset[Var], price: float) -> float:
    """What a choice costs, computed by following what must be computed again."""
    todo, again = [v for v in graph.required if v not in kept], set()
    while todo:
        e = graph.producer[todo.pop()]
        if e not in again:
            again.add(e)
            todo += [v for v in graph.operands[e] if v not in kept]
    return sum(graph.works[e].cost for e in again) + price * sum(graph.sizes[v] for v in kept)


@pytest.mark.parametrize("price", [1e-3, 1.0, 7.0, 50.0, 1e5])
def test_no_other_choice_is_cheaper(price: float) -> None:
    graph = graph_of(small, X[:, :8], WEIGHTS[0][0][:8, :8])
    network = Network(graph)
    values = network.values
    assert 5 < len(values) < 15
    every = chain.from_iterable(combinations(values, k) for k in range(len(values) + 1))
    best = min(price_of(graph, frozenset(kept), price) for kept in every)
    result = price_of(graph, frozenset(network.cheapest(price)), price)
    assert result <= best * (1 + 1e-6)


def test_dearer_memory_never_keeps_more() -> None:
    graph = graph_of(lambda x, w: blocks([w] * 4, x), X, WEIGHTS[0])
    network = Network(graph)
    sizes = [
        sum(graph.sizes[v] for v in network.cheapest(p)) for p in (0.0, 0.1, 1.0, 10.0, 100.0, 1e6)
    ]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 0 and sizes[-1] == 0


def test_what_is_computed_again_suffices_for_each_stage() -> None:
    graph = graph_of(lambda x, w: blocks([w] * 4, x), X, WEIGHTS[0])
    kept = frozenset(Network(graph).cheapest(10.0))
    chosen = schedule(graph, kept)
    at = 0
    for piece in chosen.pieces:
        assert piece.start == at
        at = piece.stop
        have = {v for e in piece.again for v in graph.known[e].outvars} | kept
        for e in piece.again:
            assert have.issuperset(graph.operands[e])
        for i in range(piece.start, piece.stop):
            assert have.issuperset(graph.reads[i])
    assert at == len(graph.linear)
    assert len(chosen.timeline) == len(graph.known) + len(graph.linear)


# --- costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda a, b: a @ b, (np.ones((30, 40), "f"), np.ones((40, 50), "f"))),
        (lambda a: dnp.einsum("bij,bjk->bik", a, a), (np.ones((3, 20, 20), "f"),)),
        (
            lambda x, k: lax.conv(x, k, (1, 1), "VALID"),
            (np.ones((2, 3, 12, 12), "f"), np.ones((4, 3, 3, 3), "f")),
        ),
        (lambda a: dnp.sum(a), (np.ones((300, 400), "f"),)),
        (
            lambda a: lax.scan(lambda c, _: (c @ c, None), a, None, length=7)[0],
            (np.ones((20, 20), "f"),),
        ),
    ],
    ids=["product", "batched product", "convolution", "sum", "scan"],
)
def test_work_is_what_the_compiler_counts(f: Any, args: Any) -> None:
    program = dovetail.make_jaxpr(f)(*args)
    counted = work(f, *args)
    times = 7 if "scan" in str(program) else 1  # the compiler counts a loop's body once
    assert program_flops(program) == pytest.approx(counted * times, rel=0.05)


def test_an_unknown_row_counts_an_operation_for_each_element() -> None:
    from dovetail_core import Primitive

    double = Primitive("test_budget.double")
    double.def_abstract_eval(lambda x: x)
    assert cost_rules[double]([typeof(X)], [typeof(X)]) == X.size


# --- the report -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> BudgetReport:
    return Budget("300kB").report(blocks, WEIGHTS, X)


def test_the_report_adds_up(report: BudgetReport) -> None:
    assert report.fits and report.peak == max(report.timeline) <= 300_000
    assert report.unlimited_peak == max(report.unlimited_timeline) > report.peak
    assert report.kept_bytes == sum(r.nbytes for r in report.kept) <= report.peak
    assert report.recomputed_flops == sum(r.flops * r.times for r in report.recomputed)
    products = 2 * 2 * N * D * D * DEPTH
    assert products < report.forward_flops < 1.3 * products
    assert 0 < report.overhead < 1
    assert report == dovetail.remat(blocks, policy=Budget("300kB")).report(WEIGHTS, X)


def test_the_report_is_text(report: BudgetReport) -> None:
    text = str(report)
    for part in (
        "budget of 300 kB for the backward pass of blocks", "peak", "kept", "% of the forward pass",
        "live memory", "computed again:", "test_budget.py:", "flop)",
    ):  # fmt: skip
        assert part in text
    line = report.sparkline(40)
    forward, backward = line.split("|")
    assert 35 <= len(forward) + len(backward) <= 45
    assert set(line) <= set("▁▂▃▄▅▆▇█|")
    assert forward[0] == "▁", "nothing is kept at the beginning"


@pytest.mark.parametrize(("size", "said"), [("900B", "900 B"), ("2MB", "2 MB"), ("3GB", "3 GB")])
def test_amounts_have_prefixes_from_a_thousand_on(size: str, said: str) -> None:
    result = Budget(size).report(
        lambda x: dnp.sin(dnp.sin(x)), dovetail.ShapeDtypeStruct((4,), "f4")
    )
    assert f"budget of {said} for the backward pass" in str(result)


def test_the_report_is_a_plot(report: BudgetReport, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    ax = report.plot()
    assert report.plot(ax) is ax
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert labels[:3] == ["no limit", "within the budget", "budget"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.array(report.unlimited_timeline) * 1e-6)
    assert ax.get_ylim()[0] == 0, "heights are amounts of memory"
    assert [report.turn] * 2 in [list(line.get_xdata()) for line in ax.lines], "where it turns back"


def test_without_matplotlib_text_is_proposed(
    report: BudgetReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'dovetail\[viz\]'.*sparkline"):
        report.plot()


def test_types_will_do_for_a_report() -> None:
    big = dovetail.ShapeDtypeStruct((10**6, 4096), np.float32)
    weights = dovetail.ShapeDtypeStruct((2, 4096, 4096), np.float32)
    result = Budget("500GiB").report(lambda x, w: blocks([w] * 8, x), big, weights)
    assert result.fits and result.unlimited_peak > 500 * 2**30


# --- bad input ------------------------------------------------------------------------------------


def test_sizes_are_read_with_units() -> None:
    sizes = {
        "2GiB": 2**31, "1.5 kb": 1500, "3 MB": 3 * 10**6, "7": 7, "1e3": 1000, "1TiB": 2**40,
        "12 B": 12,
    }  # fmt: skip
    assert {k: Budget(k).limit for k in sizes} == sizes
    assert Budget(5) == Budget(5.0) and hash(Budget(5)) == hash(Budget("5B"))
    assert Budget(5) != Budget(5, margin=0.2) and repr(Budget("1kB")) == "Budget(1000)"


@pytest.mark.parametrize("limit", ["two", "3 GB/s", -1, 0, float("inf"), float("nan"), True, None])
def test_a_budget_that_is_no_size_is_an_error(limit: Any) -> None:
    with pytest.raises(ValueError, match=r"Budget\(.*\): give a positive number of bytes.*'2GiB'"):
        Budget(limit)


def test_misuse_is_named() -> None:
    with pytest.raises(ValueError, match=r"margin is a part of the limit, in \[0, 1\), got 1"):
        Budget(5, margin=1)
    with pytest.raises(TypeError, match=r"or a Budget, got '2GiB'"):
        dovetail.remat(blocks, policy="2GiB")
    f = dovetail.remat(lambda n: n + 1, policy=Budget(10))
    with pytest.raises(ValueError, match=r"<lambda> has no report: no checkpoint with policy=Budg"):
        f.report(3)
