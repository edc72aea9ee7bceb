"""Tests for plugin authors: samples, laws, oracles, one-line tests.

A plugin is tried as a whole, its primitives under every installed rule table, its rule tables and
its backends on every installed primitive, on hostile samples too, by::

    from dovetail_testing import conformance

    test_conformance = conformance("acme")

and parts of the product of rule tables and primitives, on given samples alone, by :func:`matrix`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .conforming import Conformance as Conformance
from .coverage import PROPERTY
from .fresh import fresh_registry as fresh_registry
from .hostile_samples import hostile as hostile
from .laws import Law as Law, Skip as Skip, all_laws as all_laws, as_law, law as law, skip as skip
from .oracles import (
    assert_close as assert_close,
    assert_near as assert_near,
    assert_same as assert_same,
    assert_same_bits as assert_same_bits,
    assert_transposes as assert_transposes,
    dot as dot,
    finite_difference as finite_difference,
    finite_difference_with_error as finite_difference_with_error,
    precision as precision,
    random_like as random_like,
    smallest_normal as smallest_normal,
    stacked_loop as stacked_loop,
    tolerance as tolerance,
    widened as widened,
)
from .product import Case as Case, Matrix as Matrix, Names, names_of
from .samples import Sample as Sample, all_samples as all_samples, samples_of as samples_of


def matrix(
    primitives: Names = None,
    tables: Names = None,
    *,
    samples: Iterable[Sample] = (),
    laws: Mapping[str, Law | Callable[[Sample], None]] | None = None,
    quick: int = 2,
) -> Callable[..., Any]:
    """A pytest test of laws on samples: bind it to a name that begins with ``test``.

    Args:
        primitives: plugins or primitives whose samples to take; None is those of all plugins.
        tables: rule tables, or plugins whose rule tables to take; None is all that have a law.
        samples: further samples, of primitives that no installed manifest brings.
        laws: further laws by table, for rule tables that no installed manifest brings.
        quick: how many samples of each primitive a law is tried on; ``pytest --matrix=full`` (or
            DOVETAIL_TEST_FULL=1) takes all.

    Returns: a function of one parametrised argument, ``dovetail_case``, that the pytest plugin
        ``dovetail_pytest`` (active where dovetail-core is installed) provides.
    """
    import pytest

    more = tuple((c, as_law(c, f)) for c, f in (laws or {}).items())
    part = Matrix(names_of(primitives), names_of(tables), tuple(samples), more, quick)

    def test_matrix(dovetail_case: Case) -> None:
        try:
            dovetail_case.run()
        except Skip as e:
            pytest.skip(str(e))

    test_matrix.dovetail_matrix = part  # type: ignore[attr-defined]
    return pytest.mark.matrix(test_matrix)


def conformance(
    plugin: str,
    *,
    excused: Mapping[str, str] | None = None,
    samples: Iterable[Sample] = (),
    laws: Mapping[str, Law | Callable[[Sample], None]] | None = None,
    quick: int = 2,
) -> Callable[..., Any]:
    """A pytest test of all that a plugin adds: bind it to a name that begins with ``test``.

    Its primitives are tried under every installed rule table that has a law; its rule tables on the
    samples of every installed primitive, loops and branches among them; its backends on all of
    these, against the reference backend; and its high types where samples have such values. From
    each sample hostile ones are derived (see :func:`hostile`). At the end of the run pytest prints
    which rules were tested and which not, and why; ``--conformance-html=FILE`` writes it.

    Args:
        plugin: the plugin's name, as in its manifest; empty for ``samples`` and ``laws`` alone.
        excused: the reasons why rules need not hold, by ``"primitive x table"`` (``"acme.shift x
            ad.jvp"``), in which ``*`` stands for anything; ``"primitive x table x kind"`` is about
            one kind of hostile samples. Where the law fails the test is reported as an expected
            failure.
        samples: further samples, of primitives that no installed manifest brings.
        laws: further laws by table, for rule tables that no installed manifest brings.
        quick: how many given samples of each primitive a law is tried on, besides one of each kind
            of hostility; ``pytest --matrix=full`` (or DOVETAIL_TEST_FULL=1) takes all.

    Returns: a function of one parametrised argument, as :func:`matrix`.
    """
    import pytest

    more = tuple((c, as_law(c, f)) for c, f in (laws or {}).items())
    part = Conformance(plugin, dict(excused or {}), tuple(samples), more, quick)

    def test_conformance(
        dovetail_case: Any, record_property: Callable[[str, object], None]
    ) -> None:
        record_property(PROPERTY, [list(entry) for entry in dovetail_case.entries])
        try:
            dovetail_case.run()
        except Skip as e:
            pytest.skip(str(e))
        except Exception:
            if not dovetail_case.excuse:
                raise
            pytest.xfail(dovetail_case.excuse)

    test_conformance.dovetail_matrix = part  # type: ignore[attr-defined]
    return pytest.mark.matrix(test_conformance)
