"""Laws of playing a game, whatever the losses, delays and plays."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from belated.analysis.game_sums import sum_up
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.learners.states import copied, identical, leaves
from belated.play import engine, readable
from belated.play.game import Game
from belated.testing.trials import (
    Arrivals,
    Kind,
    Laws,
    Trial,
    demand,
    games_like,
    has,
    is_whole,
    setting_of,
)
from belated.types import Need, Setting

GAME_LAWS = Laws()


def is_bandit(kind: Kind) -> bool:
    """Whether a learner is told one loss a round."""
    return setting_of(kind) is not Setting.FULL_INFORMATION


@GAME_LAWS.law("The weights of each round are at least 0, and their sum is 1.")
def weights_are_a_distribution(trial: Trial) -> None:
    """No negative weight, no NaN, and a sum of one."""
    for t, q in enumerate(trial.play(trial.a_game(most_arms=6)), 1):
        demand(np.all(q >= 0.0), f"in round {t} the weights are {q.tolist()}")
        demand(abs(q.sum() - 1.0) <= trial.close, f"in round {t} their sum is {q.sum()!r}")


@GAME_LAWS.law("The order in which losses arrive at the end of one round does not matter.")
def order_of_feedback_inside_a_round_is_irrelevant(trial: Trial) -> None:
    """Whatever arrives at the end of a round is a set, not a list."""
    game = trial.a_game()
    shuffled = trial.draw(st.randoms(use_true_random=False))

    def shuffle(arrivals: Arrivals) -> Arrivals:
        return shuffled.sample(arrivals, len(arrivals))

    reference = trial.play(game)
    trial.demand_close(trial.play(game, shuffle), reference, "in another order")
    backwards = trial.play(game, lambda arrivals: arrivals[::-1])
    trial.demand_close(backwards, reference, "in the opposite order")


@GAME_LAWS.law("`predict` only reads: it changes nothing, and repeated it gives the same weights.")
def predict_changes_nothing(trial: Trial) -> None:
    """Every array of the state stays as it is, and a second prediction is the first again."""

    def look(learner: Any, state: Any) -> None:
        if not is_whole(trial.kind):
            learner.predict(state)
            return
        before = copied(state)
        first = learner.predict(state)
        for name, array in leaves(state).items():
            same = array.tobytes() == leaves(before)[name].tobytes()
            demand(same, f"predict changes the part {name!r} of the state")
        demand(identical(learner.predict(state), first), "predicted again, it differs")

    game = trial.a_game()
    looked = trial.play(game, each_round=look)
    trial.demand_equal(looked, trial.play(game), "with more predictions")


@GAME_LAWS.law("The arms have no order: if they are permuted, so are the weights.")
def permuting_the_arms_permutes_the_weights(trial: Trial) -> None:
    """Losses, delays, plays and prior permuted."""
    game = trial.a_game()
    count = game.options["arms"]
    order = np.array(trial.draw(st.permutations(range(count)), "permutation"))
    options = dict(game.options)
    if options.get("prior"):
        options["prior"] = [options["prior"][i] for i in order]
    permuted = game.but(
        options=options,
        losses=game.losses[:, order],
        delays=game.delays[:, order],
        arms=np.argsort(order)[game.arms],
    )
    expected = trial.play(game)[:, order]
    trial.demand_close(trial.play(permuted), expected, f"with the arms {order.tolist()}")


@GAME_LAWS.law("What arrives in a round or later changes no weight up to that round.")
def the_future_is_unknown(trial: Trial) -> None:
    """Losses and delays of what arrives in round t or later may be anything."""
    game = trial.a_game()
    rounds = len(game.losses)
    other = trial.draw(games_like(game), "another future")
    now = trial.draw(st.integers(1, rounds), "t")
    made_in = np.arange(1, rounds + 1)[:, None]
    hidden = (game.delays == NEVER) | (made_in + game.delays >= now)
    late = np.where(other.delays == NEVER, NEVER, np.maximum(other.delays, now - made_in))
    changed = game.but(
        losses=np.where(hidden, other.losses, game.losses),
        delays=np.where(hidden, late, game.delays),
        arms=np.where(made_in[:, 0] >= now, other.arms, game.arms),
    )
    with_other = trial.play(changed)[:now]
    trial.demand_equal(with_other, trial.play(game)[:now], f"with another future from round {now}")


@GAME_LAWS.law("The losses of arms that were not played never matter.", is_bandit)
def unseen_losses_never_matter(trial: Trial) -> None:
    """Nor, where no missing counts are told, do their delays."""
    game = trial.a_game()
    other = trial.draw(games_like(game))
    unseen = np.arange(game.losses.shape[1]) != game.arms[:, None]
    changed = game.but(losses=np.where(unseen, other.losses, game.losses))
    if not game.tells_missing:
        changed = changed.but(delays=np.where(unseen, other.delays, game.delays))
    with_others = trial.play(changed)
    trial.demand_equal(with_others, trial.play(game), "with other losses of arms not played")


@GAME_LAWS.law("A loss that never comes is one that comes after the last round.")
def an_infinite_delay_is_one_beyond_the_end(trial: Trial) -> None:
    """Neither is known within the game."""
    game = trial.a_game()
    rounds = len(game.losses)
    late = game.but(delays=np.where(game.delays == NEVER, rounds, game.delays))
    never = game.but(delays=np.where(game.delays >= rounds, NEVER, game.delays))
    trial.demand_equal(trial.play(late), trial.play(never), "with delays beyond the end")


@GAME_LAWS.law("The horizon matters only for the state at the start.")
def the_horizon_enters_only_through_the_start(trial: Trial) -> None:
    """From one start the rounds are the same, whatever the horizon is said to be."""
    game = trial.a_game(prior=None) if has(trial.kind, "prior") else trial.a_game()
    if not has(trial.kind, "horizon"):
        shorter = trial.draw(st.integers(1, len(game.losses)), "T")
        prefix = game.but(
            losses=game.losses[:shorter], delays=game.delays[:shorter], arms=game.arms[:shorter]
        )
        whole = trial.play(game)[:shorter]
        trial.demand_equal(trial.play(prefix), whole, f"in the first {shorter} rounds alone")
        return
    horizon = game.options["horizon"]
    other = trial.draw(st.integers(max(1, horizon // 2), horizon * 2), "another horizon")
    changed = game.but(options=game.options | {"horizon": other})
    start, elsewhere = game.learner().start(), changed.learner().start()
    sizes = [[part.shape for part in leaves(each).values()] for each in (start, elsewhere)]
    if sizes[0] == sizes[1]:
        from_start = trial.play(changed, start=start)
        trial.demand_equal(from_start, trial.play(game), f"with the horizon {other}")


@GAME_LAWS.law("A single arm has all the weight.")
def one_arm_has_all_the_weight(trial: Trial) -> None:
    """K = 1: q is one, whatever is lost, late or missing."""
    q = trial.play(trial.a_game(most_arms=1))
    trial.demand_close(q, np.ones_like(q), "with one arm")


@GAME_LAWS.law(
    "Before it is told anything, a bandit without a prior weighs all arms evenly.", is_bandit
)
def a_bandit_begins_evenly(trial: Trial) -> None:
    """Arms have no order, and nothing is known."""
    fixed = {"prior": None} if has(trial.kind, "prior") else {}
    first = trial.play(trial.a_game(**fixed))[:1]
    trial.demand_close(first, np.full_like(first, 1.0 / first.size), "in the first round")


@GAME_LAWS.law("Losses that never come teach nothing.")
def feedback_that_never_comes_teaches_nothing(trial: Trial) -> None:
    """With infinite delays the losses never matter."""
    game = trial.a_game()
    silent = game.but(delays=np.full_like(game.delays, NEVER))
    others = trial.play(silent.but(losses=1.0 - silent.losses))
    trial.demand_equal(trial.play(silent), others, "with other losses that never come")


@GAME_LAWS.law("The fast loop of `compare` plays as the readable one.", is_whole)
def the_fast_loop_plays_as_the_readable_one(trial: Trial) -> None:
    """From one seed, in one game, the weights at every checkpoint are equal."""
    game = trial.a_game()
    if {Need.CONTEXT, Need.ADVICE} & set(game.kind.needs):
        return  # contexts and advice come from environments that have them
    whole = Environment(
        "a random game", GivenLosses(game.losses), GivenDelays(game.delays), len(game.losses)
    )
    same, seed = Game(whole, np.random.SeedSequence(1)), np.random.SeedSequence(3)
    sum_up(same)
    fast, slow = (play(game.learner(), same, seed) for play in (engine.play, readable.play))
    apart = float(np.abs(fast.weight_at - slow.weight_at).max(initial=0.0))
    demand(apart <= 1e-10, f"the sums of the weights differ by {apart:.3g}")
