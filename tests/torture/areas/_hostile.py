"""Distributions that do harm, written into a folder; each by the words of its kind."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


def _nothing() -> dict[str, str]:
    return {}


@dataclass
class Distribution:
    """What is written.

    Attributes:
        name: of the plugin; the distribution is ``<name>-dist``.
        body: further arguments of its manifest.
        modules: by name, their source.
        plugin: source of the module with the manifest, instead.
        said: what is to be in a warning, by default name and version of the distribution.
        variables: the environment.
        interrupts: whether it raises KeyboardInterrupt, once.
        entry_points, metadata: what is in these files, instead.
    """

    name: str
    body: str = ""
    modules: dict[str, str] = field(default_factory=_nothing)
    plugin: str = ""
    said: str = "?"
    variables: dict[str, str] = field(default_factory=_nothing)
    interrupts: bool = False
    entry_points: bytes = b""
    metadata: str = "?"
    entry: str = ""

    def __post_init__(self) -> None:
        if self.said == "?":
            self.said = f"{self.name}-dist 2.5"

    def write(self, folder: Path) -> None:
        """Write all files into a folder of ``sys.path``."""
        manifest = f"MANIFEST = Manifest({self.entry or self.name!r}, {self.body})\n"
        source = self.plugin or f"from dovetail_core import Manifest\n{manifest}"
        for module, text in {**self.modules, f"{self.name}_plugin": source}.items():
            (folder / f"{module}.py").write_text(text)
        info = folder / f"{self.name}_dist-2.5.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {self.name}-dist\nVersion: 2.5\n"
        if self.metadata:
            (info / "METADATA").write_text(metadata if self.metadata == "?" else self.metadata)
        entry = f"{self.entry or self.name} = {self.name}_plugin:MANIFEST"
        points = self.entry_points or f"[dovetail.plugins]\n{entry}\n".encode()
        (info / "entry_points.txt").write_bytes(points)


_ERRORS = [
    "raise SystemExit(0)",
    "raise SystemExit",
    "import sys; sys.exit('bye')",
    "exit()",
    "raise GeneratorExit",
    "raise type('Odd', (BaseException,), {})('odd')",
    "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})",
    "raise MemoryError",
    "def f(): f()\nf()",
    "import asyncio; raise asyncio.CancelledError",
    "raise StopIteration",
    "import no_such_module_at_all",
    "def",
    "from dovetail_core import no_such_name",
    "raise ExceptionGroup('many', [ValueError('a'), KeyError('b')])",
    "raise Exception('long ' * 10_000)",
    "raise Exception('\\ud800 \\x00 \\n lines')",
    "raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'no')",
    "1 / 0",
]

_OURS = {
    "names": ["grad", "jit", "numpy.sin", "config", "lax.scan"],
    "surfaces": ["numpy", "lax", "random"],
    "tables": ["ad.jvp", "eval", "backends.stablehlo", "dce"],
    "backends": ["cpu", "reference"],
    "options": ["enable_x64", "platforms", "num_cpu_devices", "enable_checks"],
    "passes": ["discharge"],
    "commands": ["ir", "doctor"],
    "providers": ["algebra", "evaluator", "array_methods", "discharge"],
    "laws": ["ad.jvp"],
}


def _import_fails(rng: random.Random, n: int) -> Distribution:
    return Distribution(f"evil{n}", plugin=rng.choice(_ERRORS) + "\n")


_FIELDS = [
    "requires='lax'", "requires=7", "requires=(None,)", "names=['grad']", "names={3: 'm:x'}",
    "names={'a': None}", "names={'a': 'two words'}", "tables={'a': ':x'}", "tables=None",
    "contributes={'ad.jvp': 'module'}", "contributes={'ad.jvp': (3,)}", "contributes=()",
    "types='module'", "types=[b'x']", "providers={'algebra': object()}", "hooks=3", "hooks=['m']",
    "options={'x': ''}", "api=1", "api=(1, 2, 3)", "api=('1', '1')", "api=(2**70, 2**71)",
    "api=(-5, 0)", "requires=('no_such_plugin',)",
    "names=type('M', (dict,), {'items': lambda self: 1 / 0})()",
    "names=type('M', (dict,), {'items': lambda self: [('a',)]})()",
    "primitives=type('T', (tuple,), {'__iter__': lambda self: iter([3])})((1,))",
]  # fmt: skip


def _bad_field(rng: random.Random, n: int) -> Distribution:
    return Distribution(f"evil{n}", rng.choice(_FIELDS))


_NO_MANIFESTS = [
    "MANIFEST = {}",
    "MANIFEST = None",
    "",
    "class Odd:\n    def __getattr__(self, name): raise SystemExit\nMANIFEST = Odd()",
    "def __getattr__(name): raise SystemExit",
    "from dovetail_core import Manifest\nMANIFEST = Manifest('somebody_else')",
    "from dovetail_core import Manifest\nMANIFEST = Manifest",
    "from dovetail_core import Manifest\nclass Odd(Manifest):\n"
    "    names = property(lambda s: 1 / 0)\nMANIFEST = object.__new__(Odd)",
    "import dovetail, dovetail.numpy as jnp\nfrom dovetail_core import Manifest\njnp.ones(3)\n"
    "MANIFEST = Manifest('evil')",
    "from dovetail_core import registry\nregistry()",
]


def _no_manifest(rng: random.Random, n: int) -> Distribution:
    return Distribution(f"evil{n}", plugin=rng.choice(_NO_MANIFESTS) + "\n")


def _claims(rng: random.Random, n: int) -> Distribution:
    kind = rng.choice([*_OURS])
    names = {f"{name}": f"evil{n}_m:X" for name in rng.sample(_OURS[kind], 1)}
    if names.keys() & {"config", "lax.scan"}:  # said where such a name is used
        names = {"grad": f"evil{n}_m:X"}
    return Distribution(f"evil{n}", f"{kind}={names!r}", {f"evil{n}_m": "X = 3\n"})


def _our_plugin(rng: random.Random, n: int) -> Distribution:
    return Distribution(f"evil{n}", entry=rng.choice(["ad", "lax", "jit", "numpy", "backends"]))


_RULES = [
    "from dovetail_lax import sin_p\nregistry().table('ad.jvp').set(sin_p, lambda *a: 3)",
    "from dovetail_lax import sin_p, mul_p\nt = registry().table('ad.jvp')\n"
    "t.set(mul_p, lambda *a: 4, override=True)\nt.set(sin_p, lambda *a: 3)",
    "from dovetail_core import Primitive\nfrom dovetail_lax import sin_p\nPrimitive('sin')",
    "registry().table('ad.jvp').deriver(lambda p: None)",
    "registry().table('no.such')",
]


def _bad_rules(rng: random.Random, n: int) -> Distribution:
    table = rng.choice(["ad.jvp", "ad.jvp", "eval", "backends.stablehlo", "batching.batch"])
    source = rng.choice(_ERRORS)
    if rng.random() < 0.4:
        table, source = "ad.jvp", rng.choice(_RULES)
    source = f"from dovetail_core import registry\n{source}\n"
    body = f"contributes={{{table!r}: ('evil{n}_rules',)}}"
    return Distribution(f"evil{n}", body, {f"evil{n}_rules": source})


def _bad_types(rng: random.Random, n: int) -> Distribution:
    return Distribution(
        f"evil{n}", f"types=('evil{n}_types',)", {f"evil{n}_types": rng.choice(_ERRORS) + "\n"}
    )


_HOOKS = [
    "@hookimpl\ndef dovetail_traced(name):\n    {}",
    "@hookimpl\ndef dovetail_lowered(module):\n    {}",
    "@hookimpl\ndef dovetail_compiled(seconds):\n    {}",
    "@hookimpl\ndef dovetail_compile_options(platform):\n    {}",
    "@hookimpl\ndef dovetail_compile(module, options):\n    {}",
    "@hookimpl(wrapper=True)\ndef dovetail_compile(module):\n    {}\n    return (yield)",
    "@hookimpl(wrapper=True)\ndef dovetail_compile_options():\n    found = yield\n    {}",
    "@hookimpl(hookwrapper=True)\ndef dovetail_traced():\n    yield\n    {}",
]
_RAISES = [
    "1 / 0",
    "raise SystemExit",
    "raise StopIteration",
    "raise KeyError('x')",
    "assert False",
]
_ODD_HOOKS = [
    "@hookimpl\ndef dovetail_tracd(name): ...",
    "@hookimpl\ndef dovetail_traced(no_such_argument): ...",
    "@hookimpl(wrapper=True)\ndef dovetail_traced(name): ...",
    "@hookimpl\ndef dovetail_compile_options(platform): return [3]",
    "@hookimpl\ndef dovetail_compile_options(platform): return 'xla'",
]


def _bad_hooks(rng: random.Random, n: int) -> Distribution:
    source = rng.choice([rng.choice(_HOOKS).format(rng.choice(_RAISES)), rng.choice(_ODD_HOOKS)])
    if rng.random() < 0.2:
        source = rng.choice(_ERRORS)
    source = f"from dovetail_core import hookimpl\n{source}\n"
    return Distribution(f"evil{n}", f"hooks='evil{n}_hooks'", {f"evil{n}_hooks": source})


_ENTRIES = {
    "passes": [
        "X = 3", "1 / 0", "raise SystemExit",
        "from dovetail_core import Pass\nX = Pass('a', 'middle', print)",
        "from dovetail_core import Pass\nX = Pass(3, 'ir', print)",
        "from dovetail_core import Pass\n"
        "X = Pass('a', 'ir', print, before=('discharge',), after=('discharge',))",
    ],
    "backends": [
        "X = 3", "1 / 0", "raise SystemExit",
        "class X:\n    platform, priority = 'x', 10**9",
        "class X:\n    platform, priority = 3, 'high'\n    problem = devices = local_devices = str",
    ],
}  # fmt: skip


def _bad_entry(rng: random.Random, n: int) -> Distribution:
    kind = rng.choice([*_ENTRIES])
    source = rng.choice(_ENTRIES[kind])
    # Of a pass that contradicts others its own name is said.
    said = "the pass 'a' is set aside" if "discharge" in source else "?"
    body = f"{kind}={{'evil{n}': 'evil{n}_m:X'}}"
    return Distribution(f"evil{n}", body, {f"evil{n}_m": source + "\n"}, said=said)


_CHANGES = [
    "warnings.simplefilter('error')",
    "warnings.filterwarnings('error', category=RuntimeWarning)",
    "sys.setrecursionlimit(120)",
    "os.environ['DOVETAIL_STRICT'] = '1'",
    "os.environ['DOVETAIL_PLATFORMS'] = 'nowhere'",
    "os.environ['DOVETAIL_DISABLE_PLUGINS'] = 'ad,lax,backends'",
]


def _changes(rng: random.Random, n: int) -> Distribution:
    source = f"import os, sys, warnings\n{rng.choice(_CHANGES)}\n"
    where = rng.choice(["plugin", "types", "rules"])
    if where == "plugin":
        rest = f"from dovetail_core import Manifest\nMANIFEST = Manifest('evil{n}')\n"
        return Distribution(f"evil{n}", plugin=source + rest)
    body = "types=('{}',)" if where == "types" else "contributes={{'ad.jvp': ('{}',)}}"
    return Distribution(f"evil{n}", body.format(f"evil{n}_m"), {f"evil{n}_m": source})


def _malformed(rng: random.Random, n: int) -> Distribution:
    kind = rng.choice(["torn", "bytes", "no metadata", "empty metadata", "target"])
    name = f"evil{n}"
    if kind == "torn":
        return Distribution(name, entry_points=b"[dovetail.plugins]\nnonsense\n")
    if kind == "bytes":
        return Distribution(name, entry_points=b"[dovetail.plugins]\n\xff\xfe = \x00\n")
    if kind == "target":
        target = rng.choice(["a b c", ":x", "no_such_module", "os:path:sep", "..", "os:getcwd()"])
        points = f"[dovetail.plugins]\n{name} = {target}\n".encode()
        return Distribution(name, entry_points=points)
    metadata = "" if kind == "no metadata" else "nothing\n"
    return Distribution(
        name, plugin="1 / 0\n", metadata=metadata, said=f"evil{n}_dist-2.5.dist-info"
    )


def _misspelt(rng: random.Random, n: int) -> Distribution:
    variables, said = rng.choice(
        [
            ({"DOVETAIL_DISABLE_PLUGINS": "evl"}, "named 'evl'"),
            ({"DOVETAIL_ENABLE_X46": "1"}, "did you mean DOVETAIL_ENABLE_X64?"),
            ({"DOVETAIL_ENABLE_CHEKS": "1"}, "did you mean DOVETAIL_ENABLE_CHECKS?"),
            ({"DOVETAIL_NUM_CPU_DEVICE": "1"}, "did you mean DOVETAIL_NUM_CPU_DEVICES?"),
            ({"DOVETAIL_STRIKT": "1"}, "did you mean DOVETAIL_STRICT?"),
            ({"DOVETAIL_NONSENSE": "1"}, "DOVETAIL_NONSENSE, which is no setting"),
        ]
    )
    said = said.replace("named", "DOVETAIL_DISABLE_PLUGINS names")
    return Distribution(f"evil{n}", said=said, variables=variables)


def _interrupts(rng: random.Random, n: int) -> Distribution:
    once = f"import sys\nif not hasattr(sys, 'evil{n}'):\n    sys.evil{n} = 1\n"
    once += "    raise KeyboardInterrupt\n"
    where = rng.choice(["plugin", "types", "rules", "hooks"])
    if where == "plugin":
        rest = f"from dovetail_core import Manifest\nMANIFEST = Manifest('evil{n}')\n"
        return Distribution(f"evil{n}", plugin=once + rest, interrupts=True)
    body = {
        "types": f"types=('evil{n}_m',)",
        "rules": f"contributes={{'ad.jvp': ('evil{n}_m',)}}",
        "hooks": f"hooks='evil{n}_m'",
    }[where]
    return Distribution(f"evil{n}", body, {f"evil{n}_m": once}, interrupts=True)


HOSTILE: dict[str, Callable[[random.Random, int], Distribution]] = {
    "a manifest whose module fails": _import_fails,
    "a manifest with a bad field": _bad_field,
    "no manifest": _no_manifest,
    "names of Dovetail's claimed": _claims,
    "a plugin's name of Dovetail's claimed": _our_plugin,
    "rules that fail or conflict": _bad_rules,
    "types that fail": _bad_types,
    "hooks that fail": _bad_hooks,
    "passes and backends that are none": _bad_entry,
    "the process's state changed": _changes,
    "a damaged distribution": _malformed,
    "variables misspelt": _misspelt,
    "interrupted while it is imported": _interrupts,
}
"""By kind, what makes the n-th distribution of an attack."""
