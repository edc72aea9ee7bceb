"""``import dovetail.jax`` before the first ``import jax``: that one answers with Dovetail then.

It is also ``%load_ext dovetail.jax`` in notebooks, ``pytest -p dovetail.jax``, and
``python -m dovetail.jax SCRIPT``, which is ``dovetail run SCRIPT``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_jax_names import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)

if __name__ == "__main__":
    from sys import argv as _arguments

    from dovetail_cli import main as _main

    raise SystemExit(_main(["run", *_arguments[1:]]))
else:
    from dovetail_jax_names import install as install

    install()
