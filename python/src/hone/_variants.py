"""Which other algorithms a tune searches and a compilation uses."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from typing import Any, Iterator, List, Optional, Sequence, Union

from . import _library as lib

Variant = Union[str, "os.PathLike[str]", Any]  # a path, or what is a program


def _path_of(item: Variant, folder: str) -> str:
    """Of a file as it is given; of a program in a folder of its own, by its name."""
    from .module import load

    if isinstance(item, (str, os.PathLike)) and "\n" not in str(item):
        return os.fspath(item)
    program = load(item)
    path = os.path.join(tempfile.mkdtemp(dir=folder), program.functions[0] + ".py")
    with open(path, "w", encoding="utf-8") as out:
        out.write(program.script())
    return path


def _listed(variant: Union[None, Variant, Sequence[Variant]]) -> List[Variant]:
    if variant is None:
        return []
    return list(variant) if isinstance(variant, (list, tuple)) else [variant]


@contextlib.contextmanager
def allowed(variants: Optional[str], max_error: Optional[float],
            variant: Union[None, Variant, Sequence[Variant]]) -> Iterator[lib.VariantOptions]:
    """The library's options, whose files live as long as the block."""
    with tempfile.TemporaryDirectory(prefix="hone-python-") as folder:
        paths = [_path_of(item, folder) for item in _listed(variant)]
        made = lib.VariantOptions(size=ctypes.sizeof(lib.VariantOptions),
                                  variants=lib.text(variants), variant_count=len(paths),
                                  variant=lib.texts(paths))
        if max_error is not None:
            made.max_error = ctypes.pointer(ctypes.c_double(max_error))
        yield made
