"""Faults in the practical bandit: its account, its memories, its law of silence, its estimates."""

from tests.mutants.fault import Fault

LEARNER = "learners/practical/practical_bandit.py"
TRUST = "learners/practical/certified_trust.py"
MEMORY = "learners/practical/memories.py"
SILENCE = "learners/practical/silence.py"
FOLLOWING = "learners/following.py"
TESTS = "learners/practical/test_practical_bandit.py::"
FALLBACK = f"{TESTS}test_the_fallback_plays_where_the_budget_is_small"
CHANGED = f"{TESTS}test_the_short_memory_is_used_when_arms_have_changed"
DECLARED = f"{TESTS}test_every_option_means_the_same_in_both_layers"
NARROW = f"{TESTS}test_every_round_is_that_of_the_text"
ONE_KIND = f"{TESTS}test_news_of_one_kind_only"
OTHER_ARMS = "learners/practical/test_practical_silence.py"
OWN_Q = "learners/practical/test_practical_trust.py"

LOOK = "count_look(silence.law, passed, other, fate, 1.0 - loss)"

PRACTICAL_FAULTS = [
    Fault(f"practical bandit: {name}", file, right, wrong, noticed_by)
    for name, file, right, wrong, noticed_by in (
        (
            "plays that were not told are not counted",
            TRUST,
            "account.told[0] + account.outstanding[0] - account.estimates[arm]",
            "account.told[0] - account.estimates[arm]",
            FALLBACK,
        ),
        (
            "losses of trusted plays divided by q of the arrival",
            LEARNER,
            "        tell_trusted(state.account, arm, loss, play[DIVISOR])\n",
            "        now = np.zeros(state.outstanding.shape[0])\n"
            "        fill_unlikeliness(state.estimates, now)\n"
            "        scale = narrowness(state.variance) * state.options.spread[0] ** 2\n"
            "        weigh_exponentially(now, 1.0 / scale, now)\n"
            "        tell_trusted(state.account, arm, loss, now[arm])\n",
            FALLBACK,
        ),
        (
            "no exploration on demand",
            LEARNER,
            "        explore_on_demand(state.account, budget, exploration, round_, prediction.q)\n",
            "",
            DECLARED,
        ),
        (
            "every play is booked as trusted",
            LEARNER,
            "    trusted = info.branch[TAKEN] == TRUSTED\n",
            "    trusted = True\n",
            OWN_Q,
        ),
        (
            "a withdrawn play leaves the account",
            LEARNER,
            "        withdraw_from_fallback(state.fallback, play, arm)\n",
            "        withdraw_from_fallback(state.fallback, play, arm)\n"
            "    else:\n"
            "        state.account.outstanding[0] -= 1\n",
            OWN_Q,
        ),
        (
            "the fallback learns from trusted rounds",
            LEARNER,
            "        tell_trusted(state.account, arm, loss, play[DIVISOR])\n",
            "        tell_trusted(state.account, arm, loss, play[DIVISOR])\n"
            "        state.fallback.losses[arm] += loss / play[DIVISOR]\n",
            FALLBACK,
        ),
        (
            "forecasts of the arrival instead of the play",
            LEARNER,
            "play[LONG_FORECAST], play[SHORT_FORECAST], play[EVIDENCE])",
            "*((state.estimates.pooled[k] + remembered(state, k, arm)[0])"
            " / (1.0 + remembered(state, k, arm)[1]) for k in range(2)), play[EVIDENCE])",
            CHANGED,
        ),
        (
            "gains are not clipped at zero",
            MEMORY,
            "max(0.0, memories.gain[0] + memories.new_gain[0])",
            "memories.gain[0] + memories.new_gain[0]",
            CHANGED,
        ),
        (
            "evidence without outstanding plays",
            LEARNER,
            "    plays[0, EVIDENCE] = told / (told + state.outstanding[arm])\n",
            "    plays[0, EVIDENCE] = 1.0\n",
            CHANGED,
        ),
        (
            "the short memory is as short with many arms",
            MEMORY,
            "    memories.fresh[SHORT] *= 1.0 + 1.0 / (LENGTH * memories.sums.shape[1])\n",
            "    memories.fresh[SHORT] *= 1.0 + 1.0 / LENGTH\n",
            CHANGED,
        ),
        (
            "the law of silence is counted in the bin before",
            SILENCE,
            LOOK,
            LOOK.replace("passed, other", "max(0, passed - 1), other"),
            DECLARED,
        ),
        (
            "the law of silence takes losses for rewards",
            SILENCE,
            LOOK,
            LOOK.replace("1.0 - loss", "loss"),
            DECLARED,
        ),
        (
            "a withdrawn play counts as told",
            SILENCE,
            "= bin_ if told else ENDED",
            "= bin_",
            DECLARED,
        ),
        (
            "silence of the wrong kind",
            SILENCE,
            "bin_ - 1, arm, 1.0 - mean)",
            "bin_ - 1, arm, mean)",
            DECLARED,
        ),
        (
            "silence after the bin in which the play is",
            SILENCE,
            "said_by_silence(silence.law, law_of, bin_ - 1, arm",
            "said_by_silence(silence.law, law_of, min(bin_, LAST - 1), arm",
            DECLARED,
        ),
        (
            "news of one kind means this kind",
            SILENCE,
            "        if zeros == 0.0:\n",
            "        if ones == 0.0:\n",
            ONE_KIND,
        ),
        (
            "silence says nothing once both kinds are reported",
            SILENCE,
            "            silence.meaning[0] = BY_OUTCOME\n",
            "            silence.meaning[0] = NO_MEANING\n",
            ONE_KIND,
        ),
        (
            "narrow losses are taken for coins",
            LEARNER,
            "    return float(min(1.0, max(NARROWEST, ratio)))\n",
            "    return 1.0\n",
            NARROW,
        ),
        (
            "followed plays keep the places of their arms",
            FOLLOWING,
            "[places.get(int(arm), 0) for arm in arms]",
            "[int(arm) for arm in arms]",
            OTHER_ARMS,
        ),
        (
            "a new arm owes nothing",
            TRUST,
            "min(paid, float(others.min())) if kept > 0 else paid",
            "paid",
            OTHER_ARMS,
        ),
    )
]
