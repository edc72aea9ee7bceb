"""The names that ``dovetail`` takes from the plugin ``remat``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import policies as checkpoint_policies  # noqa: F401
    from .api import (
        Budget as Budget,
        checkpoint as checkpoint,
        checkpoint_name as checkpoint_name,
        remat as remat,
    )
    from .loops.schemes import Binomial as Binomial, Online as Online, Periodic as Periodic
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
