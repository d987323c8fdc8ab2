"""Runs the code of documentation pages and example scripts.

The blocks of a page run in order, in one folder and one namespace: ``python`` blocks with prompts as doctests, other
``python`` blocks as scripts, ``sh`` blocks with the command line on the path; blocks in ``<!-- setup LANGUAGE … -->``
run, too. ``crates/evermargin-cli/tests/cli/book`` runs the pages without Python.
"""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SCRIPTS = sorted((DOCS / "examples").glob("*.py"))

#: Modules that pages need in addition to numpy and scikit-learn.
NEEDS = {
    "onnx.md": ("onnxruntime",),
    "python-active.md": ("skactiveml", "matplotlib"),
    "python-streams.md": ("river", "pandas"),
}


def blocks(path):
    """Language, number of the first line and text of each block of a page."""
    found, lines = [], enumerate(path.read_text().splitlines(), 1)
    for number, line in lines:
        start = line.lstrip()
        if start.startswith("```"):
            language, end = start.strip("`").strip(), "```"
        elif start.startswith("<!-- setup "):
            language, end = start.removeprefix("<!-- setup ").strip(), "-->"
        else:
            continue
        indent, text = len(line) - len(start), []
        for _, inner in lines:
            if inner.strip() == end:
                break
            text.append(inner[indent:])
        found.append((language, number, "\n".join(text) + "\n"))
    return found


PAGES = [p for p in [*sorted(DOCS.glob("*.md")), ROOT / "README.md"] if any(b[0] == "python" for b in blocks(p))]


def run_python(page, number, text, names):
    place = f"{page.name}:{number}"
    if ">>>" not in text:
        exec(compile(text, place, "exec"), names)
        return
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = doctest.DocTestParser().get_doctest(text, names, place, str(page), number)
    runner.run(test, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, place


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_of_page_runs(page, request, tmp_path, monkeypatch):
    for peer in NEEDS.get(page.name, ()):
        pytest.importorskip(peer)
    all_blocks, names = blocks(page), {"__name__": "page"}
    # The tests of the command line run the commands of the README; its Python does not need their files.
    commands = page.parent == DOCS and any(b[0] == "sh" for b in all_blocks)
    if commands:
        program = Path(request.getfixturevalue("command_line"))
        monkeypatch.setenv("PATH", f"{program.resolve().parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    for language, number, text in all_blocks:
        if language == "python":
            run_python(page, number, text, names)
        elif language == "sh" and commands:
            subprocess.run(["sh", "-eu", "-c", text], check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_script_writes_a_figure(script, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.svg"
    subprocess.run([sys.executable, str(script), str(figure)], check=True, cwd=tmp_path, timeout=300)
    assert figure.read_text().rstrip().endswith("</svg>")


def test_finds_pages_and_scripts():
    assert len(PAGES) >= 7 and len(SCRIPTS) >= 5
