"""The only folder that touches private parts of jaxlib: a typed adapter, one module per concern.

Importing it refuses to share a process with `jax`, checks jaxlib's version and sets the process
state that every C++ call needs. `bindings.pyi` lists, with types, what is used of the extension.
"""

from __future__ import annotations

from . import startup

startup.refuse_jax()
startup.quiet_logs()

from . import version  # noqa: E402

version.check()

from . import config as config  # noqa: E402
