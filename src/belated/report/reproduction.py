"""How to make a comparison again: the command or the lines of Python, with seed and repetitions."""

from belated.comparison.contenders import Contender
from belated.comparison.result import Comparison
from belated.environments.environment_specs import environment_named
from belated.report.formatting import clean


def how_to_repeat(comparison: Comparison) -> str:
    """Return the command that made a comparison, or else lines of Python that make it again."""
    if comparison.command:
        return clean(comparison.command)
    learners = ", ".join(map(_learner, comparison.contenders))
    repetitions = comparison.asked or len(comparison.repetitions)
    return (
        "import belated\n\n"
        f"belated.compare([{learners}], {_environment(comparison)}, "
        f"repetitions={repetitions}, seed={comparison.seed})"
    )


def _learner(contender: Contender) -> str:
    """Return a learner as it is given to `compare`; one of the user's own only by its name."""
    text = contender.text
    return clean(contender.name).replace("-", "_") if text is None else repr(text)


def _environment(comparison: Comparison) -> str:
    """Return the scenario's name and options; an environment of the user's own has none."""
    environment = comparison.environment
    try:
        known = environment_named(environment.name)
    except (ValueError, TypeError, OSError):
        return "environment"
    same = (known.rounds, known.labels) == (environment.rounds, environment.labels)
    return repr(environment.name) if same else "environment"
