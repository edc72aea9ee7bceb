"""Ports and jobs: no process comes to another job, whatever port that has."""

from __future__ import annotations

import socket

import pytest

from dovetail_distributed.addresses import connect, listen, reserve
from dovetail_distributed.watch.hub import Hub
from dovetail_distributed.watch.member import Member, Refused


def member(hub: Hub, process: int, job: str | None) -> Member:
    host, port = hub.listener.getsockname()
    ignore = lambda *_: None  # noqa: E731
    return Member(connect(host, port, 10), process, 2, 60.0, ignore, ignore, job)


def test_processes_of_another_job_are_not_let_in():
    hub = Hub(listen("127.0.0.1", 0), 2, 60.0, "this job")
    members = [member(hub, 1, "another")]
    try:
        with pytest.raises(Refused, match=r"process 1 of 2 .* cannot join: another job is at this"):
            members[0].wait_for_start(20)
        members += [member(hub, 1, "this job"), member(hub, 0, None)]  # who does not say may come
        assert hub.complete.wait(20)
        hub.start(7)
        assert [m.wait_for_start(20) for m in members[1:]] == [7, 7]
    finally:
        for m in members:
            m.close()
        hub.stop()
        hub.thread.join(10)
        hub.abandon()  # the connections, which a hub has to its process's end


def test_a_port_is_kept_for_who_listens_there():
    with reserve("127.0.0.1") as kept:
        host, port = kept.getsockname()
        with pytest.raises(TimeoutError):
            connect(host, port, 0.3)  # it is kept, and nobody listens
        with socket.socket() as other, pytest.raises(OSError):
            other.bind((host, port))
        with listen(host, port) as listening, connect(host, port, 10) as result:
            assert result.getpeername() == listening.getsockname()
