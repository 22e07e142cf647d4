"""Scenarios with known data sets: a visitor is a row of a table, and the right arm is its class."""

from belated.environments.combined_delays import ByOutcome
from belated.environments.contextual.data_tables import data_table
from belated.environments.contextual.drawn_contexts import RowsOfTable
from belated.environments.contextual.mean_losses import ClassMeans, CoinsByContext
from belated.environments.contextual.visitors import rising
from belated.environments.delays import Constant, Geometric, PacketLoss
from belated.environments.parameters import as_chance
from belated.environments.scenarios import Parts, scenario_named

GOODS = 5


@scenario_named(
    "classes",
    shows="A visitor is a row of a known data set and the right arm is its class, with some noise, "
    "late and partly lost: a classifier must be learned from the outcomes of single guesses.",
)
def classes(
    data: str = "iris",
    rounds: int = 4000,
    noise: float = 0.1,
    delay: float = 400.0,
    lost: float = 0.5,
) -> Parts:
    """Rows are drawn at random; the right arm has the mean loss `noise`, and others 1."""
    table = data_table(data)
    arms = len(table.labels)
    return Parts(
        CoinsByContext(ClassMeans(arms, as_chance(noise, "noise"), 1.0)),
        PacketLoss(rising(as_chance(lost, "lost"), arms), Geometric(rising(delay, arms))),
        rounds,
        labels=table.labels,
        contexts=RowsOfTable(table.features, table.classes, table.names),
    )


@scenario_named(
    "purchases",
    shows="A visitor is a handwritten digit, and each of five goods is for two of the digits: one "
    "visitor in five buys the right good, days later, and the others report nothing.",
)
def purchases(
    rounds: int = 20_000, right: float = 0.2, other: float = 0.04, delay: float = 400.0
) -> Parts:
    """The right good is bought with chance `right`, others with `other`; no purchase is silent."""
    table = data_table("digits")
    means = ClassMeans(GOODS, 1.0 - as_chance(right, "right"), 1.0 - as_chance(other, "other"))
    return Parts(
        CoinsByContext(means),
        ByOutcome(Geometric(rising(delay, GOODS)), Constant(None)),
        rounds,
        default_loss=1.0,
        contexts=RowsOfTable(table.features, table.classes, table.names),
    )
