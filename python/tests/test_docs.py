"""Pages and scripts of the documentation run as they stand."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.glob("python*.md"))
SCRIPTS = sorted((DOCS / "examples").glob("*.py"))


#: What a page needs beside numpy and scikit-learn.
NEEDS = {"python-active.md": ("skactiveml", "matplotlib"), "python-streams.md": ("river", "pandas")}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page(page):
    for peer in NEEDS.get(page.name, ()):
        pytest.importorskip(peer)
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0 and found.failed == 0


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_script_ends_with_a_picture(script, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.svg"
    subprocess.run([sys.executable, str(script), str(picture)], check=True, cwd=tmp_path, timeout=300)
    assert picture.read_text().rstrip().endswith("</svg>")


def test_there_are_pages_and_scripts():
    assert len(PAGES) >= 3 and len(SCRIPTS) >= 5
