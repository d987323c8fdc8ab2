"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import uuid


def write_whole(path: str | os.PathLike, content: bytes) -> None:
    """Write a file beside its name first, then give it the name."""
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
