"""Generates ``python/evermargin/_estimators.py`` from the specifications of the core and `estimator_catalog`.

    python python/generate.py           # write
    python python/generate.py --check   # exit code 1 when the file is not current
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import textwrap
from importlib.machinery import ExtensionFileLoader, PathFinder
from pathlib import Path

from estimator_catalog import CATALOG, OPTIONS, Estimator

WIDTH = 110
MEGABYTE = 1 << 20

#: Parameters with another name in Python: the name of scikit-learn, or because the name of the core is a keyword.
RENAMED = {
    "c": "C",
    "tolerance": "tol",
    "max_steps": "max_iter",
    "cache_bytes": "cache_size",
    "lambda": "lam",
    "seed": "random_state",
}

#: Help of parameters whose values have another form in Python.
HELP = {
    "views": "columns of each view: a list of (start, end), slices, ranges or lists of columns; all = one view",
    "cache_bytes": "memory for cached kernel rows, in megabytes",
}

HEADER = '''"""The estimators. Written by ``python/generate.py`` from the specifications of the core; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

'''


def core():
    """Load the extension module of the installed package or of this folder, without importing the package itself."""
    for folder in [*sys.path[1:], sys.path[0]]:  # the installed package first: a build in this folder can be older
        found = PathFinder.find_spec("_core", [str(Path(folder) / "evermargin")])
        if found is not None and isinstance(found.loader, ExtensionFileLoader):
            module = importlib.util.module_from_spec(found)
            found.loader.exec_module(module)
            return module
    raise SystemExit("evermargin._core is not built: run maturin develop, or install the wheel")


def choices(words: list[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def annotation(param: dict) -> str:
    literal = f"Literal[{choices(param['choices'])}]" if param["choices"] else ""
    return {
        "float": "float",
        "integer": "int",
        "limit": "int",
        "bool": "bool",
        "choice": literal,
        "gamma": f"float | {literal}",
        "ratio": f"float | Sequence[float] | {literal}",
        "views": "str | Sequence[Any]",
        "kernels": "str",
        "per-view": "float | Sequence[float]",
    }[param["kind"]]


def documented(param: dict) -> str:
    return {
        "float": "float",
        "integer": "int",
        "limit": "int",
        "bool": "bool",
        "choice": f"{{{choices(param['choices'] or [])}}}",
        "gamma": f"{choices(param['choices'] or [])} or float",
        "ratio": f"{choices(param['choices'] or [])}, float or list of float",
        "views": "str or list",
        "kernels": "str",
        "per-view": "float or list of float",
    }[param["kind"]]


def python_default(param: dict) -> object:
    value = param["default"]
    if param["kind"] == "limit":
        return -1 if value == "none" else value
    return value // MEGABYTE if param["name"] == "cache_bytes" else value


def python_help(param: dict) -> str:
    text = HELP.get(param["name"], param["help"])
    if param["kind"] == "limit":
        text = text.partition(";")[0] + "; -1 = no limit"
    text = re.sub(r"\bc\b", "C", text)
    return text[0].upper() + text[1:] + "."


class Parameter:
    """A parameter of a class; ``core_name`` is empty if the core does not have it."""

    def __init__(self, name: str, kind: str, text: str, default: object, help_: str, core_name: str = "") -> None:
        self.name, self.annotation, self.documented = name, kind, text
        self.default, self.help, self.core_name = default, help_, core_name

    def optional(self) -> Parameter:
        kind = f"{self.annotation} | None"
        return Parameter(self.name, kind, f"{self.documented} or None", None, self.help, self.core_name)


def quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def from_spec(param: dict) -> Parameter:
    name = RENAMED.get(param["name"], param["name"])
    help_ = python_help(param)
    return Parameter(name, annotation(param), documented(param), python_default(param), help_, param["name"])


def joined(variants: list[dict]) -> list[Parameter]:
    """Parameters of several learners; the default is None unless all learners have the parameter with one default."""
    found: dict[str, list[dict]] = {}
    for spec in variants:
        for param in spec["params"]:
            found.setdefault(param["name"], []).append(param)
    result = []
    for params in found.values():
        parameter = from_spec(params[0])
        alike = len(params) == len(variants) and all(p["default"] == params[0]["default"] for p in params)
        result.append(parameter if alike else parameter.optional())
    return result


def parameters(estimator: Estimator, specs: dict[str, dict]) -> list[Parameter]:
    learners = [learner for _, learner in estimator.variants] or [estimator.learner]
    of_core = [p for p in joined([specs[name] for name in learners]) if p.core_name not in estimator.omit]
    named = {p.name: p for p in of_core}
    first, last = [], []
    for name in estimator.options:
        option, taken = OPTIONS[name], named.pop(name, None)
        if name == "random_state" and taken is None:
            continue
        core_name = taken.core_name if taken else ""
        default = dict(estimator.defaults).get(name, option.default)
        parameter = Parameter(name, option.annotation, option.documented, default, option.help, core_name)
        (first if name == "loss" else last).append(parameter)
    if "random_state" in named:
        raise SystemExit(f"{estimator.name}: the learner is random and the class has no random_state")
    return [*first, *named.values(), *last]


def wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def docstring(estimator: Estimator, params: list[Parameter]) -> str:
    lines = [estimator.intro, "", f"Equations, failure modes and costs: ``docs/{estimator.page}.md``.", ""]
    lines += ["Parameters", "----------"]
    for p in params:
        lines += [f"{p.name} : {p.documented}, default={quoted(p.default)}", wrapped(p.help, "    ")]
    lines += ["", "Attributes", "----------", estimator.attributes.strip("\n")]
    lines += ["", "Examples", "--------", estimator.example.strip("\n")]
    body = textwrap.indent("\n".join(lines), "    ")
    return f'    """{body.lstrip()}\n    """'


def table(params: list[Parameter]) -> str:
    pairs = "".join(f'        "{p.name}": "{p.core_name}",\n' for p in params if p.core_name)
    return f"    _params = {{\n{pairs}    }}"


def render_class(estimator: Estimator, specs: dict[str, dict]) -> str:
    params = parameters(estimator, specs)
    lines = [f"class {estimator.name}({estimator.base}):", docstring(estimator, params), ""]
    lines += [f'    _learner = "{estimator.learner}"']
    if estimator.variants:
        pairs = ", ".join(f'"{loss}": "{learner}"' for loss, learner in estimator.variants)
        lines += [f"    _variants = {{{pairs}}}"]
    options = [o for o in estimator.options if o in ("class_weight", "scale", "multi", "probability", "threshold", "compare")]
    listed = ", ".join(f'"{o}"' for o in options)
    lines += [table(params), f"    _options = ({listed}{',' if len(options) == 1 else ''})", ""]
    lines += ["    def __init__(", "        self,", "        *,"]
    lines += [f"        {p.name}: {p.annotation} = {quoted(p.default)}," for p in params]
    lines += ["    ) -> None:", *(f"        self.{p.name} = {p.name}" for p in params)]
    return "\n".join(lines) + "\n"


def render() -> str:
    specs = {spec["name"]: spec for spec in json.loads(core().specs())}
    modules = {
        "_base": ("LargeMarginClassifier", "SemiSupervisedClassifier"),
        "_one_class": ("OneClassEstimator",),
        "_online": ("OnlineClassifier",),
        "_sequential": ("SequentialClassifier", "SequentialSemiSupervisedClassifier"),
    }
    imports = "".join(f"from .{module} import {', '.join(names)}\n" for module, names in modules.items())
    names = "".join(f'    "{name}",\n' for name in sorted(e.name for e in CATALOG))
    classes = "\n\n".join(render_class(e, specs) for e in CATALOG)
    return f"{HEADER}{imports}\n__all__ = [\n{names}]\n\n\n{classes}"


def main() -> int:
    target = Path(__file__).resolve().parent / "evermargin" / "_estimators.py"
    text = render()
    if "--check" in sys.argv[1:]:
        current = target.exists() and target.read_text() == text
        print(f"{target.name} is {'current' if current else 'stale: run python python/generate.py'}")
        return 0 if current else 1
    target.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
