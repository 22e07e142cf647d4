"""Tables of known data sets, read from the files of installed packages, which are not imported.

Iris, wine, breast cancer and digits come with scikit-learn; image segments, phishing and banana
come with river. belated has no copy of them.
"""

import csv
import functools
import gzip
import zipfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.specs import listed

Row = tuple[list[float], str]


class DataTable(NamedTuple):
    """Standardised features by row, the class of each row, and the names of both."""

    features: Floats
    classes: Counts
    names: tuple[str, ...]
    labels: tuple[str, ...]


class _File(NamedTuple):
    package: str
    distribution: str
    path: str
    read: Callable[[Path], Iterator[Row]]
    labels: tuple[str, ...] = ()  # of the classes 0, 1, ...; else the classes are their own labels


def class_last(path: Path) -> Iterator[Row]:
    """The rows of a CSV file, zipped or not, whose first line is no row and last column a class."""
    yield from (([float(x) for x in row[:-1]], row[-1]) for row in _lines(path)[1:])


def without_head(path: Path) -> Iterator[Row]:
    """The rows of a zipped CSV file that has no head and whose last column is a class."""
    yield from (([float(x) for x in row[:-1]], str(int(float(row[-1])))) for row in _lines(path))


def sparse(path: Path) -> Iterator[Row]:
    """The rows of a zipped text of lines such as "-1 1:0.5 2:0.25", which begin with a class."""
    with zipfile.ZipFile(path) as archive:
        name = next(each for each in archive.namelist() if "/" not in each)
        for line in archive.read(name).decode().splitlines():
            first, *rest = line.split()
            yield [float(each.partition(":")[2]) for each in rest], first


def _lines(path: Path) -> list[list[str]]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0]).decode()
    else:
        packed = path.read_bytes()
        text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
    return list(csv.reader(text.splitlines()))


SKLEARN, RIVER = ("sklearn", "scikit-learn"), ("river", "river")
FILES = {
    "iris": _File(
        *SKLEARN, "datasets/data/iris.csv", class_last, ("setosa", "versicolor", "virginica")
    ),
    "wine": _File(*SKLEARN, "datasets/data/wine_data.csv", class_last),
    "cancer": _File(
        *SKLEARN, "datasets/data/breast_cancer.csv", class_last, ("malignant", "benign")
    ),
    "digits": _File(*SKLEARN, "datasets/data/digits.csv.gz", without_head),
    "segments": _File(*RIVER, "datasets/segment.csv.zip", class_last),
    "phishing": _File(*RIVER, "datasets/phishing.csv.gz", class_last, ("no phishing", "phishing")),
    "banana": _File(*RIVER, "datasets/banana.zip", sparse),
}


@functools.cache
def data_table(name: str) -> DataTable:
    """The table of a data set, with standardised features; a constant one is left out."""
    if name not in FILES:
        raise ValueError(f"data is {name!r}; it must be one of {listed(FILES, name)}")
    file = FILES[name]
    rows = list(file.read(_found(name, file)))
    features = np.array([row[0] for row in rows])
    varied = np.flatnonzero(features.std(axis=0) > 0.0)
    features = features[:, varied]
    labels = sorted({row[1] for row in rows})
    return DataTable(
        (features - features.mean(axis=0)) / features.std(axis=0),
        np.array([labels.index(row[1]) for row in rows]),
        tuple(f"{name} {i + 1}" for i in varied),
        file.labels or tuple(labels),
    )


def _found(name: str, file: _File) -> Path:
    spec = find_spec(file.package)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    for place in places:
        path = Path(place) / file.path
        if path.is_file():
            return path
    raise ValueError(
        f"the data set {name} is read from the package {file.distribution}, which is not installed "
        f"here, or not with this data; try: pip install {file.distribution}"
    )
