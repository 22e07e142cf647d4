"""Planted faults in the evaluation of policies on logs."""

from tests.mutants.fault import Fault

GOLDEN = "evaluation/test_golden_numbers.py"
BETTING = "evaluation/test_betting.py"

EVALUATION_FAULTS = [
    Fault(f"evaluation: {name}", f"evaluation/{file}", right, wrong, noticed_by)
    for name, file, right, wrong, noticed_by in (
        (
            "the correction for silence is left out of the denominator",
            "estimators.py",
            "    return Terms(np.zeros(()), known * rows.outcome, known)",
            "    return Terms(np.zeros(()), known * rows.outcome, rows.weights)",
            GOLDEN,
        ),
        (
            "a row that is told is not at risk itself",
            "delay_laws.py",
            "np.searchsorted(self._seen.times, self.times)",
            "np.searchsorted(self._seen.times, self.times) + 1",
            GOLDEN,
        ),
        (
            "delays that are longer than the age are taken to be as likely as seen",
            "delay_laws.py",
            "at_risk = until - gone",
            "at_risk = until",
            "evaluation/test_delay_laws.py",
        ),
        (
            "a bet knows the outcome of its own row",
            "betting.py",
            'np.searchsorted(known_from[rows], np.arange(len(values)), side="right")',
            'np.searchsorted(known_from[rows], np.arange(len(values)) + 1, side="right")',
            BETTING,
        ),
        (
            "a model is fitted to the rows that it speaks about",
            "models.py",
            "learned, asked = halves != half, halves == half",
            "learned, asked = halves == half, halves == half",
            "evaluation/test_models.py",
        ),
        (
            "rows that are too young count",
            "measuring.py",
            "weights * self.correction.is_old",
            "weights",
            "evaluation/test_evaluate.py",
        ),
        (
            "who is silent does not convert",
            "conversions.py",
            "self.weights @ (w - p)",
            "self.weights @ (0.0 * w - p)",
            "evaluation/test_conversions.py",
        ),
        (
            "a late report is forgotten",
            "logs/journal_columns.py",
            "rewards = np.where(expired & ~np.isnan(late), late, rewards)",
            "pass",
            "evaluation/test_logs.py",
        ),
    )
]
