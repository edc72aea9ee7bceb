"""``dovetail new``: what is written for any choice of parts, and what is refused."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

from dovetail_cli import main
from dovetail_cli.new import PARTS, files, write
from dovetail_core import Manifest

CHOICES = [c for n in range(1, 5) for c in itertools.combinations(PARTS, n)]
FIELDS = {  # of the manifest, by the part that fills them
    "primitive": {"primitives", "contributes", "samples"},
    "transformation": {"tables", "contributes", "laws"},
    "backend": {"backends"},
    "type": {"primitives", "types"},
}
ALWAYS = {"name", "api", "requires", "surfaces"}


@pytest.fixture
def dovetail(capsys, tmp_path, monkeypatch):
    """Run a command line in an empty folder; its exit status, output and error output."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def run(*argv):
        try:
            status = main(argv)
        except SystemExit as e:
            status = e.code
        return (status, *capsys.readouterr())

    return run


def manifest_in(folder: Path, name: str) -> Manifest:
    result: dict[str, Manifest] = {}
    exec((folder / f"dovetail_{name}/plugin.py").read_text(), result)
    return result["MANIFEST"]


def targets(manifest: Manifest) -> set[str]:
    """The modules that a manifest names."""
    result = {*manifest.primitives, *manifest.samples, *manifest.types}
    for mapping in (manifest.surfaces, manifest.tables, manifest.backends, manifest.laws):
        result |= {target.partition(":")[0] for target in mapping.values()}
    return result | {m for modules in manifest.contributes.values() for m in modules}


@pytest.mark.parametrize("parts", CHOICES, ids="-".join)
def test_every_choice_of_parts(tmp_path, parts):
    folder, name = tmp_path / "made", "my_plugin"
    write(folder, name, parts)
    manifest = manifest_in(folder, name)
    filled = {f for f in vars(manifest) if getattr(manifest, f)}
    assert filled == ALWAYS.union(*(FIELDS[p] for p in parts))
    for module in targets(manifest):
        path = folder.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module
    for part in PARTS:
        assert (folder / f"dovetail_{name}" / part).is_dir() == (part in parts)
        assert (folder / "tests" / part).is_dir() == (part in parts)
    for path in (p for p in folder.rglob("*") if p.is_file()):
        text = path.read_text()
        assert "acme" not in f"{path.relative_to(folder)}{text}"
        assert not any(f"with {p}" in text for p in PARTS), path
        assert text.endswith("\n") or path.name == "py.typed"
        if path.suffix == ".py":
            ast.parse(text)
    readme = (folder / "README.md").read_text()
    assert [p for p in PARTS if f"/{p}/" in readme] == [p for p in PARTS if p in parts]


def test_nothing_of_the_template_is_left_out():
    written = {path for path, _ in files(PARTS)}
    for part in PARTS:
        assert {p for p, _ in files([part])} < written
    assert {"README.md", "pyproject.toml", "dovetail_acme/py.typed"} <= written
    assert not any("__pycache__" in path for path in written)


def test_what_is_left_is_formatted(tmp_path):
    write(tmp_path / "made", "zeta", ["primitive"])
    text = (tmp_path / "made/dovetail_zeta/plugin.py").read_text()
    assert '    requires=("lax",),\n' in text
    assert '    primitives=("dovetail_zeta.primitive.shift",),\n' in text


def test_what_it_says(dovetail, tmp_path):
    status, out, err = dovetail("new", "zeta", "--with", "type, primitive")
    assert (status, err) == (0, "")
    assert (
        out
        == """\
dovetail-zeta: the plugin 'zeta', with

  primitive  an operation with its type rule, decomposition, rules and samples
  type       a high type, a kind of values made of arrays, and operations on them

Next:

  cd dovetail-zeta
  pip install -e '.[test]'
  pytest

README.md says more.
"""
    )
    assert manifest_in(tmp_path / "dovetail-zeta", "zeta").name == "zeta"


def test_without_parts_it_has_a_primitive(dovetail, tmp_path):
    assert dovetail("new", "zeta", "--to", "here/zeta")[0] == 0
    folder = tmp_path / "here/zeta"
    assert [p for p in PARTS if (folder / "dovetail_zeta" / p).exists()] == ["primitive"]
    status, out, _ = dovetail("new", "--help")
    said = " ".join(out.split())
    assert status == 0 and "(default: primitive, with which most plugins begin)" in said
    assert "(default: dovetail-NAME)" in said


@pytest.mark.parametrize("name", ["Zeta", "2d", "my-plugin", "_x", "a__b", "x_", "class", "", "ä"])
def test_names_that_no_plugin_can_have(dovetail, tmp_path, name):
    status, out, err = dovetail("new", name)
    assert (status, out) == (2, "") and not list(tmp_path.iterdir())
    assert err == (
        f"dovetail: error: a plugin cannot be called {name!r}: use lower-case letters, digits and "
        "single underscores between them, with a letter first, and no word of Python's own.\n"
    )


def test_names_that_somebody_has(site, dovetail):
    site.plugin("taken", "names={'cost': 'm:x'}, surfaces={'wave': 'm'}, backends={'chip': 'm:x'}")
    site.plugin("sad", "requires=('gone',)", version="0.1")
    for name, why in {
        "taken": "a plugin 'taken' is installed already, by taken-dist 1.0",
        "sad": "a plugin 'sad' is installed already, by sad-dist 0.1",
        "cost": "dovetail.cost is taken, by the names of plugin 'taken'",
        "wave": "dovetail.wave is taken, by the surfaces of plugin 'taken'",
        "chip": "chip is taken, by the backends of plugin 'taken'",
        "core": "a package dovetail_core is installed already",
    }.items():
        status, out, err = dovetail("new", name)
        assert (status, out) == (2, "")
        assert err.endswith(f"dovetail: error: {why}. Choose another name.\n")


def test_a_part_that_there_is_not(dovetail):
    status, _, err = dovetail("new", "zeta", "--with", "primitive,pass")
    assert (status, err) == (
        2,
        "dovetail: error: --with 'primitive,pass': there is no part 'pass'. Choose from primitive, "
        "transformation, backend, type, with commas between.\n",
    )
    assert "there is no part ''" in dovetail("new", "zeta", "--with", "")[2]


def test_a_folder_that_is_there(dovetail, tmp_path):
    (tmp_path / "dovetail-zeta").mkdir()
    status, _, err = dovetail("new", "zeta")
    said = "dovetail: error: dovetail-zeta exists already. Name a new folder with --to.\n"
    assert (status, err) == (2, said)
    (tmp_path / "file").touch()
    status, _, err = dovetail("new", "zeta", "--to", "file/zeta")
    assert status == 2 and err.startswith("dovetail: error: file/zeta cannot be written: ")
