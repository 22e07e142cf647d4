"""Ask and tell: ask a learner for a decision, and tell it the outcome whenever that comes.

The five public classes, which `belated` exports as well:
- `ConcealedBandit`, `PartiallyConcealedBandit`, `DelayedExperts`: the paper's learners
- `Bandit`, `Experts`: any registered learner, by its name

`from_json` reads a learner that was saved with `to_json`. `Session`, `BanditSession` and
`ExpertSession` are what these classes have in common; use them for type hints.

The modules, each of which imports only from those above it:
- `ticket_rules`: what may be told of a ticket, and what stands; shared with the service
- `options`: `FeedbackOptions` and the other options that do not depend on the learner
- `learner_options`: the learner that a name stands for, and its options
- `ticket_book`: the open tickets of a session, and the last closed ones
- `held_rounds`: rounds that wait until the learner can be told of them
- `session_state`: what is saved of a session, as records
- `saving`: these records as text
- `shares`: the probabilities of a draw from some arms, or with a least share for each
- `runners`: which compiled steps run a learner
- `forks`: a learner refuses to go on in a forked process
- `session`: `Session`, which bandits and experts share: fast path, slow path, promises, reports
- `advised`: advice that policies give with each ask
- `contexts`: contexts, and arms that may be drawn, that are given with each ask
- `bandits`, `experts`: the public classes
- `loading`: sessions from text
"""

from typing import TYPE_CHECKING

from belated.lazy import lazy_exports

if TYPE_CHECKING:
    from belated.asktell.bandits import (
        Bandit,
        BanditSession,
        ConcealedBandit,
        PartiallyConcealedBandit,
    )
    from belated.asktell.experts import DelayedExperts, Experts, ExpertSession
    from belated.asktell.loading import from_json
    from belated.asktell.session import Session

__all__ = [
    "Bandit",
    "BanditSession",
    "ConcealedBandit",
    "DelayedExperts",
    "ExpertSession",
    "Experts",
    "PartiallyConcealedBandit",
    "Session",
    "from_json",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Bandit": "belated.asktell.bandits",
        "BanditSession": "belated.asktell.bandits",
        "ConcealedBandit": "belated.asktell.bandits",
        "DelayedExperts": "belated.asktell.experts",
        "ExpertSession": "belated.asktell.experts",
        "Experts": "belated.asktell.experts",
        "PartiallyConcealedBandit": "belated.asktell.bandits",
        "Session": "belated.asktell.session",
        "from_json": "belated.asktell.loading",
    },
)


def __dir__() -> list[str]:
    return __all__
