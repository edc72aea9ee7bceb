"""Linear algebra with sparse matrices: the public names of ``jax.experimental.sparse.linalg``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_sparse.linalg.eigenvalues import lobpcg_standard as lobpcg_standard
    from dovetail_sparse.linalg.solving import spsolve as spsolve
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
