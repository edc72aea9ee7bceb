"""Every piece of code in the documentation runs and prints what the page shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNNER = Path(__file__).with_name("run_page.py")
NAMES = (
    "README.md ARCHITECTURE.md core/README.md docs/*.md docs/guides/*.md docs/reference/*.md "
    "docs/gallery/*.md"
)
PAGES = sorted(p.relative_to(ROOT) for name in NAMES.split() for p in ROOT.glob(name))
KERNEL = sorted(ROOT.glob("docs/reference/kernel/*.md"))


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUNNER), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("page", [p for p in PAGES if "```" in (ROOT / p).read_text()], ids=str)
def test_page(page: Path) -> None:
    done = run(ROOT / page)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_of_the_kernels_reference() -> None:
    done = run(*KERNEL)
    assert done.returncode == 0, done.stdout + done.stderr


PAGE = """
```python
# ten.py
TEN = 10
```

```python
import ten
print(ten.TEN, "pieces")
```

```text
10 pieces
```

```python
# ten.py
TEN = 11
```

```python
raise ValueError(f"{ten.TEN} is too many")
```

```text
ValueError: ... is too   many
```

```console
$ python -c "print(1); print(2)"
1
2
```
"""


def run_text(page: str, where: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (where / "page.md").write_text(page)
    return run(where / "page.md", *options)


def test_a_page_is_one_script(tmp_path: Path) -> None:
    done = run_text(PAGE, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("\n10 pieces", "\n12 pieces", "line 13: the page does not show\n10 pieces"),
        ("too   many", "too few", "line 26: the page does not show\nValueError: 11 is too many"),
        ("1\n2\n", "1\n", "line 31: the page does not show\n1\n2"),
    ],
)
def test_a_page_that_shows_something_else(
    old: str, new: str, difference: str, tmp_path: Path
) -> None:
    done = run_text(PAGE.replace(old, new), tmp_path)
    assert (done.returncode, done.stdout) == (1, f"page.md, {difference}\n\n")


def test_what_is_not_shown(tmp_path: Path) -> None:
    done = run_text("```python\nprint(1)\n```\n\n```python\nprint(1 / 0)\n```\n", tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("page.md, line 6: the page does not show\nTraceback")
    assert "ZeroDivisionError: division by zero" in done.stdout


def test_what_is_printed_can_be_written_into_the_page(tmp_path: Path) -> None:
    done = run_text(PAGE.replace("\n10 pieces", "\n12 pieces"), tmp_path, "--write")
    assert done.returncode == 1
    assert (tmp_path / "page.md").read_text() == PAGE
