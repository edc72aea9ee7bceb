"""Resizing of images: the public names of ``jax.image``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_image.kernels import ResizeMethod as ResizeMethod
    from dovetail_image.resizing import resize as resize, scale_and_translate as scale_and_translate
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
