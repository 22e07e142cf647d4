"""Tables come back from every format as they were written."""

import csv
import json
from pathlib import Path

import pytest
from pyarrow import parquet

from belated.comparison.table import Table, shown

RECORDS = [
    {"name": "a,b", "count": 3, "value": 0.1 + 0.2, "nothing": None},
    {"name": 'quo"te', "count": -1, "value": float("inf"), "nothing": None, "extra": 2.5},
]


def test_every_format_keeps_every_digit(tmp_path: Path) -> None:
    """CSV, JSON and Parquet."""
    table = Table.of(RECORDS)
    for suffix in ("csv", "json", "parquet"):
        table.save(tmp_path / f"table.{suffix}")
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["a,b", 'quo"te']
    assert [float(row["value"]) for row in rows] == [0.1 + 0.2, float("inf")]
    read = json.loads((tmp_path / "table.json").read_text())
    assert read[0] == {**RECORDS[0], "extra": None}
    assert read[1]["value"] is None
    assert parquet.read_table(tmp_path / "table.parquet").to_pylist() == list(table)
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".json", ".parquet"}


@pytest.mark.parametrize("name", ["table.txt", "nowhere/table.csv"])
def test_what_cannot_be_written_is_refused(name: str, tmp_path: Path) -> None:
    """A clear sentence, and no file."""
    with pytest.raises(ValueError, match=r"must end in|does not exist"):
        Table.of(RECORDS).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_people_see_four_digits_and_no_markup() -> None:
    """Text and HTML for people."""
    values = (None, float("nan"), 1234.56, 0.000123456, 1e-12, 7, "x")
    assert [shown(x) for x in values] == ["", "", "1,235", "0.0001235", "0", "7", "x"]
    table = Table.of([{"<b>": "&"}])
    assert "<td>&amp;</td>" in table._repr_html_()
    assert "&lt;b&gt;" in table._repr_html_()
    assert str(Table.of([{"long": 1}, {"long": 22222}])).splitlines() == ["long", "1", "22222"]
