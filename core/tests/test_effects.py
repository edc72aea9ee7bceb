"""Effects: identity, order, and how an equation's effects become its program's."""

from __future__ import annotations

import pytest

from dovetail_core import (
    AccumulateEffect,
    Effect,
    InputEffect,
    IOEffect,
    OrderedIOEffect,
    ReadEffect,
    WriteEffect,
)
from dovetail_core.types.effects import ignoring_io, must_be_kept, program_effects


def test_effects_are_equal_by_class_and_content():
    assert ReadEffect(1) == ReadEffect(1) and hash(ReadEffect(1)) == hash(ReadEffect(1))
    assert len({ReadEffect(1), WriteEffect(1), AccumulateEffect(1), ReadEffect(2)}) == 4
    assert IOEffect() == IOEffect("io") != OrderedIOEffect("io")


def test_which_effects_keep_their_order():
    ordered = [e.ordered for e in (ReadEffect(0), WriteEffect(0), OrderedIOEffect())]
    assert ordered == [True] * 3
    assert [e.ordered for e in (AccumulateEffect(0), IOEffect(), Effect())] == [False] * 3


def test_effects_are_immutable():
    with pytest.raises(AttributeError):
        ReadEffect(1).input_index = 2


def test_moving_keeps_the_class():
    assert ReadEffect(1).moved(4) == ReadEffect(4)
    assert isinstance(AccumulateEffect(1).moved(0), AccumulateEffect)
    assert issubclass(AccumulateEffect, InputEffect)


def test_effects_seen_from_the_program():
    positions = {"a": 0, "b": 1}
    effects = frozenset([WriteEffect(0), ReadEffect(1), ReadEffect(2), IOEffect()])
    result = program_effects(effects, ["b", "a", "made inside"], positions)
    assert result == {WriteEffect(1), ReadEffect(0), IOEffect()}


def test_what_is_silenced_does_not_keep_an_operation():
    said, wrote = frozenset({IOEffect("a"), OrderedIOEffect("b")}), frozenset({WriteEffect(0)})
    assert must_be_kept(said) and must_be_kept(wrote)

    def check() -> None:
        assert not must_be_kept(said) and must_be_kept(wrote | said)
        assert not must_be_kept(frozenset({ReadEffect(0)}))

    ignoring_io(check)
    assert must_be_kept(said)
