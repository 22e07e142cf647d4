"""One game in a file: the game of any environment and seed, exported and read again.

A table (.csv, .csv.gz or .parquet) has the columns of users' own data (`environments.files`), and
the features of the contexts if there are any. A .json file also keeps the labels, the range of the
losses, the prior, the default loss and the advice of policies, so that it needs no options.
"""

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.checks import as_count, as_names, as_number, as_range, checked_advice, in_order
from belated.environments.contextual.drawn_contexts import GivenContexts
from belated.environments.environment import Block, Environment, game_seed
from belated.environments.feature_columns import checked_features
from belated.environments.in_memory import GivenAdvice, GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.table_files import READABLE, cell_of, check_parquet, kind_of, write_parquet

MOST_NUMBERS = 5 * 10**7  # losses, delays, features and probabilities of a game that is exported
FORMATS = (*READABLE, ".json")


def export_game(
    environment: Environment, path: str | Path, seed: int = 1, repetition: int = 0
) -> Path:
    """Write one game to a file: the one that `compare` plays with this seed and repetition.

    Repetitions are counted from 0. The file ends in .csv, .csv.gz, .parquet or .json. `compare` and
    `sweep` play it, and `replay` runs a learner along a .json file. An interrupted call leaves no
    incomplete file.
    """
    path = Path(path)
    check_game_file(path)
    repetition = as_count(repetition, "repetition", 0)
    blocks = environment.drawn(game_seed(as_count(seed, "seed", 0), repetition))
    _check_size(environment)
    partial = path.with_name(path.name + ".part")
    if kind_of(path) == ".json":
        made = {"scenario": environment.name, "seed": seed, "repetition": repetition}
        content = {"made": made, **_content(environment, list(blocks))}
        partial.write_text(json.dumps(content, allow_nan=False) + "\n", encoding="utf-8")
    else:
        _write_table(environment, blocks, partial, kind_of(path))
    partial.replace(path)
    return path


def check_game_file(path: Path) -> None:
    """Raise an error if no game can be written to this path, before it is drawn."""
    if kind_of(path) not in FORMATS:
        raise ValueError(f"{path.name} is of unknown kind; it must end in {', '.join(FORMATS)}")
    if kind_of(path) == ".parquet":
        check_parquet()
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be written; its folder does not exist")


def _check_size(environment: Environment) -> None:
    numbers = environment.rounds * (environment.entries + environment.arms)
    if numbers > MOST_NUMBERS:
        raise ValueError(
            f"{environment.name} has {numbers} losses, delays and features; a game with more than "
            f"{MOST_NUMBERS} cannot be exported"
        )


def _write_table(environment: Environment, blocks: Iterator[Block], path: Path, kind: str) -> None:
    """Write a game as a table with a row for each round and arm."""
    if environment.advice is not None:
        raise ValueError(f"{environment.name} has policies; a game with policies needs .json")
    names = ("round", "arm", "loss", "delay", *environment.features)
    rows = (row for block in blocks for row in _rows(environment, block))
    if kind == ".parquet":
        columns = zip(*rows, strict=True)
        write_parquet(dict(zip(names, map(list, columns), strict=True)), path)
        return
    opened: Any = gzip.open if kind.endswith(".gz") else open
    with opened(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(map(cell_of, row) for row in rows)


def _rows(environment: Environment, block: Block) -> Iterator[tuple[Any, ...]]:
    losses, delays = block.losses.tolist(), block.delays.tolist()
    contexts = [[]] * block.span.count if block.contexts is None else block.contexts.tolist()
    for t in range(block.span.count):
        for i, label in enumerate(environment.labels):
            delay = None if delays[t][i] == NEVER else delays[t][i]
            yield (block.span.first + t + 1, label, losses[t][i], delay, *contexts[t])


def _content(environment: Environment, blocks: list[Block]) -> dict[str, Any]:
    """Return a game as a JSON object."""
    content: dict[str, Any] = {
        "name": environment.name,
        "K": environment.arms,
        "T": environment.rounds,
        "labels": list(environment.labels),
        "loss_range": list(environment.loss_range),
        "losses": [row for block in blocks for row in block.losses.tolist()],
        "delays": [
            [None if delay == NEVER else delay for delay in row]
            for block in blocks
            for row in block.delays.tolist()
        ],
    }
    if environment.prior is not None:
        content["prior"] = list(environment.prior)
    if environment.default_loss is not None:
        content["default_loss"] = environment.default_loss
    if environment.contexts is not None:
        content["features"] = list(environment.features)
        content["contexts"] = [row for b in blocks for row in _listed(b.contexts)]
    if environment.advice is not None:
        content["policies"] = list(environment.policies)
        content["advice"] = [table for b in blocks for table in _listed(b.advice)]
    return content


def _listed(values: Floats | None) -> list[Any]:
    return [] if values is None else list(values.tolist())


def environment_from_game(path: str | Path) -> Environment:
    """Return the environment of a game in a .json file: an exported one, or a case of `stress`."""
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is not JSON: {error}") from None
    try:
        return environment_from_content(content, path.stem)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path.name}: {error}") from None


def environment_from_content(content: Any, name: str) -> Environment:
    """Return the environment of a game as a JSON object, which may be below the key `case`."""
    if isinstance(content, Mapping) and "case" in content:
        content = content["case"]
    if not isinstance(content, Mapping) or "losses" not in content or "delays" not in content:
        raise ValueError("a game must be a JSON object with losses and delays")
    units = as_range(content.get("loss_range", (0.0, 1.0)))
    losses = GivenLosses(_table(content["losses"], "losses"), units)
    delays = GivenDelays(np.asarray(_table(content["delays"], "delays")))
    if losses.values.shape != delays.values.shape:
        raise ValueError(
            f"losses have the shape {losses.values.shape} and delays {delays.values.shape}; they "
            "must have the same"
        )
    rounds = len(losses.values)
    default = content.get("default_loss")
    return Environment(
        str(content.get("name", name)),
        losses,
        delays,
        rounds,
        labels=tuple(content.get("labels") or ()),
        prior=content.get("prior") if "N" not in content else None,
        loss_range=(units.low, units.high),
        default_loss=None if default is None else as_number(default, "default_loss"),
        contexts=_contexts(content, rounds),
        advice=_advice(content, rounds, losses.arms),
    )


def _table(values: Any, name: str) -> Floats:
    """Return a table of numbers; null, which means never, becomes NaN."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must have a row for each round and a number for each arm"
        ) from None


def _contexts(content: Mapping[str, Any], rounds: int) -> GivenContexts | None:
    if content.get("contexts") is None:
        return None
    features = checked_features(content.get("features", ()))
    values = _table(content["contexts"], "contexts")
    if values.shape != (rounds, len(features)):
        raise ValueError(
            f"contexts have the shape {values.shape}; they must have a number for each round and "
            f"feature, {(rounds, len(features))}"
        )
    return GivenContexts(values, tuple(features))


def _advice(content: Mapping[str, Any], rounds: int, arms: int) -> GivenAdvice | None:
    if content.get("advice") is None:
        return None
    tables = in_order(content["advice"])
    if tables is None or len(tables) != rounds:
        raise ValueError(f"advice must have a table for each of {rounds} rounds")
    count = len(tables[0]) if isinstance(tables[0], list) else 0
    policies = as_names(content.get("policies", count), "policies")
    values = np.array([checked_advice(table, policies, arms) for table in tables])
    return GivenAdvice(values, tuple(map(str, policies)))
