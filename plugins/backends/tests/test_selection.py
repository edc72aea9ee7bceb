"""Which backend and device is chosen, and what is said where one is missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dovetail_backends import cpu, selection, topology
from dovetail_backends.reference import REFERENCE
from dovetail_core import Manifest, RegistryError, cached, config
from dovetail_jit import jit
from dovetail_testing.fresh import with_plugins


class Fake:
    """A backend that has a device, a problem or neither."""

    def __init__(self, platform, priority, problem="", start="", notice="", hidden=""):
        self.platform = platform
        self.priority = priority
        self._problem = problem
        self._start = start
        self._notice = notice
        self._hidden = hidden

    def problem(self):
        return self._problem

    def hidden(self):
        return self._hidden

    def notice(self):
        return self._notice

    def devices(self):
        if self._start:
            raise RuntimeError(self._start)
        return [f"{self.platform} device"]

    local_devices = devices


@pytest.fixture
def installed(monkeypatch):
    """Stands for the backends that plugins declare."""

    def install(*backends):
        by_name = {b.platform: b for b in backends}

        class Registry:
            clashes: dict[tuple[str, str], str] = {}

            def load_all(self, kind, fits):
                return [self.backend(name) for name in self.entries(kind)]

            def entries(self, kind):
                return dict.fromkeys(by_name, "")

            def backend(self, name):
                return by_name[name]

        monkeypatch.setattr(selection, "registry", Registry)
        for name in "_best", "_first_device":
            anew = cached(getattr(selection, name).__wrapped__)
            monkeypatch.setattr(selection, name, anew)

    return install


def test_cpu_by_default():
    assert topology.default_backend() == "cpu"
    assert selection.backend() is selection.backend("cpu") is cpu.BACKEND
    assert topology.devices() == topology.devices("cpu") == topology.local_devices()
    assert topology.device_count() == topology.local_device_count() >= 1
    assert topology.process_index() == 0
    assert topology.process_count() == 1 and topology.process_indices() == [0]


def test_best_usable(installed):
    installed(Fake("cpu", 0), Fake("cuda", 200), Fake("tpu", 300, problem="no TPU"))
    assert selection.backend().platform == "cuda"
    assert topology.default_backend() == "gpu"
    assert selection.target_device() == "cuda device"


CLAIMED = (
    "backends entry 'chip' is claimed by plugin 'acme' of acme-dist 1.0 and by plugin 'beta' of "
    "beta-dist 1.0. Disable one of the plugins (DOVETAIL_DISABLE_PLUGINS) or rename the entry."
)


def within(context, run):
    with context:
        return run()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: selection.backend("chip"),
        lambda: jit(lambda x: x, backend="chip")(1.0),
        lambda: topology.devices("chip"),
        lambda: within(selection.platforms("chip,cpu"), selection.backend),
    ],
)
def test_a_backend_that_two_plugins_claim_is_an_error_that_names_both(ask):
    with (
        with_plugins(*[Manifest(n, backends={"chip": f"{n}:B"}) for n in ("acme", "beta")]),
        selection.platforms(None),
    ):
        for _ in range(2):
            with pytest.raises(RegistryError) as e:
                ask()
            assert str(e.value) == CLAIMED
        with pytest.raises(
            ValueError, match="'default_device': backends entry 'chip' is claimed by"
        ):
            config.update("default_device", "chip")
        assert selection.backend("cpu") is cpu.BACKEND


def test_negative_priority_is_never_the_default(installed):
    installed(Fake("slow", -1))
    with pytest.raises(RuntimeError, match=r"is usable\. The plugin backends provides cpu"):
        selection.backend()
    assert selection.backend("slow").platform == "slow"


def test_falls_back_with_a_warning(installed):
    installed(Fake("cpu", 0), Fake("cuda", 200, start="driver too old."))
    with pytest.warns(RuntimeWarning, match=r"driver too old\. Going on without it"):
        assert selection.backend().platform == "cpu"
    installed(Fake("cpu", 0), Fake("cuda", 200, problem="no plugin", notice="a GPU is visible"))
    with pytest.warns(RuntimeWarning, match="a GPU is visible. Going on without it"):
        assert selection.backend().platform == "cpu"
    with selection.platforms("cuda,cpu"):
        assert selection.backend().platform == "cpu"


def test_falls_back_silently_without_the_hardware(installed, recwarn):
    absent = Fake("cuda", 200, problem="no plugin; no GPU", notice="not asked", hidden="no GPU")
    installed(Fake("cpu", 0), absent)
    assert selection.backend().platform == "cpu" and not recwarn
    installed(absent)
    with pytest.raises(RuntimeError, match=r"no backend is usable. cuda: no plugin; no GPU"):
        selection.backend()


def test_platforms_option(installed):
    installed(Fake("cpu", 0), Fake("cuda", 200, problem="no driver"), Fake("slow", -1))
    with selection.platforms("slow, cpu"):
        assert selection.backend().platform == "slow"
        with pytest.raises(RuntimeError, match="'cuda' is not available: the option 'platforms'"):
            selection.backend("cuda")
    with selection.platforms("gpu,cpu"):
        assert selection.backend().platform == "cpu"
    unusable = pytest.raises(
        RuntimeError, match=r"Unable to initialize backend 'cuda': .*: no driver"
    )
    with selection.platforms("cuda"), unusable:
        selection.backend()
    unknown = pytest.raises(RuntimeError, match=r"Unknown backend 'nowhere' at .*; there are")
    with selection.platforms("nowhere"), unknown:
        selection.backend()


def test_unknown_backend():
    text = r"Unknown backend 'nowhere' at .*; there are cpu, cuda, gpu, reference, rocm, tpu"
    with pytest.raises(RuntimeError, match=text):
        topology.devices("nowhere")


def test_either_gpu(installed):
    installed(Fake("cuda", 200, problem="no CUDA"), Fake("rocm", 200, problem="no ROCm"))
    text = "Unknown backend: 'gpu' requested, but 'gpu' is not available: no CUDA; no ROCm"
    with pytest.raises(RuntimeError, match=text + ". Platforms present: none"):
        topology.devices("gpu")
    installed(Fake("cuda", 200, problem="no CUDA"), Fake("rocm", 200))
    assert topology.devices("gpu") == ["rocm device"]


def test_processes():
    assert topology.local_devices(process_index=0) == topology.local_devices()
    assert topology.local_devices(host_id=0) == topology.local_devices()
    with pytest.raises(ValueError, match=r"Unknown process_index 3; there are \[0\]"):
        topology.local_devices(3)


def test_older_names_of_processes_warn_where_programs_import_jax(monkeypatch):
    older = topology.host_id, topology.host_ids, topology.host_count
    assert [f() for f in older] == [0, [0], 1]
    monkeypatch.setitem(sys.modules, "jax", topology)
    for f in older:
        with pytest.warns(UserWarning, match=f"{f.__name__} is deprecated in JAX. Use process_"):
            f()


def test_default_device_is_checked():
    with pytest.raises(ValueError, match=r"option 'default_device': expected a device .*got 3"):
        selection.default_device(3)
    with pytest.raises(ValueError, match="Unknown backend 'nowhere'"):
        selection.default_device("nowhere")


def test_reference_is_a_backend():
    assert selection.backend("reference") is REFERENCE
    assert topology.devices("reference") == topology.devices("cpu")


def test_number_of_cpu_devices():
    code = "from dovetail_backends.topology import devices; print(len(devices()))"
    environment = {**os.environ, "DOVETAIL_NUM_CPU_DEVICES": "3"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "3"


def test_number_of_cpu_devices_is_checked():
    count = topology.device_count("cpu")
    cpu.num_cpu_devices.set(count)
    with pytest.raises(RuntimeError, match=r"already in use as .* before the first array is made"):
        cpu.num_cpu_devices.set(count + 1)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        cpu.num_cpu_devices.set(0)


@pytest.mark.parametrize("option, count", [("", 3), ("2", 2)])
def test_flags_of_xla_may_say_how_many_devices_the_cpu_is(option, count):
    """Also those that are set after the import."""
    code = (
        "import os, dovetail\n"
        "os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=3'\n"
        "print(dovetail.device_count())"
    )
    variables = {"DOVETAIL_NUM_CPU_DEVICES": option} if option else {}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True
    )
    assert done.stdout == f"{count}\n", done.stderr
