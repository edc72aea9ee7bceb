"""Operations on arrays as the compiler has them, and control flow."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_backends import (
        device_put_p as device_put_p,
        sharding_constraint_p as sharding_constraint_p,
    )
    from dovetail_custom_rules import (
        custom_linear_solve as custom_linear_solve,
        custom_root as custom_root,
    )
    from dovetail_custom_rules.linear_solve import linear_solve_p as linear_solve_p
    from dovetail_jax_names.extending.primitive import (
        after_all_p as after_all_p,
        create_token_p as create_token_p,
        select_and_scatter_p as select_and_scatter_p,
    )
    from dovetail_lax import *
    from dovetail_sharding.constraints import with_sharding_constraint as with_sharding_constraint

    from . import linalg as linalg
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
