"""Advice in ask and tell: what the policies of a learner advise is given with each `ask`."""

from collections.abc import Mapping, Sequence
from typing import Any

from belated.arrays import Floats
from belated.asktell.options import FeedbackOptions
from belated.asktell.session import Prepared, Session
from belated.checks import checked_advice
from belated.compiled.ask_tell import PREDICT_ONLY
from belated.learners.contract import Learner
from belated.types import Arm, BelatedError

AnyAdvice = Mapping[Arm, Mapping[Arm, float] | Sequence[float]] | Sequence[Sequence[float]] | Floats


class AdvisedSession(Session):
    """A session whose learner may weigh policies.

    Policies that were named when it was made give advice with every `ask`; `policies` has their
    names, and is empty if there are none. The learner's state keeps what was given last.
    """

    policies: tuple[Arm, ...]

    def weights(self, *, advice: AnyAdvice | None = None) -> dict[Arm, float]:
        """Return the weights of the arms that the next `ask` will use, given this advice.

        Nothing changes. If there are policies, `advice` must be given.
        """
        if self.policies or advice is not None:
            self._advise(advice)
        return super().weights()

    def policy_weights(self) -> dict[Arm, float]:
        """Return the weights of the policies in the next round."""
        if not self.policies:
            raise BelatedError(f"{self._title} has no policies; name them when you make it")
        runner = self._prepare_round(self._book.due(self._expire_after)).runner
        runner.ask(runner.address, PREDICT_ONLY)
        weights = runner.workspace.prediction.info.weights
        return dict(zip(self.policies, weights.tolist(), strict=True))

    def _advise(self, advice: Any) -> None:
        """Put what the policies advise for the coming round into the learner's state."""
        if not self.policies:
            raise ValueError(f"advice is given, but {self._title} has no policies")
        self._learner.advise(self._runner.workspace.state, self._table_of(advice))

    def _table_of(self, advice: Any) -> Floats:
        """Advice that is given by name or in order, as a row for each policy."""
        if advice is None:
            raise ValueError("there is no advice; give advice=, what each policy advises")
        if isinstance(advice, Mapping):
            rows = _in_order_of(self.policies, advice, "policy")
            if any(row is None for row in rows):
                missing = self.policies[rows.index(None)]
                raise ValueError(f"policy {missing!r} gives no advice; each policy must give some")
        else:
            rows = advice
        if isinstance(rows, Sequence):
            rows = [
                [p or 0.0 for p in _in_order_of(self.arms, row, "arm")]
                if isinstance(row, Mapping)
                else row
                for row in rows
            ]
        return checked_advice(rows, self.policies, len(self.arms))

    def _set_up(
        self,
        kind: type[Learner],
        arms: tuple[Arm, ...],
        options: Mapping[str, Any],
        feedback: FeedbackOptions,
    ) -> None:
        super()._set_up(kind, arms, options, feedback)
        self.policies = tuple(options.get("policies") or ())

    def _prepare_round(self, due: list[int]) -> Prepared:
        prepared = super()._prepare_round(due)
        if self.policies and prepared.epoch != self._epoch:
            given = self._runner.workspace.state.advice
            prepared.learner.advise(prepared.runner.workspace.state, given)
        return prepared


def _in_order_of(names: Sequence[Arm], values: Mapping[Any, Any], word: str) -> list[Any]:
    """The values in the order of these names, None where there is none."""
    for name in values:
        if name not in names:
            raise ValueError(f"advice names {word} {name!r}, which is not known")
    return [values.get(name) for name in names]
