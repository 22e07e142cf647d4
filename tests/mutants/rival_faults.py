"""Faults in cited learners, each noticed by the twin of its learner."""

from tests.mutants.fault import Fault

EXPERTS = "learners/experts/test_cited_experts.py"
BANKER = "learners/tsallis/test_banker_tinf.py"
STOCHASTIC = "learners/stochastic/test_stochastic.py"
CLASS = "learners/advice/test_policy_class.py"


def fault(name: str, file: str, right: str, wrong: str, noticed_by: str = EXPERTS) -> Fault:
    """A fault in a file of the learners."""
    return Fault(name, f"learners/{file}", right, wrong, noticed_by)


RIVAL_FAULTS = [
    fault(
        "prod: 1 - eta l is not a logarithm",
        "experts/prod.py",
        "-= math.log(1.0 - state.rate[0] * loss) / state.rate[0]",
        "+= loss",
    ),
    fault(
        "multi-scale: one entropy for all ranges",
        "experts/multi_scale.py",
        "(eta * losses[i] + x) / ranges[i])",
        "eta * losses[i] / ranges[i] - x)",
    ),
    fault(
        "fpl: the rate of the round before",
        "experts/fpl.py",
        "(2.0 * state.round[0])",
        "(2.0 * max(1, state.round[0] - 1))",
    ),
    fault(
        "fpl: an arm leads also if another is ahead",
        "adversarial/perturbed_leader.py",
        "        left = integrate(scaled, arms, 1.0, low, high, count, sums)\n",
        "        left = integrate(scaled, arms - 1, 1.0, low, high, count, sums)\n",
    ),
    fault(
        "dropout: losses are kept, not dropped",
        "experts/dropout.py",
        "thin=np.full(1, 1.0 - self.alpha)",
        "thin=np.full(1, self.alpha)",
    ),
    fault(
        "dropout: ties count in full for everyone",
        "experts/dropout.py",
        "        x, before = state.nodes[n], 1.0\n",
        "        x, before = 1.0, 1.0\n",
    ),
    fault(
        "dropout: a coin counts twice",
        "experts/dropout.py",
        "    chances[0] *= 1.0 - heads\n",
        "",
    ),
    fault(
        "ada-delay: the delay does not matter",
        "experts/ada_delay.py",
        "math.sqrt(now + delay)",
        "math.sqrt(now)",
    ),
    fault(
        "adaptive-revision: nothing is revised",
        "experts/adaptive_revision.py",
        "(before - step) * since - step * loss",
        "-step * loss",
    ),
    fault(
        "adaptive-revision: gradients since the first round",
        "experts/adaptive_revision.py",
        "since = state.losses[arm] - play[BEFORE]",
        "since = state.losses[arm]",
    ),
    fault(
        "overlaps: gradients on their way together cost nothing",
        "experts/overlaps.py",
        "    overlapping = frozen + account.common[0]\n",
        "    overlapping = 0.0\n",
    ),
    fault(
        "overlaps: the rate may rise again",
        "experts/overlaps.py",
        "return float(max(account.most[0], account.total[0] + coming))",
        "return float(account.total[0] + coming)",
    ),
    fault(
        "overlaps: a round overlaps with itself",
        "experts/overlaps.py",
        "account.outstanding[0] - account.common[0]\n",
        "(1 + account.outstanding[0]) - account.common[0]\n",
    ),
    fault(
        "delay-tolerant: the rate of losses that are all known",
        "experts/delay_tolerant_hedge.py",
        "(2.0 * cost)",
        "cost",
    ),
    fault(
        "dual averaging: half of the square is forgotten",
        "experts/delayed_dual_averaging.py",
        "share=0.5,",
        "share=1.0,",
    ),
    fault(
        "banker: the newest savings are spent first",
        "tsallis/banker_tinf.py",
        "investments.round[savings[place - 1]] > investments.round[slot]",
        "investments.round[savings[place - 1]] < investments.round[slot]",
        BANKER,
    ),
    fault(
        "banker: plays under way do not matter",
        "tsallis/banker_tinf.py",
        "        inverse += waiting * math.sqrt(math.log(total + 1.0) / total)\n",
        "        inverse += 0.0\n",
        BANKER,
    ),
    fault(
        "banker: the step of the arrival round",
        "tsallis/banker_tinf.py",
        "-= estimate / investments.sigma[slot]",
        "-= estimate / investment_now(state)",
        BANKER,
    ),
    fault(
        "banker: the bank's own point is left out",
        "tsallis/banker_tinf.py",
        "    even = left / sigma * math.sqrt(arms)\n",
        "    even = 0.0\n    sigma = max(sigma - left, 1e-9)\n",
        BANKER,
    ),
    fault(
        "adaptive patience: 24 for 2^4",
        "stochastic/adaptive_patient_bandits.py",
        "math.log(16.0 * ",
        "math.log(24.0 * ",
        STOCHASTIC,
    ),
    fault(
        "adaptive patience: plays that are too young count",
        "stochastic/adaptive_patient_bandits.py",
        "range(state.round[0] - 1 - delay)",
        "range(state.round[0] - 1)",
        STOCHASTIC,
    ),
    fault(
        "iloveto: a policy that seems bad is explored like the others",
        "advice/low_variance.py",
        "work.means[n] - most - allowances[n] if",
        "work.means[n] - most if",
        CLASS,
    ),
    fault(
        "iloveto: steps without the floor",
        "advice/low_variance.py",
        "(2.0 * (1.0 - arms * floor) * work.squares[n])",
        "(2.0 * work.squares[n])",
        CLASS,
    ),
    fault(
        "policy elimination: policies are dropped too soon",
        "advice/policy_elimination.py",
        "info.regrets[n] > 2.0 * width",
        "info.regrets[n] > width",
        CLASS,
    ),
    fault(
        "gp-bucb: pending plays do not narrow the deviation",
        "stochastic/gp_bucb.py",
        "(state.observed[i] + state.pending[i])",
        "state.observed[i]",
        "learners/stochastic/test_gp_bucb.py",
    ),
]
