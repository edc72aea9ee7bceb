"""What manifests say of rules of a package's own primitives holds, and spares a process imports."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from dovetail_core import registry
from dovetail_core.registry.plugins import KERNEL_TABLES
from dovetail_testing.inventory import import_primitives


def test_own_rules_are_of_primitives_of_their_package() -> None:
    import_primitives()
    own = {m for manifest in registry().active.values() for m in manifest.own_rules}
    for name in (*KERNEL_TABLES, *registry().entries("tables")):
        table = registry().table(name)
        table.fill()
        assert getattr(table._derive, "__module__", "") not in own, f"{name} gets its deriver late"
        for primitive, origin in table.origins.items():
            while origin is not None:
                if origin.module in own:
                    same = origin.module.partition(".")[0] == primitive.module.partition(".")[0]
                    assert same, f"{origin} of own_rules has a rule of {primitive.name} for {name}"
                origin = origin.replaced


def test_own_rules_are_contributed() -> None:
    for name, manifest in registry().active.items():
        contributed = {m for modules in manifest.contributes.values() for m in modules}
        assert not {*manifest.own_rules, *manifest.families} - contributed, name


def test_families_are_of_primitives_of_their_modules() -> None:
    """No rule is missed because its module waits for another primitive, and none waits in vain."""
    import_primitives()
    said = {m: {*homes} for x in registry().active.values() for m, homes in x.families.items()}
    result: dict[str, set[str]] = {m: set() for m in said}
    for name in (*KERNEL_TABLES, *registry().entries("tables")):
        table = registry().table(name)
        table.fill()
        assert getattr(table._derive, "__module__", "") not in said, f"{name} gets its deriver late"
        for primitive, origin in table.origins.items():
            while origin is not None:
                if origin.module in said:
                    result[origin.module].add(primitive.module)
                origin = origin.replaced
    assert result == said


SCRIPT = """
import sys
import dovetail as dv
import dovetail.numpy as dnp

def loss(w, x):
    return dnp.mean(dnp.tanh(x @ w) ** 2)

print(dv.jit(dv.vmap(dv.value_and_grad(loss), (None, 0)))(dnp.ones((3, 2)), dnp.ones((5, 4, 3)))[0])
families = ("collectives", "condensed", "factorizations", "sorting", "rng", "jvp.windows")
print([m for m in sys.modules if "lax.rules." in m and m.endswith(families)])
names = ("callbacks", "checkify", "nn", "random", "refs", "remat", "sharding")
late = [f"dovetail_{n}" for n in names]
print([m for m in sys.modules if m.partition(".")[0] in late and ".rules" in m])

with_more = dv.checkpoint(lambda w, x: loss(w, x) + dv.random.normal(dv.random.key(0)))
print(dv.jit(dv.grad(with_more))(dnp.ones((3, 2)), dnp.ones((4, 3))).shape)
print("dovetail_remat.rules.differentiation" in sys.modules)
"""


def test_a_program_imports_no_rules_of_what_it_does_not_use() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    value, families, rules, shape, result = done.stdout.splitlines()
    expected = np.full(5, np.tanh(3.0) ** 2)
    np.testing.assert_allclose(np.array(value.strip("[]").split(), float), expected, rtol=1e-6)
    assert (families, rules, shape, result) == ("[]", "[]", "(3, 2)", "True")


@pytest.mark.parametrize("how", ["jvp", "vjp"])
def test_rules_come_in_the_middle_of_a_trace(how: str) -> None:
    """The first primitive of a package is made while a function is differentiated."""
    script = f"""
import dovetail as dv
import dovetail.numpy as dnp

def f(x):
    y = dnp.sin(x)
    return dv.checkpoint(dnp.cos)(y) * dv.nn.relu(y)

def g(x):
    return dnp.cos(dnp.sin(x)) * dnp.sin(x)

grad = dv.grad if "{how}" == "vjp" else lambda f: lambda x: dv.jvp(f, (x,), (1.0,))[1]
print(abs(grad(f)(0.7) - grad(g)(0.7)) < 1e-6)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


SMALL = """
import sys
import dovetail.numpy as dnp
import dovetail as dv

print(dv.jit(dv.grad(lambda x: dnp.sum(dnp.sin(x) ** 2)))(dnp.ones(3) + 1).shape)
late = ("importlib.metadata", "email", "pluggy", "dovetail_repeats.outlining")
print([m for m in late if m in sys.modules])
dv.config.update("log_compiles", True)
print("pluggy" in sys.modules)
"""


def test_a_small_program_imports_nothing_that_only_others_need() -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
    command = [sys.executable, "-c", SMALL]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=clean)
    assert done.stdout.splitlines() == ["(3,)", "[]", "True"]
