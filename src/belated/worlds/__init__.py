"""Random worlds: games drawn from declared families, to judge learners by more than a few cases.

- `named_worlds`: worlds by name, such as seasons/17, and their split into a design and a judge set
- `family`: what a family of worlds is, and what it draws
- `draws`, `laws`: the numbers, losses and delays that families draw
- `steady`, `rare`, `late`, `changing`, `hostile`, `recorded`: the families
- `world_compare`: plays learners on many worlds, on all cores
- `world_result`: shares of uniform play's regret, by world, family and learner
"""

from typing import TYPE_CHECKING

from belated.lazy import lazy_exports

if TYPE_CHECKING:
    from belated.worlds.named_worlds import World, draw_worlds, families, world
    from belated.worlds.world_compare import compare
    from belated.worlds.world_result import WorldComparison

__all__ = ["World", "WorldComparison", "compare", "draw_worlds", "families", "world"]

__getattr__ = lazy_exports(
    __name__,
    {
        "World": "belated.worlds.named_worlds",
        "WorldComparison": "belated.worlds.world_result",
        "compare": "belated.worlds.world_compare",
        "draw_worlds": "belated.worlds.named_worlds",
        "families": "belated.worlds.named_worlds",
        "world": "belated.worlds.named_worlds",
    },
)


def __dir__() -> list[str]:
    return __all__
