"""The TPU backend: Google's TPUs, where the extra ``tpu`` is installed."""

from __future__ import annotations

from pathlib import Path

from .pjrt.plugins import Accelerator, PluginBackend, PluginPackage, visible

_GOOGLE = "0x1ae0"  # the vendor's number on the PCI bus


def _hidden(root: Path) -> str:
    # Newer TPUs are given out through vfio, as other devices are: the vendor tells them apart.
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
    hidden=_hidden,
    start_remedy=(
        "Check that no other process uses the TPU, and that this process may open its devices."
    ),
)
BACKEND = PluginBackend(TPU, priority=300)
