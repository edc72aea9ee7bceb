"""Where a library's tests come from: its source distribution, which pip fetches."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from .environment import BUILD, Environment
from .libraries import HERE, Library

SUITES = BUILD / "suites"
CONFIGURATIONS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


def files_of(
    library: Library, environment: Environment, checkout: str | None = None, sample: bool = False
) -> tuple[Path, list[str]]:
    """The folder in which to run a library's tests, and their files below it, or the folders of
    these where one process runs them together.

    ``checkout`` is a folder with the library's repository, whose tests are taken instead.
    """
    root = Path(checkout).resolve() if checkout else SUITES / f"{library.folder}-{library.suite}"
    if not checkout and not root.exists():
        _fetch(library, environment, root)
    places = ["tests", "test"] if checkout and not library.tests else library.tests
    if library.together and not sample:
        return root, sorted(places)
    result = {
        path.relative_to(root).as_posix()
        for place in places
        for path in _tests_below(root / place, library.patterns)
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
    }
    files = sorted(f for f in result if not _why_left_out(library, f))
    return root, [f for f in files if f in library.sample] if sample else files


def _tests_below(place: Path, patterns: list[str]) -> list[Path]:
    if place.is_file():
        return [place]
    return [path for pattern in patterns for path in place.rglob(pattern)]


def _why_left_out(library: Library, file: str) -> str:
    return next((why for start, why in library.left_out.items() if file.startswith(start)), "")


def _fetch(library: Library, environment: Environment, root: Path) -> None:
    """Fetches and unpacks a source distribution, and puts files of ours into it: what its tests
    import and it lacks, and tests of classes that a library ships for others to inherit."""
    root.mkdir(parents=True)
    name = library.needs[0]
    if library.tests:
        with_name = f"{name}=={library.suite}"
        folder = SUITES / "fetched"
        command = [environment.python, "-m", "pip", "--quiet", "download", "--no-deps"]
        command += ["--no-binary", name, "--dest", folder, with_name]
        subprocess.run(command, check=True)
        normal = name.replace("-", "[-_]")
        (archive,) = folder.glob(f"{normal}-{library.suite}.tar.gz")
        _unpack(archive, root)
        if library.suite != library.version:
            leave_tests(root, library)
    if not any(_configures(root / name) for name in CONFIGURATIONS):
        # Or pytest would take that of this repository, below which the folder is.
        (root / "pytest.ini").write_text("[pytest]\n")
    ours = HERE / "supplied" / library.folder
    if ours.exists():
        shutil.copytree(ours, root, dirs_exist_ok=True)


def leave_tests(root: Path, library: Library) -> None:
    """Removes an older version's modules and metadata, so that the installed one is imported."""
    for path in (root / library.module.partition(".")[0]).rglob("*"):
        if path.is_file() and not any(path.match(pattern) for pattern in library.patterns):
            path.unlink()
    for metadata in root.glob("*.egg-info"):
        shutil.rmtree(metadata)


def _configures(file: Path) -> bool:
    """Whether pytest takes this file as its configuration."""
    if not file.exists():
        return False
    return file.name == "pytest.ini" or bool(
        re.search(r"^\[(tool[.:])?pytest", file.read_text(), re.M)
    )


def _unpack(archive: Path, root: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(root.parent / "unpacked", filter="data")
    (inner,) = (root.parent / "unpacked").iterdir()
    root.rmdir()
    inner.rename(root)
