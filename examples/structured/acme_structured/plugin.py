"""Manifest of the plugin ``structured``: a rule table, its rules, and an option."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "structured",
    requires=("hijax", "lax", "numpy"),
    surfaces={"structured": "acme_structured"},
    primitives=("acme_structured.values", "acme_structured.interpreter"),
    tables={"structured.rules": "acme_structured.interpreter:structured_rules"},
    contributes={"structured.rules": ("acme_structured.rules",)},
    options={"structured_dense": "acme_structured.interpreter:structured_dense"},
    laws={"structured.rules": "acme_structured.laws:structured_law"},
)
