"""A part of a stream: every rule under every attack on the same rounds, in one process.

All rules see the same honest vectors. The Byzantine ones are those of the source, or an attack's: an attack that asks
the rule sends each rule what hurts that one, another sends all rules the same. A rule that draws a permutation draws a
new one in every round, and the attack sees another. Mimic, which learns from round to round, begins anew in every part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, namespace, to_numpy
from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.base.rule import PreAggregation, Rule
from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.foreign.adapted import Adapted, PreAdapted
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.nnm import NNM
from kappaguard.rules.pipeline import Pipeline
from kappaguard.rules.ratio import criterion_named
from kappaguard.rules.subsets import worst_subset
from kappaguard.search.attacks.base import Attack
from kappaguard.search.attacks.mimic import Mimic
from kappaguard.search.attacks.names import attack_named
from kappaguard.training.configuration import LABEL_FLIPPING
from kappaguard.training.randomness import reseeded
from kappaguard.training.sources.source import Source, StreamRound
from kappaguard.verify.estimate.effect import MIXERS, Effect, mixing_of, terms
from kappaguard.verify.estimate.estimator import CAPACITY, Estimator
from kappaguard.verify.estimate.scene import Scene

GIVEN = "given"
"""Instead of an attack: the Byzantine vectors are in the source."""
NOBODY = "none"
"""Instead of an attack: all n workers are honest."""
ENTRIES = 1 << 21
"""Numbers of a batch; a single round may have more."""

LEAST_PART, MOST_PART, PART_ENTRIES = 25, 250, 1 << 22
"""Rounds of a part at least and at most, and numbers in between."""

Spec = str | Callable[..., Any]
Key = tuple[str, str]
"""An attack and a rule, by name."""
Kept = tuple[NDArray[Any], tuple[int, ...]]


@dataclass(frozen=True)
class Question:
    """What is asked about a stream: rules, attacks, how many may be Byzantine, and how spread is measured."""

    rules: tuple[Spec, ...]
    n: int
    f: int
    attacks: tuple[str, ...]
    criterion: str = "trace"
    seed: int = 0
    mixing: bool = True
    """Whether nnm and bucketing are put in front of every rule as well."""

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The rules, each followed by what mixing makes of it."""
        found: list[Spec] = []
        for spec in self.rules:
            mixed = [f"{name}+{spec}" for name in MIXERS] if self.mixing and is_plain(spec) else []
            found += [each for each in (spec, *mixed) if each not in found]
        return tuple(found)


def part_size(question: Question, source: Source) -> int:
    """How many rounds a part has: it depends on the sizes alone, so that results do not depend on the machine."""
    return max(LEAST_PART, min(MOST_PART, PART_ENTRIES // (question.n * source.dimension)))


def is_plain(spec: Spec) -> bool:
    """Whether it is the name of a rule without anything in front of it."""
    return isinstance(spec, str) and "+" not in spec


@dataclass(frozen=True)
class EstimatedRule:
    """A rule of the question: its name, the callable, and if it is a mixed one, by what and which it is without."""

    name: str
    rule: Any
    mixer: str | None = None
    plain: str | None = None

    def at(self, *seed: int) -> Any:
        """What the rule did in one round."""
        return reseeded(self.rule, *seed)

    @property
    def draws(self) -> bool:
        """Whether it is another rule in every round."""
        return isinstance(self.rule, Pipeline) and any(isinstance(step, Bucketing) for step in self.rule.steps)

    def stage(self, rule: Any, f: int) -> PreAggregation:
        """The mixing in front of the rule, as it is in this round."""
        if isinstance(rule, Pipeline):
            return rule.steps[0]
        return NNM(f=f) if self.mixer == NNM.name else Bucketing(f=f)


def subjects_of(question: Question) -> list[EstimatedRule]:
    """The rules, built; InputError for what is none, or takes no n vectors."""
    found = []
    for spec in question.specs:
        built = rule_named(spec, f=question.f)
        if isinstance(built, PreAdapted):
            raise InputError(f"{built.name} is a pre-aggregation: a rule must follow")
        if isinstance(built, Adapted) and built.form == "same":
            built = replace(built, form="numpy")
        mixer, plain = None, None
        if isinstance(spec, str) and spec.count("+") == 1:
            front, _, behind = spec.partition("+")
            if front in MIXERS and behind in question.specs:
                mixer, plain = front, behind
        found.append(EstimatedRule(name_of(spec, built), built, mixer, plain))
    return found


def name_of(spec: Spec, built: Any) -> str:
    """What a rule is called in results."""
    return (
        spec if isinstance(spec, str) else str(getattr(built, "label", None) or getattr(built, "name", None) or "rule")
    )


@dataclass
class Part:
    """What a part of a stream showed: ratios per attack and rule, and the effects of mixing."""

    ratios: dict[Key, Estimator] = field(default_factory=dict)
    effects: dict[Key, Effect] = field(default_factory=dict)
    kept: dict[Key, Kept] = field(default_factory=dict)
    """The input of each largest ratio and its S, if the source cannot be asked for it again."""
    subsets: str = "known"
    """Whether S is ``known``, or is the worst one: by ``enumeration``, or by ``heuristic``, which may miss it."""

    def merge(self, other: Part) -> Part:
        """Of both streams, this one first."""
        subsets = self.subsets if self.subsets == other.subsets else "heuristic"
        kept = {
            key: self.kept[key] if self.ratios[key].maximum >= other.ratios[key].maximum else other.kept[key]
            for key in self.kept
        }
        return Part(
            {key: each.merge(other.ratios[key]) for key, each in self.ratios.items()},
            {key: each.merge(other.effects[key]) for key, each in self.effects.items()},
            kept,
            subsets,
        )

    def to_json(self) -> dict[str, Any]:
        """All that a later merge needs."""
        return {
            "ratios": [[*key, each.to_json()] for key, each in self.ratios.items()],
            "effects": [[*key, each.to_json()] for key, each in self.effects.items()],
            "subsets": self.subsets,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Part:
        """The part of an estimate that ``to_json`` wrote."""
        return cls(
            {(attack, rule): Estimator.from_json(each) for attack, rule, each in data["ratios"]},
            {(attack, rule): Effect.from_json(each) for attack, rule, each in data["effects"]},
            subsets=data["subsets"],
        )


def measure(
    question: Question,
    source: Source,
    begin: int,
    end: int,
    stream: int = 0,
    capacity: int = CAPACITY,
    report: Callable[[int], None] = lambda done: None,
) -> Part:
    """Every rule under every attack on rounds begin .. end - 1; ``report`` is told how many rounds are done."""
    look = Look(question, source)
    part = Part()
    options = {"capacity": capacity, "seed": question.seed, "stream": stream}
    for attack in look.attacks:
        for subject in look.subjects:
            part.ratios[attack, subject.name] = Estimator(**options)
            if subject.mixer is not None:
                part.effects[attack, subject.name] = Effect.empty(question.n, question.f, **options)
    for number, batch in look.batches(begin, end):
        look.take(batch, number, part)
        report(number + len(batch))
    part.subsets = look.subsets
    return part


class Look:
    """A question put to a source: batches of rounds, and what the rules make of them."""

    def __init__(self, question: Question, source: Source) -> None:
        self.question, self.source = question, source
        self.criterion = criterion_named(question.criterion)
        self.subjects = subjects_of(question)
        self.attacks: dict[str, Attack | None] = {
            name: None if name in (GIVEN, NOBODY, LABEL_FLIPPING) else attack_named(name) for name in question.attacks
        }
        self.memory: dict[str, Any] = {}
        self.subsets = "known"
        self._sets: NDArray[np.int64] = np.empty((0, 0), dtype=np.int64)

    def batches(self, begin: int, end: int) -> Iterator[tuple[int, list[StreamRound]]]:
        """As many rounds with the same honest set at once as fit, with the number of the first."""
        size = max(1, ENTRIES // max(1, self.question.n * self.source.dimension))
        batch: list[StreamRound] = []
        first = begin
        for seen in self.source.rounds(begin, end):
            if batch and (len(batch) == size or seen.honest != batch[0].honest):
                yield first, batch
                first, batch = first + len(batch), []
            batch.append(seen)
        if batch:
            yield first, batch

    def take(self, batch: Sequence[StreamRound], number: int, part: Part) -> None:
        """Add what the rules make of a batch."""
        shared: Scene | None = None
        for attack in self.attacks:
            scene: Scene | None = None
            ratios: dict[str, NDArray[np.float64]] = {}
            for subject in self.subjects:
                if scene is None or self._asks(attack):
                    x, subset = self.input(batch, attack, subject, number)
                    if subset is not None and (shared is None or shared.subset != subset):
                        shared = Scene(x, subset, self.criterion)
                    scene = None if subset is None or shared is None else shared.with_input(x)
                rules = [subject.at(self.question.seed, 5, number + place) for place in range(len(batch))]
                outputs = self._outputs(subject, rules, x)
                seen = scene
                if seen is None:
                    ratios[subject.name], seen = self._worst(x, outputs)
                else:
                    ratios[subject.name] = seen.ratios(outputs)
                if np.any(np.isnan(ratios[subject.name])):
                    raise InputError(f"{subject.name} returned NaN in round {number}")
                if self.source.once:
                    self._keep(part, (attack, subject.name), ratios[subject.name], x, seen)
                part.ratios[attack, subject.name].update(ratios[subject.name])
                if subject.mixer is not None and subject.plain is not None:
                    effect = part.effects[attack, subject.name]
                    effect.update(*self._terms(subject, rules, x, seen), ratios[subject.plain], ratios[subject.name])

    def _keep(self, part: Part, key: Key, ratios: NDArray[np.float64], x: Array, scene: Scene | None) -> None:
        place = int(np.argmax(ratios))
        if key not in part.kept or ratios[place] > part.ratios[key].maximum:
            subset = self._sets[place].tolist() if scene is None else scene.subset
            part.kept[key] = np.array(to_numpy(x[place])), tuple(subset)

    def remembers(self, attack: str) -> bool:
        """Whether an attack learns from round to round."""
        return isinstance(self.attacks[attack], Mimic)

    def _asks(self, attack: str) -> bool:
        """Whether the Byzantine vectors differ from rule to rule."""
        adversary = self.attacks[attack]
        return adversary is not None and adversary.needs_rule

    def input(
        self, batch: Sequence[StreamRound], attack: str, subject: EstimatedRule, number: int
    ) -> tuple[Array, tuple[int, ...] | None]:
        """All n vectors of each round, (b, n, d), and S; None if it is not known."""
        n, f = self.question.n, self.question.f
        if attack in (GIVEN, NOBODY):
            honest = None if attack == NOBODY else batch[0].honest
            known = honest is not None and len(honest) == n - f
            return stacked([each.vectors for each in batch]), honest if known else None
        rows = []
        for place, each in enumerate(batch):
            honest_rows = each.vectors
            if each.honest is not None and len(each.honest) < len(each.vectors):
                honest_rows = each.vectors[list(each.honest)]
            rows.append(self._attacked(honest_rows, each, attack, subject, number + place))
        return stacked(rows), tuple(range(n - f))

    def _attacked(self, honest: Array, seen: StreamRound, attack: str, subject: EstimatedRule, number: int) -> Array:
        f = self.question.f
        adversary = self.attacks[attack]
        if adversary is None:
            assert seen.flipped is not None
            byzantine = seen.flipped[:f]
        else:
            rule = subject.at(self.question.seed, 4, number)
            action = adversary.act(honest, f, rule, self.memory.get(attack))
            self.memory[attack] = action.memory
            byzantine = action.vectors
        xp = namespace(honest)
        return xp.concat([honest, xp.astype(byzantine, honest.dtype, copy=False)], axis=0)

    def _outputs(self, subject: EstimatedRule, rules: Sequence[Any], x: Array) -> Array:
        try:
            if len(x) > 1 and not subject.draws and isinstance(subject.rule, Rule):
                return subject.rule(x)
            return stacked([rule(each) for rule, each in zip(rules, x, strict=True)])
        except RuleFault as fault:
            raise InputError(f"{subject.name}: it {fault.detail}") from None

    def _worst(self, x: Array, outputs: Array) -> tuple[NDArray[np.float64], Scene | None]:
        """The ratios of the worst sets; a scene only if they are the same in all rounds of the batch."""
        found = worst_subset(to_numpy(outputs), to_numpy(x), self.question.f, self.criterion)
        kind = "enumeration" if found.exact else "heuristic"
        self.subsets = kind if self.subsets in ("known", kind) else "heuristic"
        values = np.asarray(found.ratio, dtype=np.float64)
        self._sets = found.subset
        return values, None

    def _terms(
        self, subject: EstimatedRule, rules: Sequence[Any], x: Array, scene: Scene | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The two terms of the lemma in each round."""
        clean = subject.mixer == Bucketing.name
        f = self.question.f
        if len(x) > 1 and not subject.draws and isinstance(subject.rule, Rule):
            mixing = mixing_of(subject.stage(rules[0], f), x)
        else:
            pairs = zip(rules, x, strict=True)
            mixing = np.stack([mixing_of(subject.stage(rule, f), each) for rule, each in pairs])
        mixing = np.broadcast_to(mixing, (len(x), *mixing.shape[-2:]))
        if scene is not None:
            return terms(mixing, scene, clean=clean)
        each = [
            terms(
                mixing[place : place + 1],
                Scene(x[place : place + 1], tuple(subset.tolist()), self.criterion),
                clean=clean,
            )
            for place, subset in enumerate(self._sets)
        ]
        return np.concatenate([variance for variance, _ in each]), np.concatenate([bias for _, bias in each])


def stacked(rows: Sequence[Array]) -> Array:
    """One batch; of a single round without a copy."""
    if len(rows) == 1:
        return rows[0][None]
    return namespace(rows[0]).stack(list(rows), axis=0)
