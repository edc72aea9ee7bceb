"""The reference of the interface for plugin authors has what there is, and nothing else."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import dovetail_backends
import dovetail_core
from dovetail_backends import Builder
from dovetail_backends.pjrt import attributes

KERNEL = Path(__file__).resolve().parents[2] / "docs" / "reference" / "kernel"
PAGES = sorted(p for p in KERNEL.glob("*.md") if p.stem != "index")
INDEX = (KERNEL / "index.md").read_text()


def sections(page: Path) -> list[tuple[str, str]]:
    """The names that a page documents, and what it says of them."""
    result = re.split(r"^## `(\w+)`\n", page.read_text(), flags=re.MULTILINE)
    return list(zip(result[1::2], result[2::2]))


SECTIONS = {name: text for page in PAGES for name, text in sections(page)}


def test_every_public_name_of_the_kernel_has_a_section_and_nothing_else_has() -> None:
    written = Counter(name for page in PAGES for name, _ in sections(page))
    assert written == Counter(dovetail_core.__all__)


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_the_section_of_a_name_says_something_and_uses_it(name: str) -> None:
    words, _, rest = SECTIONS[name].partition("```python\n")
    assert len(words.split()) > 2
    blocks = re.findall(r"(.*?)^```$", rest, flags=re.MULTILINE | re.DOTALL)
    lines = [x for b in blocks for x in b.split("\n") if not re.match(r"(from|import) ", x)]
    assert any(re.search(rf"\b{name}\b", x) for x in lines), "an example that uses it"
    assert len([x for x in blocks[0].split("\n") if x.strip()]) <= 20, "an example is short"


MODULES = [n for n in dovetail_core.__all__ if type(getattr(dovetail_core, n)) is ModuleType]


@pytest.mark.parametrize("name", MODULES)
def test_the_section_of_a_public_module_says_what_each_of_its_names_is(name: str) -> None:
    words = SECTIONS[name].partition("```python\n")[0]
    named = {*re.findall(r"`(\w+)`", words)}
    module = getattr(dovetail_core, name)
    assert named >= {*module.__all__} - {*dovetail_core.__all__}
    assert all(inspect.getdoc(getattr(module, n)) for n in module.__all__ if n != "NO_AXES")


def test_the_index_links_to_every_section() -> None:
    wanted = []
    for page in PAGES:
        seen: Counter[str] = Counter()
        for name, _ in sections(page):
            slug = name.lower()  # as Sphinx spells it: numbered where two names differ in case only
            wanted.append(f"[`{name}`]({page.name}#{slug}{f'-{seen[slug]}' * bool(seen[slug])})")
            seen[slug] += 1
    assert sorted(re.findall(r"\[`\w+`\]\(.*?\)", INDEX)) == sorted(wanted)
    assert all(f"\n{page.stem}\n" in INDEX for page in PAGES)


def test_links_to_headings_lead_to_headings() -> None:
    for page in KERNEL.glob("*.md"):
        for target, anchor in re.findall(r"\]\(([\w./]*\.md)#([\w-]+)\)", page.read_text()):
            text = (page.parent / target).read_text()
            headings = re.findall(r"^##* (.*)$", text, flags=re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
            assert re.sub(r"-\d+$", "", anchor) in slugs, f"{page.name}: {target}#{anchor}"


# --- lowering -------------------------------------------------------------------------------------

LOWERING = (KERNEL.parent / "lowering.md").read_text()
BUILDER = [n for n in dir(Builder) if not n.startswith("_") and callable(getattr(Builder, n))]
OWN = {"emit", "arguments", "terminate"}  # for writers of whole functions
ATTRIBUTES = [
    name
    for name, value in vars(attributes).items()
    if getattr(value, "__module__", "") == attributes.__name__ and not name.startswith("_")
]


@pytest.mark.parametrize("name", sorted({*BUILDER} - OWN))
def test_every_method_of_the_builder_has_a_section_that_uses_it(name: str) -> None:
    result = re.split(r"^## `b\.(\w+)`\n", LOWERING, flags=re.MULTILINE)
    section = dict(zip(result[1::2], result[2::2]))[name]
    assert f"b.{name}(" in section.partition("```python\n")[2], "an example"


def test_the_page_of_lowering_names_no_method_that_does_not_exist() -> None:
    written = {*re.findall(r"^## `b\.(\w+)`$", LOWERING, flags=re.MULTILINE)}
    assert written == {*BUILDER} - OWN


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_attribute_is_public_and_shown(name: str) -> None:
    if name == "spelled":  # what the builder does with a dictionary of them
        return
    assert getattr(dovetail_backends, name) is getattr(attributes, name)
    assert f"attrs.{name}(" in LOWERING or f"`{name}" in LOWERING
