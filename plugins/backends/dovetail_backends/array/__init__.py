"""The runtime's array type in Python, without operators and array functions."""

from .shards import Shard as Shard
from .state import (
    check_usable as check_usable,
    deleted_error as deleted_error,
    refuse_summands as refuse_summands,
    release_donated as release_donated,
)
from .type import Array as Array, type_of_array as type_of_array
from .values import value_of as value_of
