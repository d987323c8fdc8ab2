import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command_line():
    """Path of the binary to compare with: the one named by EVERMARGIN_CLI, or the build of this source tree."""
    named_path = os.environ.get("EVERMARGIN_CLI")
    paths = [named_path] if named_path else [ROOT / "target" / kind / "evermargin" for kind in ("debug", "release")]
    for path in paths:
        if path and Path(path).exists():
            return str(path)
    path = shutil.which("evermargin")
    if path is None:
        pytest.skip("no evermargin binary found; build it or set EVERMARGIN_CLI")
    return path
