"""``import dovetail.jax`` before the first ``import jax``: that one answers with Dovetail then.

It is also ``%load_ext dovetail.jax`` in notebooks, ``pytest -p dovetail.jax``, and
``python -m dovetail.jax SCRIPT``, which is ``dovetail run SCRIPT``.
"""

from dovetail_jax_names.hook import install as _install

_install()


def load_ipython_extension(ipython: object) -> None:
    """What ``%load_ext dovetail.jax`` calls; to import this module was all."""


if __name__ == "__main__":
    import sys

    from dovetail_core.cli import main

    raise SystemExit(main(["run", *sys.argv[1:]]))
