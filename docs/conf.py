"""How Sphinx builds the documentation: Markdown pages here, and a reference from the docstrings."""

from __future__ import annotations

project = "Dovetail"
author = "The Dovetail authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Pages that stand in the repository's root are included here; their links lead to files there.
suppress_warnings = ["myst.xref_missing"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = "Dovetail"
