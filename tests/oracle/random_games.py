"""Random replay cases for all settings beyond the paper, for comparisons with `answer`."""

import random
from typing import Any

SETTINGS = ("advice-full", "advice-concealed", "concealed", "skipping", "certified-trust")
LONG = 6  # most delays are shorter
GRAIN = 16  # probabilities are multiples of its inverse


def random_case(setting: str, seed: int, **sizes: int) -> dict[str, Any]:
    """A case of one of `SETTINGS` in the replay format; `sizes` fixes K, T or N.

    "skipping" is the setting concealed with that option. Some arms are advised by nobody, some
    losses never come, and delays depend on the arm in half of the games.
    """
    draw = random.Random(f"{setting} {seed}")
    K, T = sizes.get("K", draw.randint(2, 4)), sizes.get("T", draw.randint(3, 12))
    case: dict[str, Any] = {"setting": setting, "K": K, "T": T}
    case |= {"losses": losses(draw, K, T), "delays": delays(draw, K, T)}
    if setting.startswith("advice"):
        case |= advice(draw, sizes.get("N", draw.randint(2, 4)), K, T)
    if setting in ("concealed", "skipping"):
        case |= {"setting": "concealed", "variant": "repaired", "rho_star": None}
    if setting == "skipping":
        case["options"] = {"skipping": True}
    if setting == "certified-trust":
        case |= {"beta": draw.uniform(0, 1), "q": [distribution(draw, K) for _ in range(T)]}
    if setting != "advice-full":
        case["arms"] = [draw.choice(playable(case, t)) for t in range(T)]
    return case


def losses(draw: random.Random, K: int, T: int) -> list[list[float]]:
    """Zeros and ones, or decimals."""
    binary = draw.random() < 0.5
    return [
        [float(draw.randint(0, 1)) if binary else round(draw.random(), 2) for _ in range(K)]
        for _ in range(T)
    ]


def delays(draw: random.Random, K: int, T: int) -> list[list[int | None]]:
    """Short, long or infinite, with a chance of infinity that is the game's own."""
    never, by_arm, rows = draw.choice([0.0, 0.1, 0.4]), draw.random() < 0.5, []
    for _ in range(T):
        row = [None if draw.random() < never else draw.randint(0, LONG) for _ in range(K)]
        rows.append(row if by_arm else row[:1] * K)
    return rows


def advice(draw: random.Random, N: int, K: int, T: int) -> dict[str, Any]:
    """Advice that is steady, or new in every round, with an even prior or another."""
    steady, even = draw.random() < 0.3, draw.random() < 0.5
    blocks = [[distribution(draw, K) for _ in range(N)] for _ in range(T)]
    if steady:
        blocks = blocks[:1] * T
    case: dict[str, Any] = {"N": N, "advice": blocks}
    if not even:
        parts = [draw.randint(1, GRAIN) for _ in range(N)]
        case["prior"] = [x / sum(parts) for x in parts]
    return case


def distribution(draw: random.Random, size: int) -> list[float]:
    """Multiples of 1/`GRAIN`, zeros among them, with sum exactly 1."""
    cuts = sorted(draw.randint(0, GRAIN) for _ in range(size - 1))
    return [(b - a) / GRAIN for a, b in zip([0, *cuts], [*cuts, GRAIN], strict=True)]


def playable(case: dict[str, Any], t: int) -> list[int]:
    """The arms that may be drawn in round t, counted from 0: those with a positive probability."""
    arms = range(case["K"])
    if "advice" in case:
        return [i for i in arms if any(row[i] > 0 for row in case["advice"][t])]
    return [i for i in arms if case["q"][t][i] > 0] if "q" in case else list(arms)
