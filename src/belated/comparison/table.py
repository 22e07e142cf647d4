"""Tables: rows of plain values under named columns, which can be shown and saved to files."""

import csv
import html
import io
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belated.comparison.digits import decimals_of, fixed
from belated.table_files import arrow_table, check_parquet, write_parquet

FORMATS = (".csv", ".json", ".parquet")
BACKSLASH = "\\"
LATEX = {
    **{sign: f"{BACKSLASH}{sign}" for sign in "&%$#_{}"},
    BACKSLASH: r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{DAGGER}": r"$\dagger$",
    "\N{INFINITY}": r"$\infty$",
}
LEAST = 0.0001  # of a size that is written in digits
NOISE = 1e-9  # smaller numbers are rounding errors of sums and are shown as 0


@dataclass(frozen=True)
class Table:
    """Rows that all have the same columns; a value is text, a number, a truth value or None."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Any]]) -> "Table":
        """Make a table of records; where a record lacks a column, its value is None."""
        columns = tuple(dict.fromkeys(name for record in records for name in record))
        return cls(columns, tuple(tuple(map(record.get, columns)) for record in records))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """Return the values of one column from top to bottom."""
        return [row[self.columns.index(name)] for row in self.rows]

    def without(self, *names: str) -> "Table":
        """Return the table without some of its columns."""
        return Table.of([{k: v for k, v in row.items() if k not in names} for row in self])

    def to_csv(self) -> str:
        """Return the table as CSV, with every digit of numbers and with None as an empty field."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_json(self) -> str:
        """Return the table as a JSON list of objects; NaN and infinities become null."""
        return json.dumps([{k: _finite(v) for k, v in record.items()} for record in self])

    def to_markdown(self) -> str:
        """Return the table in Markdown, with the digits that a reader needs."""
        lines = [self.columns, ["---"] * len(self.columns), *self.shown()]
        return "".join(
            f"| {' | '.join(cell.replace('|', BACKSLASH + '|') for cell in line)} |\n"
            for line in lines
        )

    def to_latex(self) -> str:
        """Return the table in LaTeX, with the rules of the package booktabs."""
        head, *body = (
            " & ".join(map(in_latex, line)) + r" \\" for line in [self.columns, *self.shown()]
        )
        columns = "l" * len(self.columns)
        begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
        rules = [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", end]
        return "\n".join(rules) + "\n"

    def to_pandas(self) -> Any:
        """Return the table as a DataFrame of pandas, with every digit."""
        try:
            import pandas
        except ImportError:
            raise ValueError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame({name: self.column(name) for name in self.columns})

    def to_polars(self) -> Any:
        """Return the table as a DataFrame of polars, with every digit."""
        try:
            import polars
        except ImportError:
            raise ValueError("to_polars needs polars: pip install polars") from None
        return polars.DataFrame(
            {name: self.column(name) for name in self.columns}, infer_schema_length=None
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to any program that reads Arrow; this needs pyarrow."""
        table = arrow_table({name: self.column(name) for name in self.columns})
        return table.__arrow_c_stream__(requested_schema)

    def save(self, path: str | Path) -> None:
        """Write a .csv, .json or .parquet file; the file appears only when it is complete."""
        path = Path(path)
        check_format(path)
        partial = path.with_name(path.name + ".part")
        if path.suffix == ".parquet":
            write_parquet({name: self.column(name) for name in self.columns}, partial)
        else:
            text = self.to_csv() if path.suffix == ".csv" else self.to_json()
            partial.write_text(text, encoding="utf-8")
        partial.replace(path)

    def shown(self) -> list[list[str]]:
        """Return the rows as text; all numbers of a column have the same number of decimals."""
        columns = [column_shown(self.column(name)) for name in self.columns]
        return [list(row) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        lines = [list(self.columns), *self.shown()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.shown()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def in_latex(text: str) -> str:
    """Return text with the characters escaped that mean something else in LaTeX."""
    return "".join(LATEX.get(letter, letter) for letter in text)


def check_format(path: Path) -> None:
    """Raise an error if a table cannot be saved in the format that the file's name asks for.

    It is called before anything is computed for the table.
    """
    if path.suffix not in FORMATS:
        raise ValueError(
            f"{path.name} ends in {path.suffix!r}; it must end in .csv, .json or .parquet"
        )
    if path.suffix == ".parquet":
        check_parquet()
    check_writable(path)


def check_writable(path: Path) -> None:
    """Raise an error if the file cannot be created, before anything is computed for it."""
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be written; its folder does not exist")
    if path.is_dir():
        raise ValueError(f"{path} cannot be written; it is a folder")
    if not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"{path} cannot be written; its folder allows no new file")


def column_shown(values: Sequence[Any]) -> list[str]:
    """Return the values of a column as text; its numbers have the same number of decimals."""
    numbers = [value for value in values if isinstance(value, float) and abs(value) >= NOISE]
    decimals = decimals_of(numbers)
    return [
        fixed(value, decimals)
        if isinstance(value, float) and math.isfinite(value)
        else shown(value)
        for value in values
    ]


def shown(value: Any) -> str:
    """Return one value as text; a number has four significant digits, at most four decimals."""
    if value is None or value != value:  # nothing, or not a number
        return ""
    if isinstance(value, float):
        if abs(value) < NOISE or not math.isfinite(value):
            return f"{round(value) if abs(value) < NOISE else value:g}"
        if abs(value) < LEAST:
            return f"under {LEAST}" if value > 0.0 else f"above -{LEAST}"
        return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.4g}"
    return str(value)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
