"""Runs the code of pages of documentation and compares what it prints with what the pages show.

    python tests/docs/run_page.py docs/guides/add_a_primitive.md [--write]

Each page runs in a folder of its own; pages that are named together share a process. ``--write``
puts what was printed into the page, where that shows something else. In a page's fenced blocks

- ``python`` is a piece of one script. A block ``text`` right behind it is what it prints, the
  exception that it ends with (``Type: message``) included: without that block it may print
  anything, and not raise. White space does not count, ``...`` is anything in a line, and a line
  ``...`` any lines;
- whatever begins with a line ``# NAME.SUFFIX`` is that file. Python goes to the end of the file,
  and runs in its module where the script has imported it;
- ``console`` has commands (``$ command``), each followed by what it prints. ``pip install -e .``
  and ``pip install examples/NAME`` let Python find a distribution and its entry points.

Other blocks (``text`` elsewhere, ``sh``) are only to be read.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import textwrap
import tomllib
import traceback
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NamedTuple

FENCE = re.compile(r"^```(.*)$")
FILE = re.compile(r"^# ([\w./-]+\.\w+)$")
NUMBERS = re.compile(r"(\bdovetail[\w-]*\s+|\.py:)\d[\d.]*")
ANY_LINES = "(?s:.*)"
WIDTH = 100
ROOT = Path(__file__).resolve().parents[2]


class Block(NamedTuple):
    """A fenced block: its language, its lines, and the number of the first of these."""

    language: str
    lines: list[str]
    start: int

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def blocks(lines: list[str]) -> Iterator[Block]:
    """The fenced blocks of a page."""
    opened: tuple[str, int] | None = None
    for i, line in enumerate(lines):
        fence = FENCE.match(line)
        if fence and opened is None:
            opened = (fence[1].strip(), i + 1)
        elif fence and opened is not None and not fence[1]:
            yield Block(opened[0], lines[opened[1] : i], opened[1])
            opened = None


class Page:
    """One page, run block by block; ``found`` are places where it shows something else."""

    def __init__(self, path: Path) -> None:
        self.file = f"{path.stem}.py"
        self.lines = path.read_text().split("\n")
        self.script = ModuleType("__main__")
        sys.modules["__main__"] = self.script
        self.found: list[str] = []
        self.edits: list[tuple[int, int, list[str]]] = []

    def run(self) -> None:
        """Run every block in order."""
        every = list(blocks(self.lines))
        for block, after in zip(every, [*every[1:], None]):
            named = FILE.match(block.lines[0]) if block.lines else None
            if block.language == "console":
                self.console(block)
            elif named is not None:
                self.write(block, Path(named[1]))
            elif block.language == "python":
                shown = after if after and self._follows(block, after) else None
                self.execute(block, vars(self.script), (self.file, block.start), shown)

    def _follows(self, block: Block, after: Block) -> bool:
        between = self.lines[block.start + len(block.lines) + 1 : after.start - 1]
        return after.language == "text" and not "".join(between).strip()

    def execute(
        self, block: Block, names: dict[str, Any], place: tuple[str, int], shown: Block | None
    ) -> None:
        """Run a block that stands at ``place``, and compare what it prints and raises."""
        file, line = place
        printed = io.StringIO()
        raised = ""
        with redirect_stdout(printed):
            try:
                exec(compile("\n" * line + block.text, file, "exec"), names)
            except Exception as e:
                print(f"{type(e).__name__}: {e}")
                raised = traceback.format_exc()
        if shown is not None:
            self.compare(printed.getvalue(), shown.lines, shown.start)
        elif raised:
            self.found.append(f"line {block.start + 1}: the page does not show\n{raised}")

    def compare(self, printed: str, shown: list[str], start: int) -> None:
        """Note a difference between what is printed and some lines of the page."""
        printed = printed.replace(f"{os.getcwd()}/", "").rstrip()
        if not fits(printed, "\n".join(shown)):
            self.found.append(f"line {start + 1}: the page does not show\n{printed}")
            self.edits.append((start, start + len(shown), tidied(printed)))

    def write(self, block: Block, path: Path) -> None:
        """Put a block into a file, and run it in the file's module if that is imported."""
        old = path.read_text() if path.exists() and path.suffix == ".py" else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{old}\n\n{block.text}\n" if old else f"{block.text}\n")
        name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        if path.suffix == ".py" and name in sys.modules:
            line = old.count("\n") + 2
            self.execute(block, vars(sys.modules[name]), (str(path), line), None)

    def console(self, block: Block) -> None:
        """Run commands, each with the lines up to the next one as what it prints."""
        starts = [i for i, line in enumerate(block.lines) if line.startswith("$ ")]
        for i, end in zip(starts, [*starts[1:], len(block.lines)]):
            printed = command(block.lines[i][2:])
            self.compare(printed, block.lines[i + 1 : end], block.start + i + 1)

    def edited(self) -> str:
        """The page with what was printed in place of what it showed."""
        lines = list(self.lines)
        for start, end, new in sorted(self.edits, reverse=True):
            lines[start:end] = new
        return "\n".join(lines)


def fits(printed: str, shown: str) -> bool:
    """Whether a page's text says what was printed, but for white space, ``...`` and numbers that
    every edit or release changes."""
    printed, shown = (NUMBERS.sub(r"\1N", text) for text in (printed, shown))
    anything = re.sub(r"^\.\.\.$", "\0", shown.strip(), flags=re.MULTILINE)
    pieces = re.split(r"(\0|\.\.\.|\s+)", anything)
    patterns = {"\0": ANY_LINES, "...": ".*"}
    pattern = "".join(r"\s+" if p.isspace() else patterns.get(p, re.escape(p)) for p in pieces)
    pattern = pattern.replace(rf"{ANY_LINES}\s+", ANY_LINES).replace(rf"\s+{ANY_LINES}", ANY_LINES)
    return re.fullmatch(pattern, printed.strip()) is not None


def tidied(text: str) -> list[str]:
    """What a page shows of a text: short lines, no times, no inner frames."""
    text = re.sub(r"(?<=\(most recent call last\):\n)(  .*\n)+", "...\n", text)
    text = re.sub(r"\d+\.\d+( ?m?s\b)", r"...\1", text)
    text = re.sub(r"^[.s]+ +\[ *\d+%\]\n(?:.*\n)*.* passed", "...\n... passed", text)
    return [w for line in text.split("\n") for w in (_wrap(line) if len(line) > WIDTH else [line])]


def _wrap(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)


def command(line: str) -> str:
    """What a shell command prints; ``pip install`` is done by hand, which takes no time."""
    if line.startswith("pip install"):
        target = line.split()[-1]
        return install(ROOT / target if target.startswith("examples/") else Path.cwd())
    bin = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "COLUMNS": str(WIDTH)}
    done = subprocess.run(
        line, shell=True, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    failed = line.startswith("pytest") and done.returncode
    return f"{done.stdout}\n(exit status {done.returncode})" if failed else done.stdout


def install(where: Path) -> str:
    """Let Python find the distribution of a ``pyproject.toml`` and its entry points."""
    project = tomllib.loads((where / "pyproject.toml").read_text())["project"]
    if where != Path.cwd():
        sys.path.insert(1, str(where))
        os.environ["PYTHONPATH"] += f"{os.pathsep}{where}"
    info = Path(f"{project['name'].replace('-', '_')}-{project['version']}.dist-info")
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project.get("entry-points", {})
    sections = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items())
        for group, entries in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(sections))
    return ""


def run(path: Path) -> Page:
    """Run a page in a folder of its own."""
    with TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        os.chdir(folder)
        sys.path.insert(0, folder)
        os.environ["PYTHONPATH"] = folder
        page = Page(path)
        page.run()
        sys.path.remove(folder)
        os.chdir("/")
    return page


def main() -> int:
    """Run the pages that the command line names; 1 if one shows something else than is printed."""
    paths = [Path(a).resolve() for a in sys.argv[1:] if a != "--write"]
    warnings.simplefilter("error")
    for name in [n for n in os.environ if n.startswith("DOVETAIL_")]:
        del os.environ[name]
    pages = {path: run(path) for path in paths}
    for path, page in pages.items():
        for difference in page.found:
            print(f"{path.name}, {difference}\n")
        if page.edits and "--write" in sys.argv:
            path.write_text(page.edited())
    return int(any(page.found for page in pages.values()))


if __name__ == "__main__":
    sys.exit(main())
