"""Kill and stop processes, and renew the table of ``docs/guides/processes.md`` with the seconds.

python tools/measure_failures.py [--write]
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guides" / "processes.md"
BEGIN, END = "<!-- failures -->\n", "<!-- end -->\n"


def table() -> str:
    """The table, one scenario at a time.

    Raises:
        SystemExit: something is wrong with one of them.
    """
    package: Any = ModuleType("distributed_tests")
    package.__path__ = [str(ROOT / "plugins" / "distributed" / "tests")]
    sys.modules["distributed_tests"] = package
    tests: Any = import_module("distributed_tests.test_failures")
    rows = ["| what happens | limit | seconds |", "| --- | --- | --- |"]
    for scenario in tests.SCENARIOS:
        with TemporaryDirectory() as folder:
            seconds, wrong = tests.measure(scenario, Path(folder))
        if wrong:
            raise SystemExit("\n".join(wrong))
        limit = f"`{scenario.limit}`" if scenario.limit else ""
        rows.append(f"| {scenario.title} ({scenario.count}) | {limit} | {seconds:.1f} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Print the table, and put it into the page with ``--write``."""
    result = table()
    print(result, end="")
    if "--write" in sys.argv[1:]:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{result}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
