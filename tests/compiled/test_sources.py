"""Which sources the code of a step depends on: those of its learner, and not those of others."""

from belated.asktell.runners import workspace_for
from belated.compiled.ask_tell import entries_of
from belated.compiled.entries import Entry
from belated.compiled.sources import closure, hash_of, source_hash
from belated.learners.adversarial.exp3 import Exp3
from belated.learners.paper.concealed import Concealed
from belated.learners.practical.practical_bandit import PracticalBandit
from belated.learners.registry import registered
from belated.learners.wrappers.bold import BoldExp3
from belated.numerics.random_stream import seeded

EXP3 = "belated.learners.adversarial.exp3"


def asking(kind: type) -> Entry:
    """The entry by which a learner is asked."""
    learner = kind(arms=2)
    return entries_of(*workspace_for(learner, learner.start(), seeded(1)))["ask"]


def sources(kind: type) -> set[str]:
    return closure(asking(kind).modules)


def test_a_learner_depends_on_what_its_kernels_call() -> None:
    """The learner, its solver, its parts, the steps, and the bases of copies."""
    assert {EXP3, "belated.compiled.ask_tell"} <= sources(Exp3)
    assert "belated.solvers.concealed" in sources(Concealed)
    assert "belated.numerics.lanes" in sources(Concealed)
    parts = {"belated.learners.practical.silence", "belated.learners.paper.concealed"}
    assert parts <= sources(PracticalBandit)
    assert {EXP3, "belated.learners.wrappers.bold"} <= sources(BoldExp3)


def test_no_learner_depends_on_a_rival() -> None:
    """Editing Exp3 makes nobody compile again but Exp3, what is built on it, and copies."""
    found = {name for name, kind in registered().items() if EXP3 in sources(kind)}
    alone = {name for name in found if not name.startswith(("bold-", "copies-"))}
    assert alone == {"exp3", "exp3-ix", "bistritz", "dew", "dew-skipping", "log-barrier"}


def test_the_hash_is_of_names_and_contents() -> None:
    """Other modules have another hash; that of everything is of all of them."""
    assert hash_of(frozenset([EXP3])) == hash_of(frozenset([EXP3]))
    assert hash_of(frozenset([EXP3])) != hash_of(frozenset(["belated.learners.paper.concealed"]))
    assert len(source_hash()) == 16


def test_code_is_found_by_its_sources_and_not_by_its_place() -> None:
    """The name of a code file has no part of the path of the package."""
    path = asking(Exp3).path
    assert path is not None
    assert path.name.startswith("exp3-ask_bandit-")
