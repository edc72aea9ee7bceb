"""Rules of ``linear_bounds.affine``; imported when the table is first asked."""

from . import curves as curves, derived as derived, logic as logic, products as products
