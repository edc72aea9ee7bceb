"""The versions of libraries that are tested, and a warning for others."""

from __future__ import annotations

import warnings
from typing import NamedTuple


class Library(NamedTuple):
    """A library on JAX: its distribution, and the version that ``make ecosystem`` runs."""

    distribution: str
    tested: str


class UntestedVersion(UserWarning):
    """A library whose version is of another series than the tested one."""


LIBRARIES = {
    "blackjax": Library("blackjax", "1.7.1"),
    "brax": Library("brax", "0.14.2"),
    "chex": Library("chex", "0.1.92"),
    "diffrax": Library("diffrax", "0.7.2"),
    "dynamax": Library("dynamax", "1.0.3"),
    "dynamiqs": Library("dynamiqs", "0.3.7"),
    "e3nn_jax": Library("e3nn-jax", "0.21.0"),
    "equinox": Library("equinox", "0.13.8"),
    "evosax": Library("evosax", "0.3.2"),
    "flax": Library("flax", "0.12.8"),
    "flowjax": Library("flowjax", "19.1.2"),
    "gymnax": Library("gymnax", "1.0.1"),
    "haiku": Library("dm-haiku", "0.0.17"),
    "interpax": Library("interpax", "0.3.16"),
    "jax_cosmo": Library("jax-cosmo", "0.1.0"),
    "jax_md": Library("jax-md", "0.2.29"),
    "jaxlie": Library("jaxlie", "1.5.0"),
    "jaxopt": Library("jaxopt", "0.8.5"),
    "jaxtyping": Library("jaxtyping", "0.3.11"),
    "jraph": Library("jraph", "0.0.6.dev0"),
    "kfac_jax": Library("kfac-jax", "0.0.8"),
    "lineax": Library("lineax", "0.1.1"),
    "netket": Library("netket", "3.23.0"),
    "numpyro": Library("numpyro", "0.22.0"),
    "optax": Library("optax", "0.2.8"),
    "optimistix": Library("optimistix", "0.1.0"),
    "ott": Library("ott-jax", "0.6.0"),
    "penzai": Library("penzai", "0.2.5"),
    "scico": Library("scico", "0.0.7"),
    "tinygp": Library("tinygp", "0.3.1"),
    "treescope": Library("treescope", "0.1.10"),
}
"""By the module that is imported; the versions of ``tests/ecosystem/constraints.txt``."""


def check(module: str) -> None:
    """Warn where a library is installed in a version of another series than the tested one.

    A series is the first two parts of a version. Said once a process.
    """
    from importlib.metadata import PackageNotFoundError, version

    library = LIBRARIES[module]
    try:
        result = version(library.distribution)
    except PackageNotFoundError:  # of a folder of sources, whose version nobody knows
        return
    if _series(result) != _series(library.tested):
        warnings.warn(
            f"{library.distribution} {result} runs on Dovetail untested: {library.tested} is what "
            "Dovetail is tested with (docs/ecosystem.md). If something fails that does not fail on "
            f"JAX, try {library.distribution}=={library.tested}, and report it. To silence this: "
            'warnings.filterwarnings("ignore", category=dovetail.jax.UntestedVersion).',
            UntestedVersion,
            stacklevel=3,  # of whom the import system's are not counted
        )


def _series(version: str) -> list[str]:
    return version.split(".")[:2]
