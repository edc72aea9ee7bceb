"""How Sphinx builds the documentation: Markdown pages here, and a reference from the docstrings."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # where the extension `surfaces` is

project = "Dovetail"
author = "The Dovetail authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "surfaces"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Pages that stand in the repository's root are included here; their links lead to files there.
suppress_warnings = ["myst.xref_missing"]
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
html_theme = "furo"
html_title = "Dovetail"
html_static_path = ["_static"]
html_css_files = ["docs.css"]
