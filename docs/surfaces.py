"""Sphinx extension: writes the pages of the reference that follow from what is installed.

A page for each public module, with its names grouped by the module that defines them; a page of
the rule tables, and one of the options. They are written into ``reference/generated`` before Sphinx
reads its sources.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import dovetail
from dovetail_base.lazy import listing
from dovetail_cli.locations import keywords
from dovetail_cli.samples import samples_by_primitive
from dovetail_core import Option, Primitive, config, import_primitives, primitives, registry
from dovetail_core.registry.plugins import KERNEL_TABLES, load_object
from dovetail_testing.samples import Sample

KERNEL = ("dovetail_core", "dovetail_testing")
PARAMETERS = """Rules for the primitives of a program find these in `params`. They are part of the
interface ([](../stability.md)): parameters stay, with their types, and more may be added."""
OPTIONS = """`dovetail.config.update(name, value)` sets an option for the process; an environment
variable sets it from outside. An option that is a name of `dovetail`, as `dovetail.enable_x64`, is
also a context manager: `with dovetail.enable_x64():` sets it for a while and for one thread."""
LISTS = {
    "Names that programs have, too": "They are described there.",
    "Primitives": "What programs are made of; `dovetail matrix` shows their rules.",
    "Element types": "Each makes a scalar when it is called.",
    "Options": "See [](options.md).",
    "Constants": "",
    "Names of other packages": "They are what they are there.",
}


def public_modules() -> list[str]:
    """The modules that programs import: ``dovetail`` and all below it."""
    below = pkgutil.walk_packages(dovetail.__path__, "dovetail.")
    return ["dovetail", *sorted(m.name for m in below)]


def names_of(module: ModuleType) -> list[str]:
    """The public names of a module, without its sub-modules."""
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    return [n for n in names if not inspect.ismodule(getattr(module, n))]


def kind_of(value: Any) -> str:
    """How a name is shown: ``class``, ``function``, or in one of the lists."""
    if isinstance(value, Primitive):
        return "Primitives"
    if isinstance(value, Option) or value is config:
        return "Options"
    if type(value).__name__ == "ScalarType":
        return "Element types"
    owner = str(getattr(value, "__module__", "") or "")
    if not callable(value) or not inspect.getdoc(value):
        return "Constants"
    if not owner.startswith("dovetail") or getattr(value, "__origin__", None):
        return "Names of other packages"
    return "class" if inspect.isclass(value) else "function"


def home_of(module: ModuleType, name: str) -> str:
    """The module that defines a public name; of the names of ``dovetail`` the plugin's manifest."""
    if module.__name__ == "dovetail":
        owners = [p for p, m in registry().active.items() if name in m.names]
        return f"dovetail_{owners[0]}.plugin" if owners else "dovetail_core"
    found = str(getattr(inspect.unwrap(getattr(module, name)), "__module__", ""))
    if found.startswith("dovetail_"):
        return found
    package = import_module(module.__name__.replace(".", "_", 1))
    loader: Any = package.__loader__  # what is compiled is where the package lists it
    exports = listing(loader.get_code(package.__name__), package.__name__)
    return exports[name].module if name in exports else package.__name__


def page_of(module: ModuleType) -> str:
    """The page of a public module."""
    groups: dict[str, list[str]] = defaultdict(list)
    lists: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names_of(module), key=str.lower):
        kind = kind_of(getattr(module, name))
        if kind in LISTS:
            lists[kind].append(name)
        elif module.__name__ in KERNEL and _is_public(name, getattr(module, name)):
            lists["Names that programs have, too"].append(name)
        else:
            groups[home_of(module, name)].append(name)
    lines = [f"# `{module.__name__}`", "", inspect.getdoc(module) or "", ""]
    for home, names in sorted(groups.items()):
        lines += [*_heading(home), "```{eval-rst}"]
        for name in names:
            directive = kind_of(getattr(module, name)).replace("function", "autofunction")
            lines.append(f".. {directive.replace('class', 'autoclass')}:: {module.__name__}.{name}")
            lines += ["   :members:"] if directive == "class" else []
        lines += ["```", ""]
    for kind, intro in LISTS.items():
        if lists[kind]:
            values = lists[kind] if kind != "Constants" else _with_values(module, lists[kind])
            lines += [f"## {kind}", "", intro, "", ", ".join(f"`{v}`" for v in values), ""]
    return "\n".join(lines)


def _is_public(name: str, value: Any) -> bool:
    """Whether a module that programs import has the same thing by the same name."""
    modules = map(import_module, public_modules())
    return any(name in names_of(m) and getattr(m, name) is value for m in modules)


def _with_values(module: ModuleType, names: list[str]) -> list[str]:
    values = [(n, repr(getattr(module, n))) for n in names]
    return [f"{n} = {v}" if len(v) < 30 else n for n, v in values]


def _heading(home: str) -> list[str]:
    """The last part of a module's name, and what its docstring says it is for."""
    doc = (inspect.getdoc(import_module(home)) or "").partition("\n\n")[0].replace("\n", " ")
    title = home.removesuffix(".plugin").rpartition(".")[2].removeprefix("dovetail_")
    doc = doc.partition("``: ")[2].capitalize() if doc.startswith("Manifest of") else doc
    title = title.upper() if len(title) < 4 else title.replace("_", " ").capitalize()
    return [f"## {title}", "", doc, ""]


def tables_page() -> str:
    """The page of the rule tables of all plugins."""
    lines = [
        "# Rule tables",
        "",
        "The rule tables that are installed, and what a rule of each is.",
        "",
    ]
    for name in [*sorted(registry().entries("tables")), *KERNEL_TABLES]:
        table = registry().table(name)
        lines += [f"## `{name}`", ""]
        if table.signature is not None:
            lines += [f"A rule is a `{table.signature.__name__}`.", "", "```{eval-rst}"]
            lines += [inspect.getdoc(table.signature) or "", "```", ""]
        if table.empty:
            lines += [f"*Where there is no rule:* {table.empty}.", ""]
        law = registry().entries("laws").get(name)
        if law is not None:
            made = load_object(law)
            doc = inspect.getdoc(getattr(made, "check", made))
            lines += [f"*The law*, `{law}`: {doc}", ""]
    return "\n".join(lines)


def options_page() -> str:
    """The page of the options of all plugins."""
    lines = ["# Options", "", OPTIONS, ""]
    for name in config.names():
        option = config.option(name)
        lines += [f"## `{name}`", "", option.__doc__ or "", ""]
        lines += [f"By default `{option.value!r}`. From outside: `DOVETAIL_{name.upper()}`.", ""]
    return "\n".join(lines)


def parameters_page() -> str:
    """The page of the parameters of primitives that a backend meets, with their types."""
    samples, _ = samples_by_primitive()
    lines = ["# Parameters of primitives", "", PARAMETERS, ""]
    for primitive in sorted(lowered_primitives(), key=lambda p: p.name):
        rows = list(parameters_of(primitive, samples.get(primitive, [])))
        lines += [f"## `{primitive.name}`", ""]
        if rows:
            lines += ["| parameter | type | what it is |", "| --- | --- | --- |"]
            lines += [f"| `{name}` | {kind} | {said} |" for name, kind, said in rows]
        else:
            lines += ["It has none."]
        lines += [""]
    return "\n".join(lines)


def lowered_primitives() -> list[Primitive]:
    """The primitives that programs have when a backend gets them: low, and with rules to lower."""
    import_primitives()
    table = registry().table("backends.stablehlo")
    return [p for p in primitives().values() if not p.anonymous and table.get(p) is not None]


def parameters_of(primitive: Primitive, samples: list[Sample]) -> Iterator[tuple[str, str, str]]:
    """Names, types and meanings of a primitive's parameters."""
    types = keywords(primitive.abstract_eval) if primitive.abstract_eval else {}
    for name in dict.fromkeys([*types, *(k for s in samples for k in s.params)]):
        given = [s.params[name] for s in samples if name in s.params]
        seen = dict.fromkeys(type(value).__name__ for value in given)
        kind = f"`{types[name]}`" if types.get(name) else " or ".join(f"`{k}`" for k in seen)
        yield name, kind.replace("|", "\\|"), primitive.traits.parameters.get(name, "")


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of all generated pages."""
    for name in (*public_modules(), *KERNEL):
        yield name, page_of(import_module(name))
    yield "tables", tables_page()
    yield "options", options_page()
    yield "parameters", parameters_page()


def write_pages(app: Any) -> None:
    """Write the pages, and those that have not changed not again."""
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(exist_ok=True)
    written = {folder / f"{name}.md": text for name, text in pages()}
    for path in set(folder.glob("*.md")) - set(written):
        path.unlink()
    for path, text in written.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def without_any(
    app: Any,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    signature: str | None,
    result: str | None,
) -> tuple[str | None, str | None]:
    """Signatures without the annotation ``Any``, which says nothing."""
    return signature and signature.replace(": Any", ""), None if result == "Any" else result


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-signature", without_any)
    return {"parallel_read_safe": True}
