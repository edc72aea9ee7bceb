"""How Sphinx builds the documentation: Markdown pages here, and a reference from the docstrings."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # where the extension `surfaces` is

project = "Dovetail"
author = "The Dovetail authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "surfaces"]
exclude_patterns = ["gallery/*"]  # parts of gallery.md
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
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

INCLUDE = re.compile(r"```\{include\} \.\./(\w+\.md)\n```\n")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)]+)\)")
PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/decisions": "decisions/index.md",
}


def include_root_pages(app: Any, name: str, source: list[str]) -> None:
    """Put in pages of the repository's root, whose links lead to pages here or nowhere."""

    def link(found: re.Match[str]) -> str:
        return f"[{found[1]}]({PAGES[found[2]]})" if found[2] in PAGES else found[1]

    def page(found: re.Match[str]) -> str:
        path = HERE.parent / found[1]
        app.env.note_dependency(str(path))
        return LINK.sub(link, path.read_text())

    source[0] = INCLUDE.sub(page, source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", include_root_pages)
