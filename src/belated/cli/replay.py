"""belated replay: the predictions of a learner along a case or a log."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from belated.cli.console import one_line_errors, progress_bar, show_table
from belated.cli.feature_options import feature_option, features_in
from belated.table_files import READABLE, kind_of

if TYPE_CHECKING:
    from belated.learners.contract import Learner
    from belated.replay.case import Case
    from belated.replay.log_replay import LogPredictions
    from belated.replay.logs import Log
    from belated.replay.replay import Replay


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--learner",
    help="For a log or a game: the learner, as exp3 or 'practical-bandit:certified=0'.",
)
@click.option("--arms", help="For a log: all arms, as red,green.  [default: those in the log]")
@click.option(
    "--horizon", type=int, help="For a log: the horizon.  [default: its number of rounds]"
)
@click.option(
    "--max-missing", type=int, help="For a log: max_missing.  [default: the largest in the log]"
)
@click.option(
    "--variant",
    type=click.Choice(["paper", "repaired"]),
    help="For a log: the variant of a paper's learner.  [default: paper]",
)
@feature_option()
@click.option("--json", "as_json", is_flag=True, help="For a log: JSON instead of a table.")
@click.option(
    "--decompose",
    is_flag=True,
    help="For a case: add the parts of the regret (cheating regret, drift, corrections).",
)
def replay(
    files: Sequence[Path],
    learner: str | None,
    arms: str | None,
    horizon: int | None,
    max_missing: int | None,
    variant: str | None,
    features: Sequence[str],
    as_json: bool,
    decompose: bool,
) -> None:
    """Run a learner along the games or logs in FILES, and print its weights.

    A .json file is a game: all losses and delays, and perhaps the arms that were played. The answer
    is one line of JSON with the weights q of the learner that --learner or the file names, and with
    the rates of one of the paper's learners.

    A .csv or .parquet file is a log: the columns round, arm, probability, loss and arrival. It also
    needs missing if the learner is partially concealed, and context and probabilities if it takes
    contexts. --learner names the learner. docs/command-line.md describes both formats.
    """
    with one_line_errors():
        declared = features_in(features)
    options = {
        "horizon": horizon, "max_missing": max_missing, "variant": variant, "features": declared,
    }  # fmt: skip
    asked = {"learner": learner, "arms": arms, **options}
    given = [name for name, value in asked.items() if value is not None]
    for path in files:
        if kind_of(path) not in READABLE:
            with one_line_errors(path):
                unfit = [name for name in given if name != "learner"]
                if unfit:
                    option = unfit[0].replace("_", "-")
                    raise ValueError(
                        f"--{option} is for logs (.csv, .parquet); a case says it itself"
                    )
                line = replayed_case(path, learner, decompose)
            click.echo(line)
            continue
        with one_line_errors(path):
            if decompose:
                raise ValueError("--decompose is for cases (.json); a log has only what was played")
            names = [name.strip() for name in arms.split(",")] if arms else []
            log, found = replayed_log(path, learner, options, names)
        if as_json:
            click.echo(json.dumps({"arms": log.arms, "q": found.weights.tolist(), **trusts(found)}))
        else:
            show_log(log, found)


def replayed_case(path: Path, named: str | None, decompose: bool) -> str:
    """Replay a case or a game and return its predictions as a line of JSON."""
    from belated.replay.case import case_content, parse_case
    from belated.replay.replay import learner_for, replay
    from belated.replay.trust_case import SETTING as TRUST_SETTING
    from belated.types import Setting

    content = case_content(path)
    if isinstance(content, dict) and content.get("setting") == TRUST_SETTING:
        return replayed_trust(path.name, content, decompose)
    if isinstance(content, dict):
        named = named or content.get("learner")
        if named is None and "setting" not in content:
            raise ValueError(
                "there is no setting, which a case has, and no learner; add --learner NAME"
            )
        if named is not None:
            return replayed_game(path.name, content, str(named), decompose)
    case = parse_case(content)
    learner = learner_for(case)
    with progress_bar(f"Replaying {path.name}", len(case.losses)) as advance:
        run = replay(case, learner, advance)
    predictions = run.predictions
    answer: dict[str, Any] = {"q": [prediction.q.tolist() for prediction in predictions]}
    if case.advice is not None:
        answer = policies_and_arms(case, predictions)
    elif case.setting is Setting.FULL_INFORMATION:
        answer |= {"eta": [p.eta.tolist() for p in predictions], "gamma": None}
    elif case.setting is Setting.PARTIALLY_CONCEALED:
        answer |= {"eta": [float(p.eta[0]) for p in predictions]}
        answer |= {"gamma": predictions[0].gamma.tolist()}
    else:
        answer |= {"eta": [float(p.eta[0]) for p in predictions]}
        answer |= {"gamma": [float(p.gamma[0]) for p in predictions]}
        if case.options["max_missing"] is None:
            answer |= unpromised(run, len(case.losses[0]))
    if decompose:
        if case.advice is not None:
            raise ValueError("--decompose is for the paper's learners; this case has policies")
        answer["decomposition"] = decomposition(case)
    say_ignored(path.name, case.ignored)
    return json.dumps(without_infinities(answer), allow_nan=False)


def replayed_game(file: str, content: dict[str, Any], learner: str, decompose: bool) -> str:
    """Return the weights of a learner along a game as a line of JSON, and the arms played."""
    from belated.replay.game_replay import replay_game

    if decompose:
        raise ValueError("--decompose is for cases of the paper's learners; leave out the learner")
    with progress_bar(f"Replaying {file}", len(content.get("losses", []))) as advance:
        found = replay_game(content, learner, advance)
    answer: dict[str, Any] = {"learner": found.learner, "q": found.q.tolist()}
    if found.arms:
        answer["arms"] = found.arms
    return json.dumps(without_infinities(answer), allow_nan=False)


def say_ignored(file: str, keys: Sequence[str]) -> None:
    """Note on standard error which keys of a case have no meaning in its setting."""
    for key in keys:
        click.echo(f"Note: {file}: the key {key!r} is ignored in this setting", err=True)


def replayed_trust(file: str, content: dict[str, Any], decompose: bool) -> str:
    """Return the account of certified trust along a case as a line of JSON: C, b and trusted."""
    from belated.replay.trust_case import parse_trust_case, trust_along

    if decompose:
        raise ValueError("--decompose is for the paper's learners; this case has none")
    case = parse_trust_case(content)
    with progress_bar(f"Replaying {file}", len(case.arms)) as advance:
        rounds = trust_along(case, advance)
    say_ignored(file, case.ignored)
    regrets, budgets, trusted = zip(*rounds, strict=True)
    return json.dumps({"C": regrets, "b": budgets, "trusted": trusted})


def unpromised(run: "Replay", arms: int) -> dict[str, Any]:
    """Return what a concealed learner without a promise adds: gamma, W, and if it skips, Z.

    An infinite gamma is null, and with a single arm, which needs no entropy, gamma is 0. The rounds
    of the plays that are skipped at the start of each round are counted from 0.
    """
    infos = [prediction.info for prediction in run.predictions]
    rates = [0.0 if arms == 1 else float(each.gamma[0]) for each in run.predictions]
    answer: dict[str, Any] = {
        "gamma": [None if math.isinf(rate) else rate for rate in rates],
        "W": [float(info.most_waiting[0]) for info in infos],
    }
    if run.skipped:
        answer["skipped"] = [[round_ - 1 for round_ in rounds] for rounds in run.skipped]
        answer["Z"] = [0.0, *(float(info.overlap[0]) for info in infos[:-1])]
    return answer


def policies_and_arms(case: "Case", predictions: Sequence[Any]) -> dict[str, Any]:
    """Return the weights of policies and arms in every round, and what they rest on."""
    from belated.types import Setting

    answer = {
        "p": [each.info.weights.tolist() for each in predictions],
        "q": [each.q.tolist() for each in predictions],
    }
    if case.setting is Setting.FULL_INFORMATION:
        answer |= {"rho": [each.info.missing.tolist() for each in predictions]}
        return answer | {"eta": [each.eta.tolist() for each in predictions]}
    answer |= {"gamma": [float(each.gamma[0]) for each in predictions]}
    return answer | {"w": [each.info.waiting.tolist() for each in predictions]}


def decomposition(case: "Case") -> dict[str, Any]:
    """Return the terms of eq:decomp against the best arm, at the best rate for it."""
    from dataclasses import asdict

    from belated.replay.decomposition import decompose_case

    course = decompose_case(case)
    arm = int(course.u.sum(axis=1).argmax())
    return {"arm": arm, "rate": course.rate, **asdict(course.after(len(case.losses)))}


def without_infinities(value: Any) -> Any:
    """Replace infinite numbers by text, since JSON has no infinities."""
    if isinstance(value, dict):
        return {key: without_infinities(part) for key, part in value.items()}
    if isinstance(value, list):
        return [without_infinities(part) for part in value]
    return "inf" if isinstance(value, float) and math.isinf(value) else value


def replayed_log(
    path: Path, learner: str | None, options: dict[str, Any], arms: Sequence[str]
) -> "tuple[Log, LogPredictions]":
    """Read a log; returns it and what a learner would have predicted along it."""
    from belated.learners.registry import check_options, registered
    from belated.replay.log_replay import replay_log
    from belated.replay.logs import read_log
    from belated.specs import listed, named_options

    if learner is None:
        raise ValueError(
            "a log is replayed with a learner; add --learner NAME (`belated learners` lists them)"
        )
    kinds = registered()
    name, own = named_options(learner)
    if name not in kinds:
        raise ValueError(f"--learner is {name!r}; it must be one of {listed(kinds, name)}")
    check_options(kinds[name], own)
    log = read_log(path, kinds[name].setting, arms)
    player = learner_for_log(kinds[name], log, {**options, **own})
    with progress_bar(f"Replaying {path.name}", len(log.rounds)) as advance:
        return log, replay_log(log, player, advance)


def learner_for_log(kind: "type[Learner]", log: "Log", options: dict[str, Any]) -> "Learner":
    """Make a learner with the given options; what else it needs is taken from the log."""
    from belated.learners.needs import needed_options
    from belated.learners.registry import option_names
    from belated.types import Need

    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in option_names(kind):
            raise ValueError(f"--{name.replace('_', '-')} is given, but {kind.name} takes none")

    def fact(need: Need) -> int:
        if need is Need.HORIZON:
            return len(log.rounds)
        if need is Need.MAX_MISSING:
            return max(log.most_outstanding(), log.most_missing(), 0)
        raise ValueError(
            f"{kind.name} must know {need.value}, which a log does not say; give it, "
            f"as --learner {kind.name}:{need.value}=..."
        )

    return kind(arms=len(log.first), **needed_options(kind, fact, given), **given)


def trusts(found: "LogPredictions") -> dict[str, Any]:
    """Return the account of a certified learner in every round: C by arm, b and trusted."""
    if not found.trust:
        return {}
    return {
        "C": [each.regrets.tolist() for each in found.trust],
        "b": [each.budget for each in found.trust],
        "trusted": [each.trusted for each in found.trust],
    }


def show_log(log: "Log", found: "LogPredictions") -> None:
    """Print about twenty rounds of a replayed log, evenly spaced, including the last."""
    weights, trust = found.weights, found.trust
    step = max(1, len(log.rounds) // 20)
    chosen = sorted({*range(0, len(log.rounds), step), len(log.rounds) - 1})
    bandit = all(len(rows) == 1 for rows in log.rounds)
    columns = ["round", "favourite", "its weight"]
    if bandit:
        columns += ["arm in the log", "its probability", "its weight"]
    if trust:
        columns += ["largest C", "b", "trusted"]
    rows = []
    for t in chosen:
        best, played = int(weights[t].argmax()), log.rounds[t][0]
        row = [str(t + 1), log.arms[best], f"{weights[t, best]:.3f}"]
        if bandit:
            row += [log.arms[played.arm], f"{played.probability:.3f}"]
            row += [f"{weights[t, played.arm]:.3f}"]
        if trust:
            row += [f"{trust[t].largest:.1f}", f"{trust[t].budget:.1f}"]
            row += ["yes" if trust[t].trusted else "no"]
        rows.append(row)
    show_table(columns, rows)
    if len(chosen) < len(log.rounds):
        click.echo(f"{len(chosen)} of {len(log.rounds)} rounds; all of them with --json.")
    if trust:
        share = 100.0 * sum(each.trusted for each in trust) / len(trust)
        click.echo(f"{share:.4g} % of all rounds are trusted: no C is above b (Theorem 4).")
