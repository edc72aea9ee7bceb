"""Profiles as XLA takes them to schedule programs by."""

from __future__ import annotations

import os
from typing import Any

from dovetail_core import here
from dovetail_xla import profiling

__all__ = ["get_profiled_instructions_proto"]


def get_profiled_instructions_proto(tensorboard_dir: Any) -> bytes:
    """The run times of the instructions of compiled programs, from a recorded profile.

    Args:
        tensorboard_dir: the folder of one recording, ``DIR/plugins/profile/TIME`` where
            ``profiler.trace(DIR)`` has written.

    Returns: XLA's message ``ProfiledInstructionsProto``, as bytes. It is empty unless the profile
        is of an NVIDIA GPU.

    Raises:
        FileNotFoundError: there is no profile in that folder.
    """
    folder = os.fspath(tensorboard_dir)
    if not os.path.isdir(folder) or not any(f.endswith(".xplane.pb") for f in os.listdir(folder)):
        raise FileNotFoundError(
            f"get_profiled_instructions_proto{here()}: there is no profile (*.xplane.pb) in "
            f"{folder!r}; give the folder of one recording, DIR/plugins/profile/TIME."
        )
    return profiling.profiled_instructions(folder)
