"""Programs on meshes of several processes."""

from __future__ import annotations

import pytest

from .processes import all_well


@pytest.mark.parametrize("count", [2, 4])
def test_arrays(run, count):
    all_well(run("arrays", count=count, devices=4 // count))


def test_what_processes_have_in_common(run):
    all_well(run("gathering"))


def test_the_example_has_the_losses_of_one_device(run):
    all_well(run("digits", seconds=120.0))
