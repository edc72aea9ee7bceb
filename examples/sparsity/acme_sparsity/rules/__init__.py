"""Rules of ``sparsity.pattern``; imported when the table is first asked."""

from . import derived as derived, lax as lax
