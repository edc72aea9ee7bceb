"""Accelerators without their hardware: what is missing is named, with what installs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dovetail_backends.accelerators import CUDA, ROCM, TPU
from dovetail_backends.pjrt.plugins import PluginBackend, preload
from dovetail_xla.version import JAXLIB_VERSION

FITTING = ".".join(map(str, JAXLIB_VERSION))
ALL = [CUDA, ROCM, TPU]
NODES = {"cuda": "dev/nvidia0", "rocm": "dev/kfd", "tpu": "dev/accel0"}
EXTRAS = {"cuda": "cuda13", "rocm": "rocm", "tpu": "tpu"}


@pytest.fixture(autouse=True)
def no_choice_of_devices(monkeypatch):
    for name in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def machine(tmp_path):
    """The root of a machine that has the given files."""

    def make(*files: str, text: str = "") -> Path:
        for name in files:
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "root"

    return make


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A directory of installed packages that has the given distributions and files."""

    def make(*distributions: str, version: str = FITTING, files: tuple[str, ...] = ()) -> Path:
        root = tmp_path / "site"
        for name in distributions:
            info = root / f"{name.replace('-', '_')}-{version}.dist-info"
            info.mkdir(parents=True)
            info.joinpath("METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            )
        for name in files:
            root.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            root.joinpath(name).write_text("no library")
        monkeypatch.setattr(sys, "path", [str(root), *sys.path])
        return root

    return make


def test_nothing_is_there(machine):
    for accelerator in ALL:
        backend = PluginBackend(accelerator, 100, machine())
        problem = backend.problem()
        assert f"not installed (pip install 'dovetail[{EXTRAS[accelerator.platform]}]')" in problem
        assert "is visible" in problem
        assert backend.notice() == "" and not backend.started


def test_hardware_without_software(machine):
    for accelerator in ALL:
        backend = PluginBackend(accelerator, 100, machine(NODES[accelerator.platform]))
        assert backend.notice().startswith(f"{accelerator.device} is visible here, but ")
        assert "pip install" in backend.notice()
        assert "visible" not in backend.problem()
        with pytest.raises(RuntimeError, match=r"cannot start: .* not installed"):
            backend.devices()


def test_software_without_hardware(machine, site):
    site("libtpu", version="0.0.1", files=("libtpu/libtpu.so",))
    backend = PluginBackend(TPU, 100, machine())
    assert backend.problem().startswith("no TPU is visible")
    assert backend.notice() == ""


@pytest.mark.parametrize(
    ("accelerator", "names"),
    [(CUDA, ["CUDA_VISIBLE_DEVICES"]), (ROCM, ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"])],
)
def test_hidden_devices(accelerator, names, machine, monkeypatch):
    root = machine(NODES[accelerator.platform])
    for name in names:
        monkeypatch.setenv(name, "0")
        assert accelerator.hidden(root) == ""
        monkeypatch.setenv(name, "-1")
        assert accelerator.hidden(root) == f"{name}='-1' hides every GPU: unset it"
        monkeypatch.delenv(name)


def test_tpus_among_other_passed_through_devices(machine):
    vendor = "sys/bus/pci/devices/0000:00:04.0/vendor"
    assert TPU.hidden(machine("dev/vfio/0")) != ""
    assert TPU.hidden(machine(vendor, text="0x10de")) != ""
    assert TPU.hidden(machine(vendor, text="0x1ae0")) == ""


def test_older_cuda(site):
    """The newest CUDA that is installed is taken."""
    site(
        "jax-cuda12-pjrt", "jax-cuda12-plugin", files=("jax_plugins/xla_cuda12/xla_cuda_plugin.so",)
    )
    package, problem = CUDA.package()
    assert package is not None and package.extra == "cuda12" and not problem


def test_half_an_installation(site):
    site("jax-cuda12-pjrt", files=("jax_plugins/xla_cuda12/xla_cuda_plugin.so",))
    package, problem = CUDA.package()
    assert package is None
    assert problem == "jax-cuda12-plugin is not installed (pip install 'dovetail[cuda12]')"


def test_versions_must_fit(site):
    site("jax-cuda13-pjrt", "jax-cuda13-plugin", version="0.1.2")
    problem = CUDA.package()[1]
    assert f"jax-cuda13-pjrt 0.1.2 does not fit jaxlib {FITTING}" in problem
    assert "pip install 'dovetail[cuda13]'" in problem


def test_library_is_gone(site):
    site("libtpu", version="0.0.1")
    assert "libtpu lacks libtpu/libtpu.so" in TPU.package()[1]


def test_library_does_not_open(machine, site):
    """It fails with a remedy, and its package is never imported."""
    root = site("libtpu", version="0.0.1", files=("libtpu/libtpu.so", "libtpu/__init__.py"))
    root.joinpath("libtpu/__init__.py").write_text("raise AssertionError('imported')")
    backend = PluginBackend(TPU, 100, machine("dev/accel0"))
    assert backend.problem() == ""
    text = r"backend 'tpu' did not start \(the PJRT plugin 'tpu' .*did not load.*no other process"
    with pytest.raises(RuntimeError, match=text):
        backend.devices()


def test_preloading(site):
    root = site(files=("nvidia/cu13/lib/libcudart.so.13",))
    assert root.exists()
    (failure,) = preload(("libcudart", "libabsent"))
    assert failure.startswith("libcudart.so.13 did not open: ")
    assert preload(()) == []
