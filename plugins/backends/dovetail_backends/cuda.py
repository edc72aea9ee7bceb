"""The CUDA backend: NVIDIA's GPUs, where the extra ``cuda13`` or ``cuda12`` is installed."""

from __future__ import annotations

import os
from pathlib import Path

from .pjrt.plugins import Accelerator, PluginBackend, PluginPackage, visible


def _package(version: int) -> PluginPackage:
    return PluginPackage(
        extra=f"cuda{version}",
        distributions=(f"jax-cuda{version}-pjrt", f"jax-cuda{version}-plugin"),
        library=f"jax_plugins/xla_cuda{version}/xla_cuda_plugin.so",
        extension=f"jax_cuda{version}_plugin.cuda_plugin_extension",
    )


def _hidden(root: Path) -> str:
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None and chosen.strip() in ("", "-1"):
        return f"CUDA_VISIBLE_DEVICES={chosen!r} hides every GPU: unset it"
    if not visible(root, "dev/nvidia[0-9]*", "dev/nvidiactl", "dev/dxg"):
        return (
            "no NVIDIA GPU is visible (no /dev/nvidia0): install NVIDIA's driver, or give the "
            "container its GPUs (docker run --gpus all)"
        )
    return ""


CUDA = Accelerator(
    platform="cuda",
    device="an NVIDIA GPU",
    packages=(_package(13), _package(12)),
    hidden=_hidden,
    start_remedy=(
        "Check that nvidia-smi lists a GPU, that CUDA_VISIBLE_DEVICES names one, and that its "
        "driver is new enough: 'dovetail[cuda13]' needs driver 580 or newer, 'dovetail[cuda12]' "
        "525 or newer."
    ),
    ffi_platform="CUDA",
    libraries=(
        "libcudart", "libnvJitLink", "libnvrtc", "libcublasLt", "libcublas", "libcusparse",
        "libcusolver", "libcufft", "libcupti", "libnccl", "libcudnn", "libnvshmem_host",
    ),
)  # fmt: skip
BACKEND = PluginBackend(CUDA, priority=200)
