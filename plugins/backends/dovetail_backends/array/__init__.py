"""The runtime's array type: what Python sees of it, but for operators and array functions."""

from .shards import Shard as Shard
from .state import (
    check_usable as check_usable,
    deleted_error as deleted_error,
    give_away as give_away,
    refuse_summands as refuse_summands,
)
from .type import Array as Array, type_of_array as type_of_array
from .values import value_of as value_of
