"""The ROCm backend: AMD's GPUs, where the extra ``rocm`` is installed."""

from __future__ import annotations

import os
from pathlib import Path

from .pjrt.plugins import Accelerator, PluginBackend, PluginPackage, visible

_CHOICES = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


def _hidden(root: Path) -> str:
    for name in _CHOICES:
        chosen = os.environ.get(name)
        if chosen is not None and chosen.strip() in ("", "-1"):
            return f"{name}={chosen!r} hides every GPU: unset it"
    if not visible(root, "dev/kfd"):
        return (
            "no AMD GPU is visible (no /dev/kfd): install AMD's driver, or give the container its "
            "GPUs (docker run --device /dev/kfd --device /dev/dri)"
        )
    return ""


ROCM = Accelerator(
    platform="rocm",
    device="an AMD GPU",
    packages=(
        PluginPackage(
            extra="rocm",
            distributions=("jax-rocm7-pjrt", "jax-rocm7-plugin"),
            library="jax_plugins/xla_rocm7/xla_rocm_plugin.so",
            extension="jax_rocm7_plugin.rocm_plugin_extension",
        ),
    ),
    hidden=_hidden,
    start_remedy=(
        "Check that rocminfo lists a GPU, and that the libraries of ROCm 7 are installed (in "
        "/opt/rocm) and found by the loader (LD_LIBRARY_PATH=/opt/rocm/lib)."
    ),
    ffi_platform="ROCM",
)
BACKEND = PluginBackend(ROCM, priority=200)
