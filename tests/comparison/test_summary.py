"""What readers see of a comparison: ranked by feedback, one rule for digits, other formats."""

import numpy as np
import pytest

from belated.analysis.statistics import MeanEstimate
from belated.comparison.compare import compare
from belated.comparison.digits import decimals_of, decimals_of_estimates, fixed
from belated.comparison.feedback import groups_of
from belated.comparison.result import Comparison
from belated.comparison.summary import estimates_shown
from belated.comparison.table import Table
from belated.environments.scenarios import scenario
from belated.types import Setting

LEARNERS = ["uniform", "concealed", "full-information", "exp3"]


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Three bandits and one expert in three short games."""
    return compare(LEARNERS, scenario("late-best", rounds=150), repetitions=3)


def of(mean: float, half: float) -> MeanEstimate:
    """A mean with this half-width."""
    return MeanEstimate(np.array(mean), np.array(half / 2.0), np.array(half))


def test_experts_and_bandits_are_in_groups_of_their_own(found: Comparison) -> None:
    """Experts come first, and each group is in the order of mean regret."""
    experts, bandits = groups_of(found)
    assert experts.setting is Setting.FULL_INFORMATION
    assert experts.members == (2,)
    means = [float(found.regret(k).mean()) for k in bandits.members]
    assert sorted(bandits.members) == [0, 1, 3]
    assert means == sorted(means)
    rows = list(found.summary())
    assert [row["feedback"] for row in rows] == ["experts", "bandits", "bandits", "bandits"]
    assert [row["learner"] for row in rows][1:] == [found.labels[k] for k in bandits.members]


def test_all_numbers_of_a_column_have_the_same_decimals(found: Comparison) -> None:
    """In the summary and in every table; rows then look as sorted as they are."""
    for name in ("regret", "against balanced", "loss per round"):
        cells = [row[name] for row in found.summary()]
        assert len({len(cell.partition(".")[2]) for cell in cells}) == 1
    shown = Table.of([{"x": 28.81}, {"x": 5169.0}, {"x": 1.698e-05}, {"x": None}]).shown()
    assert shown == [["28.81"], ["5,169.00"], ["0.00"], [""]]


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ([of(2.5, 3.7), of(2.468, 0.0)], ["2.5 ± 3.7", "2.5 (deterministic)"]),
        ([of(28.81, 0.5), of(5169.0, 349.0)], ["28.8 ± 0.5", "5,169.0 ± 349.0"]),
        ([of(1234.5, 32.1), of(99_999.0, 45.0)], ["1,234 ± 32", "99,999 ± 45"]),
        ([of(0.5, 0.0123), of(-0.00001, 0.02)], ["0.500 ± 0.012", "0.000 ± 0.020"]),
        ([of(7.25, float("nan"))], ["7.250"]),
    ],
)
def test_the_narrowest_interval_of_a_column_decides(
    column: list[MeanEstimate], shown: list[str]
) -> None:
    """It has two digits, unless the largest mean would have more than five."""
    assert estimates_shown(column) == shown


def test_columns_of_nothing_have_no_decimals() -> None:
    """Zeros, infinities and no numbers at all."""
    assert decimals_of([]) == decimals_of([0.0, float("inf")]) == 0
    assert decimals_of_estimates([of(0.0, 0.0)]) == 0
    assert fixed(-0.0001, 2) == "0.00"


def test_a_comparison_goes_to_other_programs(found: Comparison) -> None:
    """DataFrames and Arrow have every run with every digit; papers get the summary."""
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["regret"].tolist() == found.runs().column("regret")
    assert pyarrow.table(found)["regret"].to_pylist() == found.runs().column("regret")
    assert pyarrow.table(found.table())["learner"].to_pylist() == LEARNERS
    assert found.to_markdown().splitlines()[0].startswith("| feedback | learner | regret | ± |")
    assert len(found.to_markdown().splitlines()) == 2 + len(LEARNERS)
    latex = found.to_latex()
    assert r"\begin{tabular}{lllllll}" in latex
    assert r"feedback & learner & regret & $\pm$ &" in latex
    assert latex.count(r"\\") == 1 + len(LEARNERS)


def test_polars_reads_tables(found: Comparison) -> None:
    """As a DataFrame, where polars is installed."""
    polars = pytest.importorskip("polars")
    assert found.to_polars()["regret"].to_list() == found.runs().column("regret")
    assert polars.DataFrame(found.table()).height == len(LEARNERS)


def test_text_is_escaped_for_markdown_and_latex() -> None:
    """Labels of users may have any letters."""
    table = Table.of([{"a_b": "50 % & more | $x^2$ \\ ~", "n": 1}])
    assert table.to_markdown().splitlines()[2] == "| 50 % & more \\| $x^2$ \\ ~ | 1 |"
    row = table.to_latex().splitlines()[4]
    assert row == (
        r"50 \% \& more | \$x\textasciicircum{}2\$ \textbackslash{} \textasciitilde{} & 1 \\"
    )


def test_a_repr_is_a_line(found: Comparison) -> None:
    """It names the game and the best learner of each setting."""
    said = repr(found)
    assert len(said) < 250
    assert said.startswith("<Comparison on late-best:rounds=150: 150 rounds, 5 arms, 3 repetitions")
    assert "lowest regret: full-information of 1 experts" in said
