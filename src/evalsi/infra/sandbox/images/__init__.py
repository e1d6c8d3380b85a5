"""Images: file trees that programs run in, pulled, checked, unpacked and kept by digest."""

from evalsi.infra.sandbox.images.allowed_images import AllowedImages
from evalsi.infra.sandbox.images.image_store import Image, ImageOptions, ImageStore, default_image_folder

__all__ = ["AllowedImages", "Image", "ImageOptions", "ImageStore", "default_image_folder"]
