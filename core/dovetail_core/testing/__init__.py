"""Tests by the matrix, for plugin authors: samples, laws, oracles, one-line tests.

A plugin tries its primitives under every installed rule table, and its rule tables on every
installed primitive, by::

    from dovetail_core.testing import matrix

    test_my_primitives = matrix(primitives="acme")
    test_my_tables = matrix(tables="acme")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .fresh import fresh_registry as fresh_registry
from .laws import Law as Law, Skip as Skip, all_laws as all_laws, as_law, law as law, skip as skip
from .oracles import (
    assert_close as assert_close,
    assert_near as assert_near,
    assert_same as assert_same,
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
