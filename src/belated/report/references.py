"""The errata that a page cites, in a sentence each, since a page needs no other file."""

import re
from collections.abc import Iterable

from belated.report.markup import definitions, element, prose

ERRATA = {
    "E1": "Theorem 1 of the paper (full information) fails if the number of outstanding losses "
    "grows late in a long game. The repaired learner has a proof.",
    "E2": "Theorem 3 of the paper (concealed bandit) fails for many arms. The repaired learner has "
    "a proof.",
    "E3": "The proof of Theorem 2 of the paper (partially concealed bandit) takes the outstanding "
    "plays to be at most rho*, but they may be more.",
    "E4": "A step in the proof of Theorem 2 of the paper is stated as an equality, but is not one.",
    "E6": "A step in the proof of Theorem 2 of the paper bounds a variance wrongly.",
    "E8": "The lemma of the paper on drift is false for the partially concealed bandit.",
    "E12": "The learner was promised that at most max_missing losses of an arm are outstanding, "
    "and there were more.",
    "E13": "The theorems are claimed for horizons, arms and promises of certain sizes only.",
}
CITED = re.compile(r"\bE\d+\b")


def linked(html: str) -> str:
    """Turn the errata that HTML cites into links to their sentences on the same page."""
    return CITED.sub(_link, html)


def _link(found: re.Match[str]) -> str:
    name = found.group()
    return element("a", name, href=f"#erratum-{name}") if name in ERRATA else name


def references(texts: Iterable[str]) -> str:
    """Return a list of the errata that these texts cite; empty if they cite none."""
    cited = {name for text in texts for name in CITED.findall(text)}
    pairs = [
        (element("span", name, id=f"erratum-{name}"), prose(said))
        for name, said in ERRATA.items()
        if name in cited
    ]
    return definitions(pairs) if pairs else ""
