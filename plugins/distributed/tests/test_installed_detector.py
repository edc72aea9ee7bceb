"""A detector that a third party's distribution brings, installed by pip: the one of the guide."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail_distributed.addresses import reserve

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "processes.md"
INSTALL = "pip install --quiet --no-deps --no-index --no-build-isolation --target".split()
OTHERS = ("DOVETAIL_", "SLURM_", "OMPI_", "PMI", "PBS_")
PROGRAM = """
import dovetail
dovetail.distributed.initialize(initialization_timeout=30, shutdown_timeout_seconds=30)
from dovetail.experimental import multihost_utils
me = dovetail.process_index()
print(me, "of", dovetail.process_count(), multihost_utils.process_allgather(me).tolist())
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder in which pip has installed the files of the guide."""
    folder = tmp_path_factory.mktemp("acme")
    files = re.findall(r"^```\w+\n# ([\w./]+)\n(.*?)^```$", GUIDE.read_text(), re.M | re.S)
    for name, text in files:
        if name == "pyproject.toml" or name.startswith("acme_pbs/"):
            path = folder / "acme" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (folder / "acme" / "acme_pbs" / "__init__.py").touch()
    command = [sys.executable, "-m", *INSTALL, str(folder / "site"), "."]
    done = subprocess.run(command, cwd=folder / "acme", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def start(site: Path, program: str, **variables: str) -> subprocess.Popen[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(OTHERS)}
    env |= {"PYTHONPATH": str(site), **variables}
    command = [sys.executable, "-c", program]
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=site
    )


def test_initialize_asks_it(site):
    kept = reserve("127.0.0.1")
    job = {"COORDINATOR": f"127.0.0.1:{kept.getsockname()[1]}", "PBS_NP": "2"}
    made = [start(site, PROGRAM, **job, PBS_NODENUM=str(i)) for i in range(2)]
    try:
        texts = [p.communicate(timeout=90)[0] for p in made]
    finally:
        for p in made:
            p.kill()
        kept.close()
    assert [p.returncode for p in made] == [0, 0], texts
    assert all(f"{i} of 2 [0, 1]" in text for i, text in enumerate(texts))


def test_it_is_known_by_name(site):
    program = "import dovetail\ndovetail.distributed.initialize(cluster_detection_method={!r})"
    unknown, absent = (start(site, program.format(name)) for name in ("acme", "pbs"))
    assert re.search(r"there are .*\bpbs, slurm\b", unknown.communicate(timeout=60)[0])
    assert (
        "'pbs' at <string>:2 (<module>), and this process was not"
        in absent.communicate(timeout=60)[0]
    )
    assert unknown.returncode == absent.returncode == 1
