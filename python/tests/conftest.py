import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command_line():
    """The binary to compare with: of this source tree, or the one named by EVERMARGIN_CLI."""
    named = os.environ.get("EVERMARGIN_CLI")
    found = [named] if named else [ROOT / "target" / kind / "evermargin" for kind in ("debug", "release")]
    for path in found:
        if path and Path(path).exists():
            return str(path)
    path = shutil.which("evermargin")
    if path is None:
        pytest.skip("no evermargin binary is built; EVERMARGIN_CLI names one")
    return path
