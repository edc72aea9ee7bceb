"""The backends of accelerators: NVIDIA's GPUs (CUDA), AMD's GPUs (ROCm) and Google's TPUs.

Each is usable if the extra of its name is installed.
"""

from __future__ import annotations

import os
from pathlib import Path

from .pjrt.plugins import Accelerator, PluginBackend, PluginPackage, visible


def _cuda_package(version: int) -> PluginPackage:
    return PluginPackage(
        extra=f"cuda{version}",
        distributions=(f"jax-cuda{version}-pjrt", f"jax-cuda{version}-plugin"),
        library=f"jax_plugins/xla_cuda{version}/xla_cuda_plugin.so",
        extension=f"jax_cuda{version}_plugin.cuda_plugin_extension",
    )


def _cuda_hidden(root: Path) -> str:
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
    packages=(_cuda_package(13), _cuda_package(12)),
    hidden=_cuda_hidden,
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
CUDA_BACKEND = PluginBackend(CUDA, priority=200)


_ROCM_CHOICES = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


def _rocm_hidden(root: Path) -> str:
    for name in _ROCM_CHOICES:
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
    hidden=_rocm_hidden,
    start_remedy=(
        "Check that rocminfo lists a GPU, and that the libraries of ROCm 7 are installed (in "
        "/opt/rocm) and found by the loader (LD_LIBRARY_PATH=/opt/rocm/lib)."
    ),
    ffi_platform="ROCM",
)
ROCM_BACKEND = PluginBackend(ROCM, priority=200)


_GOOGLE = "0x1ae0"  # the vendor's number on the PCI bus


def _tpu_hidden(root: Path) -> str:
    # Newer TPUs are accessed through vfio, as other devices are, and recognized by their vendor.
    vendors = root.glob("sys/bus/pci/devices/*/vendor")
    passed = visible(root, "dev/vfio/[0-9]*") and any(_GOOGLE in v.read_text() for v in vendors)
    if not (passed or visible(root, "dev/accel[0-9]*")):
        return (
            "no TPU is visible (no /dev/accel0 and no /dev/vfio/0): run on a TPU machine, and give "
            "a container its devices (docker run --privileged)"
        )
    return ""


TPU = Accelerator(
    platform="tpu",
    device="a TPU",
    packages=(
        PluginPackage(
            extra="tpu",
            distributions=("libtpu",),
            library="libtpu/libtpu.so",
            fits_jaxlib=False,
        ),
    ),
    hidden=_tpu_hidden,
    start_remedy=(
        "Check that no other process uses the TPU, and that this process may open its devices."
    ),
)
TPU_BACKEND = PluginBackend(TPU, priority=300)
