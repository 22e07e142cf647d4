"""A hard game that a search has found: its value, and a file from which it can be replayed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from belated.analysis.game_sums import sum_up
from belated.analysis.statistics import estimate
from belated.comparison.contenders import Contender
from belated.environments.missing import NEVER
from belated.learners.driver import PlayableLearner
from belated.replay.case import SETTINGS, parse_case
from belated.replay.game_replay import drawn_by, predictions_along, replay_game
from belated.replay.replay import learner_for, replay
from belated.stress.mutations import Script
from belated.stress.objectives import Draws, Objective, Score, ScriptedGame
from belated.types import Setting

NAMES = {setting: name for name, setting in SETTINGS.items()}


class ReplayableRun(NamedTuple):
    """A run as a case for `belated replay`; `exact` says if the replay gives the same weights."""

    learner: str
    case: dict[str, Any]
    regret: float
    exact: bool


@dataclass(frozen=True)
class HardGame:
    """The hardest game of one restart.

    `search_value` is its value on the draws that the search used. For a learner that draws arms it
    is too high, since the game was selected on the same draws. `ranking` is its value on other
    draws, by which games are sorted, and `score` its value on the draws `fresh`, which are used for
    no selection.
    """

    restart: int
    evaluations: int
    objective: Objective
    script: Script
    search_value: float
    ranking: float
    score: Score
    fresh: Draws

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95 % confidence interval of the value; None if nothing is drawn."""
        if self.score.values.size < 2:
            return None
        return float(estimate(self.score.values).half_width)

    def summary(self) -> dict[str, Any]:
        """Return the numbers of this game as a row of a table."""
        margin, rivals = self.half_width, self.score.rivals_regrets
        return {
            "restart": self.restart,
            "value": self.score.value,
            "±": None if margin is None else float(f"{margin:.1g}"),
            "in search": self.search_value,
            "regret": float(self.score.regrets.mean()),
            **({} if rivals is None else {"rival's regret": float(rivals.mean())}),
            "bound": self.score.bound,
            "max missing": int(ScriptedGame(self.script).stretch.missing.max()),
            "never": round(float((self.script.delays == NEVER).mean()), 3),
        }

    def content(self) -> dict[str, Any]:
        """Return the game as a JSON object: a case for `belated replay`, and how it was found.

        The case is the run of the learner on the fresh draw with the largest value. It names the
        learner unless it is one of the paper's, which the setting says. If the first learner is
        one of the user's own, the case is the run of the other if that can be replayed.
        """
        runs = [self._run(each) for each in self.objective.contenders]
        run = next((each for each in runs if each.exact), runs[0])
        contenders = {"learner": self.objective.contenders[0].label}
        if len(self.objective.contenders) > 1:
            contenders["against"] = self.objective.contenders[1].label
        numbers = self.summary() | {"half width": self.half_width}
        del numbers["±"]
        found = {
            **contenders,
            "objective": self.objective.name,
            **{name.replace("'", "").replace(" ", "_"): each for name, each in numbers.items()},
            "fresh_draws": int(self.score.values.size),
            "evaluations": self.evaluations,
            "run": {
                "learner": run.learner,
                "regret": run.regret,
                "against_arm": self.score.arm,
                "replays_exactly": run.exact,
            },
        }
        return {"case": run.case, "found": found}

    def _run(self, contender: Contender) -> ReplayableRun:
        game = ScriptedGame(self.script)
        learner = contender.built(sum_up(game))
        worst = self.fresh[int(self.score.values.argmax())]
        q, arms = predictions_along(learner, game, drawn_by(worst))
        case = case_of(learner, game, arms)
        losses = self.script.losses
        regret = float((q * losses).sum() - losses[:, self.score.arm].sum())
        read = parse_case(case)
        exact = np.array_equal(replay(read, learner_for(read)).q, q)
        if not exact and contender.text is not None:  # it is no learner of the paper
            case["learner"] = contender.text
            exact = np.array_equal(replay_game(case, contender.text).q, q)
        return ReplayableRun(contender.label, case, regret, exact)

    def save(self, path: Path) -> Path:
        """Write the game as JSON."""
        path.write_text(json.dumps(self.content(), allow_nan=False) + "\n", encoding="utf-8")
        return path


def case_of(learner: PlayableLearner, game: ScriptedGame, arms: list[int]) -> dict[str, Any]:
    """Make a case of a game for the learner's setting, with the options that a case can hold."""
    stretch = game.stretch
    options: Mapping[str, Any] = {
        name: getattr(learner, name, None) for name in ("prior", "max_missing", "gamma_weight")
    }
    case: dict[str, Any] = {
        "setting": NAMES[learner.setting],
        "K": stretch.losses.shape[1],
        "T": stretch.rounds,
        "variant": getattr(learner, "variant", "paper"),
        "losses": stretch.losses.tolist(),
        "delays": [[None if d == NEVER else d for d in row] for row in stretch.delays.tolist()],
    }
    if options["prior"] is not None:
        case["prior"] = list(options["prior"])
    if learner.setting is not Setting.FULL_INFORMATION:
        most = options["max_missing"]
        if getattr(learner, "gamma_bound", None) == "waiting":
            most = None
        elif most is None:
            most = int(stretch.missing.max())
        case |= {"arms": arms, "rho_star": most}
    if options["gamma_weight"] is not None:
        case["options"] = {"gamma_weight": options["gamma_weight"]}
        if getattr(learner, "skipping", False):
            case["options"]["skipping"] = True
    return case
