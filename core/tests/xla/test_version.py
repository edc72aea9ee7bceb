"""The supported range of jaxlib."""

from __future__ import annotations

import pytest

from dovetail_xla import version


def test_parse_takes_the_leading_numbers():
    assert version.parse("0.12.0.1") == (0, 12, 0, 1)
    assert version.parse("0.13.0.dev20260101") == (0, 13, 0)
    assert version.parse("unknown") == ()


@pytest.mark.parametrize("good", [(0, 10, 2), (0, 11), (0, 12, 9, 1)])
def test_versions_in_range_pass(good):
    version.check(good)


@pytest.mark.parametrize("bad", [(0, 10, 1), (0, 13), (0, 13, 0), (1, 0), ()])
def test_other_versions_are_refused(bad):
    with pytest.raises(ImportError):
        version.check(bad)


def test_the_refusal_names_version_range_and_command():
    with pytest.raises(ImportError) as raised:
        version.check((0, 9, 2))
    assert str(raised.value) == (
        "dovetail needs jaxlib >= 0.10.2, < 0.13, but jaxlib 0.9.2 is installed. "
        'Install a supported one: pip install "jaxlib>=0.10.2,<0.13"'
    )


def test_the_installed_version_is_in_range():
    version.check()
