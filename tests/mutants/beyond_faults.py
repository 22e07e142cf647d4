"""Faults in what goes beyond the paper: certified trust, ranges of losses, bounds by policies."""

from tests.mutants.fault import Fault

TRUST = "learners/practical/certified_trust.py"
TRUST_CASES = "replay/test_trust_cases.py"
SHOWN = "analysis/test_trust.py"
CERTIFIED = [
    Fault(f"certified trust: {name}", file, right, wrong, noticed_by)
    for name, file, right, wrong, noticed_by in (
        (
            "plays that were not told are not counted",
            TRUST,
            "account.told[0] + account.outstanding[0] - account.estimates[arm]",
            "account.told[0] - account.estimates[arm]",
            TRUST_CASES,
        ),
        (
            "q of the arrival instead of the play",
            "replay/trust_case.py",
            "float(case.q[s, played]))",
            "float(case.q[t, played]) or 1.0)",
            TRUST_CASES,
        ),
        (
            "a play counts as outstanding from the moment it is made",
            TRUST,
            "    if trusted:\n        account.outstanding[0] += 1\n",
            "    if trusted:\n        account.outstanding[0] += 1\n"
            "        account.most_outstanding[0] = most_outstanding_now(account)\n",
            TRUST_CASES,
        ),
        (
            "n_t is what is outstanding now",
            TRUST,
            "int(max(account.most_outstanding[0], account.outstanding[0]))",
            "int(account.outstanding[0])",
            TRUST_CASES,
        ),
        (
            "rounds without trust count, too",
            TRUST,
            "    if trusted:\n",
            "    if True:\n",
            TRUST_CASES,
        ),
        (
            "the budget of the round before",
            TRUST,
            "beta * math.sqrt(arms * round_)",
            "beta * math.sqrt(arms * (round_ - 1))",
            TRUST_CASES,
        ),
        (
            "only the first arm is looked at",
            TRUST,
            "        largest = max(largest, estimated_regret(account, u))\n",
            "        largest = max(largest, estimated_regret(account, 0))\n",
            TRUST_CASES,
        ),
        (
            "a single arm may lose trust by rounding",
            TRUST,
            "account.estimates.shape[0] == 1 or ",
            "",
            TRUST_CASES,
        ),
        (
            "the floor is not divided by the squared distance",
            TRUST,
            "else wanted / square",
            "else wanted / abs(gap)",
            "learners/practical/test_certified_trust.py",
        ),
        (
            "what is shown as the coming round's budget is the last one's",
            "learners/practical/trust_standing.py",
            "trust_budget(account, beta, rounds + 1)",
            "trust_budget(account, beta, rounds)",
            SHOWN,
        ),
        (
            "every round counts as trusted",
            "learners/practical/trust_standing.py",
            "by_fallback=int(fallback.round[0]) - 1",
            "by_fallback=0",
            SHOWN,
        ),
        (
            "the bound leaves out the rounds of the fallback",
            "analysis/theorems.py",
            "1.0 + budget + 8.0 * math.sqrt(arms) * root_by_fallback + delay",
            "1.0 + budget + delay",
            SHOWN,
        ),
        (
            "a run that contradicts the theorem is not reported",
            "learners/contract.py",
            "return self.largest <= self.last_budget + 1.0",
            "return self.largest <= self.last_budget + 2.0",
            SHOWN,
        ),
    )
]
SIGNED = "learners/experts/test_reference_experts.py"
RANGES = "comparison/test_loss_ranges.py"
IN_UNITS = [
    Fault(
        "missing losses count as the least, not as the middle (Proposition 8')",
        "learners/experts/centred_hedge.py",
        "loss - MIDDLE, missing)",
        "loss, missing)",
        SIGNED,
    ),
    Fault(
        "the rate of losses in [0, 1] for losses in [-1, 1] (Proposition 8')",
        "learners/experts/centred_hedge.py",
        "eta = 2.0 * math.sqrt(",
        "eta = math.sqrt(",
        SIGNED,
    ),
    Fault(
        "a range without its lower end (Proposition 8)",
        "checks.py",
        "return self.low * count + self.width * units",
        "return self.width * units",
        RANGES,
    ),
    Fault(
        "bounds of losses in [0, 1] for every range (Proposition 8)",
        "comparison/result.py",
        "return mean_bound(bounds).in_units(self.units.width)",
        "return mean_bound(bounds)",
        RANGES,
    ),
]
POLICY_BOUNDS = "analysis/test_policy_bounds.py"
BY_POLICIES = [
    Fault(
        "Theorem 6 in numbers: the last play is not counted",
        "learners/advice/advice_bandit.py",
        "    info.all_spent[0] = state.spent[0]\n",
        "    info.all_spent[0] = info.spent[0]\n",
        POLICY_BOUNDS,
    ),
    Fault(
        "Theorem 5 in numbers: charges divided by another rate",
        "analysis/policy_bounds.py",
        "run.weighed[:, slowest] / run.eta[slowest]",
        "run.weighed[:, slowest] / run.eta.mean()",
        POLICY_BOUNDS,
    ),
    Fault(
        "bounds over policies: the worst policy instead of the best",
        "analysis/policy_bounds.py",
        "(policy_losses + terms).min()",
        "(policy_losses + terms).max()",
        POLICY_BOUNDS,
    ),
]
BRANCHES = [
    Fault(
        f"branches: {name}",
        file,
        right,
        wrong,
        "learners/practical/test_branches.py",
    )
    for name, file, right, wrong in (
        (
            "a round is booked by the state that it is folded into",
            "learners/branches.py",
            "own if branch[ASKED] == ANY else branch[ASKED]",
            "own",
        ),
        (
            "a branch is asked for in all later rounds, too",
            "learners/driver.py",
            "        self._ask_for(ANY)\n",
            "        self._stands = False\n",
        ),
        (
            "the prediction of another branch is played",
            "learners/driver.py",
            "            self._ask_for(branch)\n            weights = self.weights()\n",
            "            self._prediction.info.branch[TAKEN] = branch\n",
        ),
    )
]
BEYOND_FAULTS = CERTIFIED + IN_UNITS + BY_POLICIES + BRANCHES
