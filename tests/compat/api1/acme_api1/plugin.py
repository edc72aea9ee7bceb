"""Manifest of the plugin ``api1``: every field of version 1 of the interface."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "api1",
    api=(1, 1),
    requires=("lax",),
    names={"api1_depends": "acme_api1:depends", "lax.api1_rotate": "acme_api1:rotate"},
    surfaces={"api1": "acme_api1"},
    primitives=("acme_api1.primitives",),
    tables={"api1.depends": "acme_api1.depends:depends_rules"},
    contributes={
        "ad.jvp": ("acme_api1.rules.jvp",),
        "ad.transpose": ("acme_api1.rules.transpose",),
        "batching.batch": ("acme_api1.rules.batch",),
        "backends.stablehlo": ("acme_api1.rules.stablehlo",),
        "backends.reference": ("acme_api1.rules.reference",),
        "dce": ("acme_api1.rules.kernel",),
        "to_lo": ("acme_api1.rules.kernel",),
        "api1.depends": ("acme_api1.rules.depends",),
    },
    types=("acme_api1.pair",),
    providers={"api1_ledger": "acme_api1.machinery:LEDGER"},
    backends={"api1": "acme_api1.machinery:BACKEND"},
    passes={"api1.sines": "acme_api1.machinery:PASS"},
    options={"api1_sines": "acme_api1.machinery:api1_sines"},
    commands={"api1": "acme_api1.machinery"},
    samples=("acme_api1.samples",),
    laws={"api1.depends": "acme_api1.samples:depends_law"},
    hooks="acme_api1.hooks",
)
