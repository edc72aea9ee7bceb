"""How a process finds its place."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace

import pytest

from dovetail_distributed import launchers
from dovetail_distributed.addresses import parse, spell
from dovetail_distributed.detecting import Place, find_position
from dovetail_distributed.launchers import first_host

PREFIXES = ("SLURM_", "OMPI_", "PMI", "MPI_", "HYDRA_", "TPU_", "KUBERNETES_", "JOB_", "MEGASCALE")


@pytest.fixture
def env(monkeypatch):
    """An environment of these variables, and none of other launchers'."""
    import os

    for name in list(os.environ):
        if name.startswith((*PREFIXES, "DOVETAIL_COORDINATOR", "DOVETAIL_PROCESS", "DOVETAIL_NUM")):
            monkeypatch.delenv(name)

    def use(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return use


def find(method: str | None = None, **given: object) -> Place:
    return find_position(Place(**given), method, 5)  # type: ignore[arg-type]


def port(place: Place) -> int:
    return parse("address", place.coordinator_address)[1]


def test_what_is_given_counts(env):
    place = find(coordinator_address="a:1", num_processes=3, process_id=2)
    assert place == Place("a:1", 3, 2)
    env(DOVETAIL_COORDINATOR_ADDRESS="b:2", DOVETAIL_NUM_PROCESSES="4", DOVETAIL_PROCESS_ID="1")
    assert find() == Place("b:2", 4, 1)
    assert find(process_id=3) == Place("b:2", 4, 3)
    with pytest.raises(ValueError, match="lacks coordinator_address, num_processes, process_id"):
        find("deactivate")
    with pytest.raises(ValueError, match="process_id is 7 and num_processes 4"):
        find(process_id=7)
    with pytest.raises(TypeError, match="num_processes must be an integer, got 'two'"):
        find(num_processes="two")
    env(DOVETAIL_JOB="a7")
    assert find() == Place("b:2", 4, 1, job="a7")
    with pytest.raises(ValueError, match=r"is 'pbs'.*; there are .*slurm.* and deactivate"):
        find("pbs")
    with pytest.raises(ValueError, match=r"is 'slurm'.*was not started by that"):
        find("slurm")


def test_slurm(env):
    env(SLURM_JOB_ID="77", SLURM_PROCID="5", SLURM_STEP_NUM_TASKS="8", SLURM_LOCALID="1")
    with pytest.raises(ValueError, match="Slurm sets none of SLURM_STEP_NODELIST"):
        find()
    env(SLURM_STEP_NODELIST="gpu[003-007,9],login1")
    place = find()
    assert place.coordinator_address == f"gpu003:{port(place)}" and 20000 <= port(place) < 32000
    assert (place.num_processes, place.process_id, place.local_device_ids) == (8, 5, (1,))
    env(SLURM_JOB_ID="78")
    assert port(find()) != port(place)
    env(SLURM_PROCID="five")
    with pytest.raises(ValueError, match="SLURM_PROCID is 'five'; an integer is expected"):
        find()


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("a1", "a1"), ("a1,b2", "a1"), ("a[1-3]", "a1"), ("a[07,09]", "a07"),
        ("n-[1,3]-x", "n-1-x"),
        ("r[1-2]c[3-4]", "r1c"),
    ],
)  # fmt: skip
def test_lists_of_nodes(nodes, first):
    assert first_host(nodes) == first


def test_open_mpi(env):
    env(
        OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_RANK="0",
        OMPI_COMM_WORLD_LOCAL_SIZE="2",
        OMPI_MCA_orte_hnp_uri="1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911",
    )  # fmt: skip
    place = find()
    assert place.coordinator_address == f"10.96.0.1:{port(place)}"
    assert (place.num_processes, place.process_id, place.local_device_ids) == (4, 1, (0,))
    env(OMPI_COMM_WORLD_LOCAL_SIZE="4")
    assert find().coordinator_address == f"127.0.0.1:{port(place)}"


def test_open_mpi_5(env):
    env(
        OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_RANK="1",
        OMPI_COMM_WORLD_LOCAL_SIZE="4", PMIX_NAMESPACE="prterun-node-7@1",
    )  # fmt: skip
    place = find()
    assert place.coordinator_address == f"127.0.0.1:{port(place)}"
    env(OMPI_COMM_WORLD_LOCAL_SIZE="2")
    with pytest.raises(ValueError, match="lacks coordinator_address"):
        find()


def test_hydra(env):
    env(PMI_RANK="2", PMI_SIZE="3", MPI_LOCALNRANKS="3", MPI_LOCALRANKID="2")
    place = find()
    assert place.coordinator_address == f"127.0.0.1:{port(place)}"
    assert (place.num_processes, place.process_id, place.local_device_ids) == (3, 2, (2,))
    env(MPI_LOCALNRANKS="1")
    with pytest.raises(ValueError, match="lacks coordinator_address"):
        find()
    assert find(coordinator_address="head:1234").process_id == 2


def test_mpi4py(env, monkeypatch):
    class World:
        def bcast(self, value, root):
            return ("head", 21000)

        def Get_size(self):
            return 6

        def Get_rank(self):
            return 4

        def Split_type(self, kind):
            return SimpleNamespace(Get_rank=lambda: 1)

    fake = SimpleNamespace(COMM_WORLD=World(), COMM_TYPE_SHARED=0)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", fake)
    monkeypatch.setattr("dovetail_distributed.launchers.util.find_spec", lambda name: fake)
    assert find("mpi4py") == Place("head:21000", 6, 4, (1,))
    with pytest.raises(ValueError, match="lacks coordinator_address"):
        find()  # it is asked where it is named


def test_kubernetes(env, monkeypatch):
    env(KUBERNETES_SERVICE_HOST="10.0.0.1", JOB_COMPLETION_INDEX="3")
    with pytest.raises(ValueError, match="set DOVETAIL_NUM_PROCESSES"):
        find()
    env(DOVETAIL_NUM_PROCESSES="4")
    monkeypatch.setattr(socket, "getfqdn", lambda: "train-3.workers.default.svc.cluster.local")
    expected = "train-0.workers.default.svc.cluster.local:8476"
    assert find() == Place(expected, 4, 3)
    monkeypatch.setattr(socket, "getfqdn", lambda: "train-3")
    with pytest.raises(ValueError, match=r"this pod is 'train-3', and not JOB-3\.SUBDOMAIN"):
        find()


def test_cloud_tpu(env, monkeypatch):
    env(TPU_WORKER_HOSTNAMES="t0,t1", TPU_WORKER_ID="1")
    assert find() == Place("t0:8476", 2, 1)
    env(MEGASCALE_NUM_SLICES="2", MEGASCALE_SLICE_ID="1", MEGASCALE_COORDINATOR_ADDRESS="c0:8080")
    assert find() == Place("c0:8476", 4, 3)


def test_metadata_of_a_tpu(env, monkeypatch):
    told = {"worker-network-endpoints": "a:b:10.0.0.2,c:d:10.0.0.3", "agent-worker-number": "1"}
    monkeypatch.setattr(launchers.os.path, "exists", lambda path: True)
    monkeypatch.setattr(launchers, "metadata", lambda name, timeout: told[name])
    assert find("tpu") == Place("10.0.0.2:8476", 2, 1)


def test_a_third_partys_detector(env, monkeypatch):
    class Acme:
        rank, only_named = -1, False

        def is_present(self):
            return True

        def place(self, timeout):
            return Place("acme:1", 2, 1)

    fake = SimpleNamespace(
        members=lambda collection: {"acme": "..."}, member=lambda collection, name: Acme
    )
    monkeypatch.setattr("dovetail_distributed.detecting.registry", lambda: fake)
    assert find() == Place("acme:1", 2, 1)


def test_addresses():
    assert parse("a", "[::1]:80") == ("::1", 80) and spell("::1", 80) == "[::1]:80"
    for wrong in ("host", "host:0", "host:port", None):
        with pytest.raises(ValueError, match="coordinator_address must be 'host:port'"):
            parse("coordinator_address", wrong)
