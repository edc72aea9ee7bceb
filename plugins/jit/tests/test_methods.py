"""Methods of compiled functions that other plugins add."""

from __future__ import annotations

import subprocess
import sys

PLUGIN = "from dovetail_core import Manifest\nMANIFEST = Manifest('acme', members=METHODS)\n"
METHODS = "{'jit.methods.kind': 'acme_methods:kind', 'jit.methods.bad': 'acme_methods:BAD'}"
MODULE = """
BAD = 3

def kind(trace, /, *args, **kwargs):
    return trace(*args, **kwargs).fun_name, args
"""
SCRIPT = """
import sys, weakref
from dovetail_jit import jit

def f(x):
    return x

f = jit(f)
assert "acme_methods" not in sys.modules
print(f.kind(1.0))
try:
    f.bad(1.0)
except Exception as e:
    print(e)
gone = weakref.ref(f)
del f
assert gone() is None  # at once: there is no circle of references
"""


def test_methods_are_members_of_a_collection(tmp_path):
    metadata = tmp_path / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[dovetail.plugins]\nacme = acme_plugin:MANIFEST\n")
    (tmp_path / "acme_plugin.py").write_text(PLUGIN.replace("METHODS", METHODS))
    (tmp_path / "acme_methods.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "('f', (1.0,))"
    assert "'jit.methods.bad' of plugin 'acme'" in second
    assert "it is a int, not a function" in second
