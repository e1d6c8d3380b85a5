"""Images: file trees that programs run in, pulled, checked, unpacked and kept by digest."""

from evalsi.infra.sandbox.images.image_store import Image, ImageOptions, ImageStore, default_image_folder

__all__ = ["Image", "ImageOptions", "ImageStore", "default_image_folder"]
