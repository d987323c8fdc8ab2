"""Conversion of views (groups of columns) to the notation of the core."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any


def views_text(views: Sequence[Any], columns: int, names: list[str]) -> str:
    """Convert views to text for the core. A view is a column range (from 0, end excluded) or a list of columns."""

    def column_number(column: Any) -> int:
        if isinstance(column, str):
            if column not in names:
                near = get_close_matches(column, names)
                known = f"; near it: {', '.join(near)}" if near else "" if names else "; X has no column names"
                raise ValueError(f"views: no column is named {column!r}{known}")
            return names.index(column) + 1
        whole = isinstance(column, numbers.Integral) and not isinstance(column, bool)
        if whole and 0 <= column < columns:
            return int(column) + 1
        raise ValueError(f"views: column {column!r} must be a name, or a number from 0 to {columns - 1}")

    def view_text(view: Any) -> str:
        if isinstance(view, list) and view:
            return ",".join(str(column_number(column)) for column in view)
        if isinstance(view, slice):
            view = range(*view.indices(columns))
        if isinstance(view, tuple) and len(view) == 2:
            view = range(*view)
        if not isinstance(view, range):
            raise ValueError(f"views: {view!r} must be (start, end), a slice, a range or a list of columns")
        if view.step != 1:
            raise ValueError(f"views: columns of {view} must follow each other without gaps")
        return f"{view.start + 1}..{view.stop}"

    return ";".join(view_text(view) for view in views)
