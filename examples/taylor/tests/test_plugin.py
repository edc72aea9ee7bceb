"""What makes this a plugin: its names are found."""

from __future__ import annotations

import acme_taylor
import pytest

import dovetail


@pytest.mark.parametrize("name", acme_taylor.__all__)
def test_its_names_are_in_the_facade(name):
    assert getattr(dovetail, name) is getattr(acme_taylor, name)
