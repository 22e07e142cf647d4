"""docs/paper.md maps every label of the paper, and every name it and docs/errata.md give exists."""

import importlib
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "src").rglob("*.py"))

KIND = r"\b(?:eq|lem|th|alg|sec|app):"
ROW = re.compile(rf"^\| `({KIND}[^`]+)` \|", re.MULTILINE)
QUOTED = re.compile(rf"`({KIND}[^`]+)`")
CODE = re.compile(r"`(belated(?:\.\w+)+)`")
LONGEST_FIRST = sorted(ROW.findall(MAP), key=len, reverse=True)
KNOWN = re.compile("|".join(f"{re.escape(name)}(?!\\w)" for name in LONGEST_FIRST))
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")

LABELS = """
eq:fullintrobound, eq:banditintrobound1, eq:banditintrobound2,
sec:algorithm, alg:framework, eq:frameworkprediction, eq:driftcheating, eq:lookahead,
eq:FTRLregularizer, lem:drift, eq:key, lem:cheating regret, eq:decomp, lem:frameworkregret,
sec:Full information, eq:fullinforeg, eq:fullinfopred, eq:fullinfocorr, eq:fullinfoeta,
eq:fullinfoprior, th:informal fullinfobound,
sec:bandits, sec:partcon, eq:banditreg1, eq:banditreg2, eq:banditpredictions1,
eq:correctionbandit, eq:banditgamma, eq:banditeta, th:informal banditbound, lem:banditFbound,
lem:banditdriftbound, eq:startbanditFbound, eq:tricky,
sec:concealed, eq:regunknown1, eq:regunknown2, eq:mintrick, eq:censoredgamma, th:concealed,
sec:conclusion, app:algorithm, lem:conjugateproperties3,
app:Full information, th:fullinfobound, eq:thfullinfo1, eq:expanded R_T fullinfo,
eq:boundingprior, eq:fulltooptimize, eq:etaopt,
app:partcon, eq:inverseblock, eq:banditvariance1, eq:banditdelay1, lem:banditRbound, eq:RT1,
th:banditbound, eq:bandittoopt, eq:banditgammaopt, eq:banditetaopt, app:concealed
"""


def test_every_label_of_the_paper_has_its_row() -> None:
    labels = [label.strip() for label in LABELS.split(",")]
    assert sorted(ROW.findall(MAP)) == sorted(labels)


def unknown_labels(text: str) -> list[str]:
    """The citations in a text that name no label of the map, line breaks notwithstanding."""
    flat = " ".join(text.split())
    return [
        flat[found.start() : found.start() + 40]
        for found in re.finditer(KIND + r"\w", flat)
        if not KNOWN.match(flat, found.start())
    ]


def test_every_label_cited_in_the_code_is_in_the_map() -> None:
    unknown = {path: unknown_labels(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert len(SOURCES) > 100
    assert {path: labels for path, labels in unknown.items() if labels} == {}


def test_a_misspelled_label_would_be_found() -> None:
    assert unknown_labels("eq:fullinfoeta, lem:cheating\n    regret") == []
    assert unknown_labels("see eq:fullinfo and lem:cheating more") != []


def test_every_label_quoted_in_the_documents_is_in_the_map() -> None:
    assert set(QUOTED.findall(MAP + ERRATA)) <= set(ROW.findall(MAP))


def exists(name: str) -> bool:
    """Whether there is a module or object of this dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_every_name_in_the_documents_exists() -> None:
    names = set(CODE.findall(MAP + ERRATA))
    assert len(names) > 50
    assert [name for name in sorted(names) if not exists(name)] == []


def test_every_test_named_in_the_documents_exists() -> None:
    named = set(TEST.findall(MAP + ERRATA))
    assert named
    for path, function in named:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, f"{path}::{function}"
