"""The provider ``processes``, by which the runtime's clients join the processes of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dovetail_xla import distributed

from .options import cpu_collectives_implementation
from .state import global_state

if TYPE_CHECKING:
    import numpy as np


class Runtime:
    """Options of backends' clients, and comparisons among processes."""

    def cpu_client_options(self) -> Mapping[str, Any]:
        """Further arguments of the CPU's client."""
        if global_state.client is None:
            return {}
        return {
            "distributed_client": global_state.client,
            "node_id": global_state.process_id,
            "num_nodes": global_state.num_processes,
            "collectives": _collectives(),
        }

    def plugin_client_options(self, platform: str) -> tuple[Mapping[str, Any], Any]:
        """Further options of an accelerator's client, and the coordination service's client."""
        if global_state.client is None:
            return {}, None
        result: dict[str, Any] = {
            "node_id": global_state.process_id,
            "num_nodes": global_state.num_processes,
        }
        if global_state.partition_index is not None:
            result["partition_index"] = global_state.partition_index
        if global_state.local_device_ids is not None:
            result["visible_devices"] = list(global_state.local_device_ids)
        if platform == "tpu":  # its library finds the other processes by itself
            result = {}
        return result, global_state.client

    def compare_program(self, what: str, text: str, devices: Iterable[Any]) -> None:
        """See :func:`dovetail_distributed.comparing.compare_program`."""
        from .comparing import compare_program  # by programs of several processes alone

        compare_program(what, text, devices)

    def compare_value(self, what: str, value: np.ndarray[Any, Any], devices: Iterable[Any]) -> None:
        """See :func:`dovetail_distributed.comparing.compare_value`."""
        from .comparing import compare_value

        compare_value(what, value, devices)


def _collectives() -> Any:
    kind = cpu_collectives_implementation.value
    if kind == "mpi":
        return distributed.mpi_collectives()
    if kind == "none":
        return None
    address = global_state.coordinator_address
    assert address is not None
    from .addresses import own_address

    return distributed.gloo_collectives(global_state.client, own_address(address))


RUNTIME = Runtime()
