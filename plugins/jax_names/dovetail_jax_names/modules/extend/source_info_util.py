"""``jax.extend.source_info_util``."""

from dovetail_base.source import hide_files as _hide_files
from dovetail_base.source_info import NameStack as NameStack, SourceInfo as SourceInfo
from dovetail_base.wrapping import alias as _alias

from ...extending.source_info import (
    current as current,
    current_name_stack as current_name_stack,
    extend_name_stack as extend_name_stack,
    new_name_stack as new_name_stack,
    new_source_info as new_source_info,
    reset_name_stack as reset_name_stack,
    set_name_stack as set_name_stack,
    summarize as summarize,
    transform_name_stack as transform_name_stack,
    user_context as user_context,
)
from ...lookup import attributes as _attributes

register_exclusion = _alias(_hide_files, "register_exclusion", __name__)
__getattr__, __dir__ = _attributes("jax.extend.source_info_util")
