"""The reference is complete: hooks, manifests, errors, commands, tables, options, names."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from dovetail_base import errors
from dovetail_cli.run import _OWN as COMMANDS
from dovetail_core import Manifest, config, registry
from dovetail_hooks import Hooks

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
WRITTEN = [p for p in DOCS.rglob("*.md") if "generated" not in p.parts]
PAGES = [*WRITTEN, *ROOT.glob("*.md"), ROOT / "template" / "README.md"]
HOOKS = [n for n in vars(Hooks) if not n.startswith("_")]


def sections(page: str) -> dict[str, str]:
    """The sections of a page of the reference by the code in their headings."""
    text = (DOCS / "reference" / page).read_text()
    result = re.split(r"^##+ `(?:dovetail )?([^`]+)`\n", text, flags=re.MULTILINE)
    return dict(zip(result[1::2], result[2::2]))


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_has_a_section_with_its_signature(name: str) -> None:
    parameters = [p for p in inspect.signature(getattr(Hooks, name)).parameters if p != "self"]
    section = sections("hooks.md")[name]
    assert section.startswith(f"\n    {name}({', '.join(parameters)})\n")
    assert all(f"- `{p}`: " in section for p in parameters)
    assert f"def {name}(" in section, "an example"


def test_the_reference_has_no_hook_that_does_not_exist() -> None:
    assert set(sections("hooks.md")) == set(HOOKS)


def test_every_field_of_the_manifest_is_documented_in_order() -> None:
    assert list(sections("manifest.md")) == [f.name for f in dataclasses.fields(Manifest)]


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_has_a_section_in_which_it_is_raised(name: str) -> None:
    section = sections("errors.md")[name]
    raised = f"```text\n{name}: " in section
    bases = ("DovetailError", "JAXTypeError", "TracedValueError", "JAXIndexError", "JaxprTypeError",
             "JaxRuntimeError")  # fmt: skip
    assert raised or (name in bases and f"except {name}" in section)
    assert section.count("```python") >= 1


def test_every_command_has_a_section() -> None:
    assert set(sections("command_line.md")) == {*COMMANDS, *registry().entries("commands")}


@pytest.fixture(scope="module")
def surfaces() -> ModuleType:
    spec = importlib.util.spec_from_file_location("surfaces", DOCS / "surfaces.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_on_the_page_of_its_module(surfaces: ModuleType) -> None:
    pages = dict(surfaces.pages())
    for module in [*surfaces.public_modules(), *surfaces.KERNEL]:
        names = surfaces.names_of(importlib.import_module(module))
        missing = [
            n for n in names if not re.search(rf"{module}\.{n}\n|`{n}`|`{n} = ", pages[module])
        ]
        assert not missing, f"{module}: {missing}"


def test_every_column_and_option_is_on_its_page(surfaces: ModuleType) -> None:
    assert all(f"## `{n}`" in surfaces.tables_page() for n in registry().entries("tables"))
    assert all(f"## `{n}`" in surfaces.options_page() for n in config.names())


def links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if "://" not in target:
                yield page, target


def test_links_lead_somewhere() -> None:
    written_by_make = ("/generated/", "benchmarks/RESULTS.md", "/roofline.svg", "/stochastic.svg")
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page, target in links()
        if not any(w in f"/{target}" for w in written_by_make)
        and not (page.parent / target).resolve().exists()
    ]
    assert not broken


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (DOCS / "index.md").read_text()
    for folder in ("guides", "reference"):
        for page in (DOCS / folder).glob("*.md"):
            assert f"\n{folder}/{page.stem}\n" in index, page.name


def test_the_reference_names_the_parameters_of_primitives(surfaces: ModuleType) -> None:
    page = surfaces.parameters_page()
    sections = dict(re.findall(r"^## `(\S+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    wanted = {
        "scan": {"jaxpr", "length", "reverse", "unroll", "num_consts", "num_carry"},
        "while": {"cond_jaxpr", "cond_nconsts", "body_jaxpr", "body_nconsts"},
        "cond": {"branches"},
        "jit": {"jaxpr", "name", "donated_invars"},
        "dot_general": {"dimension_numbers", "precision", "preferred_element_type"},
    }
    for name, parameters in wanted.items():
        rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", sections[name], re.MULTILINE)
        assert {row[0] for row in rows} == parameters, name
        assert all(kind and said for _, kind, said in rows), name
    assert len(sections) == len(surfaces.lowered_primitives()) > 200


STABILITY = (DOCS / "reference" / "stability.md").read_text()
PUBLIC = {f"dovetail_{p}" for p in registry().active} | {"dovetail_core", "dovetail_testing"}


def imported_by_authors() -> Iterator[tuple[str, str]]:
    """The modules that guides, the template and examples import, with the files."""
    guides = [*(DOCS / "guides").glob("*.md"), *(DOCS / "reference").rglob("*.md")]
    code = [p for f in ("template", "examples") for p in (ROOT / f).rglob("*.py")]
    for path in [*guides, *code]:
        if "generated" in path.parts or "tests" in path.parts:
            continue
        text = path.read_text()
        for module in re.findall(r"^ *(?:from|import) (dovetail_[\w.]+)", text, re.MULTILINE):
            yield module, path.name


def test_every_module_that_authors_are_told_to_import_is_in_the_contract() -> None:
    missing = {
        (module, file)
        for module, file in imported_by_authors()
        if module not in PUBLIC
        and f"`{module}`" not in STABILITY
        and not (module.startswith("dovetail_xla.") and f"`{module[13:]}`" in STABILITY)
        and module.partition(".")[0] != "dovetail_testing"
        and not list(ROOT.rglob(f"examples/*/{module.partition('.')[0]}"))
        and importlib.util.find_spec(module.partition(".")[0]) is not None
    }
    assert not missing
