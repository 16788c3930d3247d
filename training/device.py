"""A step of attack and rule as a GPU wants it: one glance of the CPU at few numbers, then few large operations.

Under an attack of the kind mean + eta a, everything that a rule which commutes with rotations decides is in the inner
products of the honest vectors, a and the origin about the honest mean. They are formed on the device in one product of
float32 over blocks of coordinates, added up in float64, and looked at once; with them come a sample of the columns for
a coordinate-wise rule, the losses, and the lengths of the messages. Then eta is searched, and the rule is asked, in the
few coordinates of ``kappaguard.search.attacks.reduced``. Its output is a combination of the vectors, which the device
forms; a coordinate-wise rule is applied to the mixed vectors on the device.

Under other attacks the glance is at all messages, once they have been sent. What this is not for goes the way of the
CPU's steps, with more glances: ``fits`` and ``fits_rule`` say which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.rule import Rule
from kappaguard.rules.cwmed import Median
from kappaguard.rules.cwtm import TrimmedMean
from kappaguard.rules.pipeline import Chain
from kappaguard.search.attacks import columns
from kappaguard.search.attacks.base import Aggregation, Attack
from kappaguard.search.attacks.directed import Directed
from kappaguard.search.attacks.line import candidates
from kappaguard.search.attacks.maximise import Trial
from kappaguard.search.attacks.reduced import Reduced, from_inner_products
from kappaguard.search.attacks.sign_flip import SignFlipping
from kappaguard.training import messages

if TYPE_CHECKING:
    from torch import Tensor

FAR = 1e6
"""Times the median square."""
WIDTH = 4096
"""Coordinates per block of the product."""

Change = Callable[["Tensor"], "Tensor"]
"""Sums over the processes that share the coordinates, or the samples of columns of all of them, (m + 2, s)."""


def alone(tensor: Tensor) -> Tensor:
    """One process has all coordinates."""
    return tensor


def fits(attack: Attack | None, rule: Aggregation) -> bool:
    """Whether a step under this attack, with this rule, can be made with one glance."""
    known = isinstance(attack, SignFlipping) or (isinstance(attack, Directed) and attack.deviation is not None)
    return known and fits_rule(rule)


def fits_rule(rule: Aggregation) -> bool:
    """Whether inner products are all that is to be seen of the messages for this rule."""
    if not isinstance(rule, Rule):
        return False
    return rule.traits.rotates or (columns.applies(rule) and isinstance(rule.last, TrimmedMean | Median))


def is_there(theta: Tensor) -> bool:
    """Whether a run is on a device where this pays: off the CPU, where float64 is known."""
    return theta.device.type not in ("cpu", *messages.WITHOUT_DOUBLE)


def facts(squares: Sequence[float | Tensor], loss: Tensor) -> Tensor:
    """The sum of the squared lengths of messages, and a loss, as numbers on the device."""
    import torch

    parts = [torch.as_tensor(each, device=loss.device) for each in squares]
    return torch.stack([sum(parts[1:], parts[0]).double(), loss.double()])


def sample_width(d: int) -> int:
    """How many of d columns are looked at."""
    return d if d <= 2 * columns.SAMPLED else columns.SAMPLED


@dataclass(frozen=True)
class Glance:
    """What the device keeps of a step, and what the CPU saw of it.

    ``rows`` are the honest vectors less their mean, then the direction, then the origin less the mean, (m + 2, d).
    """

    mean: Tensor
    rows: Tensor
    reduced: Reduced
    seen: columns.Columns | None
    facts: list[float]
    """The sums of the numbers that were to be seen as well."""
    far: bool = False
    """Whether some vector is so far away that float32 tells little of the others beside it."""

    @property
    def direction(self) -> Tensor:
        """The attack's direction a."""
        return self.rows[-2]


def look(
    honest: Tensor,
    attack: Attack | None,
    rule: Rule,
    facts: Tensor,
    total: Change = alone,
    gather: Change = alone,
    near: int | None = None,
) -> Glance:
    """One glance at honest vectors (m, d), or a shard of them; ``facts`` are further numbers to be summed and seen.

    The mean is that of the first ``near`` vectors, if the others may be far away.
    """
    import torch

    deviation = isinstance(attack, Directed) and bool(attack.deviation)
    sampled = not rule.traits.rotates and isinstance(attack, Directed) and attack.eta is None
    m, d = honest.shape
    padded = -(-d // WIDTH) * WIDTH
    mean = honest[:near].mean(dim=0)
    room = torch.zeros((m + 2, padded), dtype=honest.dtype, device=honest.device)
    torch.sub(honest, mean, out=room[:m, :d])
    variance = (room[:m, :d] ** 2).sum(dim=0)
    room[m, :d] = (variance / max(1, m - 1)).sqrt() if deviation else -mean
    room[m + 1, :d] = -mean
    blocks = room.view(m + 2, padded // WIDTH, WIDTH).transpose(0, 1)
    gram = torch.bmm(blocks, blocks.transpose(1, 2)).sum(dim=0, dtype=torch.float64)
    sums = torch.cat([gram.view(-1), facts.double().view(-1)])
    parts = [total(sums)]
    if sampled:
        parts.append(gather(_sampled(room[: m + 1, :d], variance)).reshape(-1))
    numbers = torch.cat(parts).cpu().numpy()
    inner = numbers[: (m + 2) ** 2].reshape(m + 2, m + 2)
    rest = numbers[(m + 2) ** 2 :]
    seen = _columns(rest[facts.numel() :], m) if sampled else None
    # what has left the range of numbers is found by whoever asks for the facts, or by the rule itself
    whole = bool(np.all(np.isfinite(inner)))
    inner = inner if whole else np.zeros_like(inner)
    squares = inner.diagonal()[:m]
    far = not whole or bool(squares.max() > FAR * np.median(squares))
    return Glance(mean, room[:, :d], from_inner_products(inner, m), seen, rest[: facts.numel()].tolist(), far)


def _sampled(rows: Tensor, variance: Tensor) -> Tensor:
    """Columns drawn in proportion to their variance as in ``columns.sample``, with what they stand for, (m + 2, s)."""
    import torch

    d = rows.shape[1]
    if sample_width(d) == d:
        return torch.cat([rows.double(), rows.new_ones((1, d), dtype=torch.float64)])
    spread = variance.double()
    total = spread.sum()
    share = torch.where(total > 0, spread / total, 1 / d)
    chance = columns.EVEN / d + (1 - columns.EVEN) * share
    edges = chance.cumsum(dim=0)
    places = (torch.arange(columns.SAMPLED, device=rows.device) + 0.5) / columns.SAMPLED
    picked = torch.searchsorted(edges, places * edges[-1]).clamp(max=d - 1)
    weights = edges[-1] / (columns.SAMPLED * chance[picked])
    return torch.cat([rows[:, picked].double(), weights[None]])


def _columns(numbers: NDArray[np.float64], m: int) -> columns.Columns:
    table = numbers.reshape(m + 2, -1)
    honest = np.ascontiguousarray(table[:m].astype(np.float32))
    return columns.Columns(honest, table[m].astype(np.float32), table[m + 1].copy(), False)


@dataclass(frozen=True)
class Answer:
    """What the server gets from a step: the Byzantine vector, the aggregate, and eta as a number on the device."""

    vector: Tensor
    aggregate: Tensor
    eta: Tensor


def answer(glance: Glance, attack: Any, attacked: Rule, server: Rule, f: int, total: Change = alone) -> Answer:
    """The attack's vector against the rule that it knows, and what the server's rule makes of it, without a glance.

    The best of several candidates for eta is found by the device, which forms the output for each of them.
    """
    import torch

    tried = _candidates(glance, attack, attacked, f)
    outputs = [_output(glance, attacked, each.eta, f) for each in tried] if len(tried) > 1 else []
    etas = torch.tensor([each.eta for each in tried], dtype=torch.float64).to(glance.mean.device)
    best: Tensor = etas[0]
    chosen = None
    if outputs:
        errors = total(torch.stack([((each - glance.mean) ** 2).sum() for each in outputs]))
        # an index of one entry: with none, the CPU would have to know the number
        chosen = errors.argmax()[None]
        best = etas.index_select(0, chosen)[0]
    vector = glance.mean + best.to(glance.mean.dtype) * glance.direction
    if server == attacked and chosen is not None:
        aggregate = torch.stack(outputs).index_select(0, chosen)[0]
    elif chosen is None:
        aggregate = _output(glance, server, tried[0].eta, f)
    else:
        aggregate = torch.stack([_output(glance, server, each.eta, f) for each in tried]).index_select(0, chosen)[0]
    return Answer(vector, aggregate, best)


def aggregate(glance: Glance, rule: Rule) -> Tensor:
    """What a rule makes of all messages, if the glance was at all of them, whoever sent them."""
    return _output(glance, rule, 0.0, 0)


def _candidates(glance: Glance, attack: Any, rule: Rule, f: int) -> list[Trial]:
    if isinstance(attack, SignFlipping):
        return [Trial(2.0, 0.0)]
    if attack.eta is not None:
        return [Trial(attack.eta, 0.0)]
    return candidates(rule, f, glance.reduced, glance.seen, attack.positive, attack.search)


def _output(glance: Glance, rule: Rule, eta: float, f: int) -> Tensor:
    """The rule's output when f vectors are mean + eta a."""
    if rule.traits.rotates:
        return _combined(glance, glance.reduced.outputs(rule, np.array([eta]), f)[0])
    cloud = glance.reduced.clouds(np.array([eta]), f)
    m = len(glance.rows) - 2
    last = rule.last
    mixing = np.eye(m + f)
    if rule.front:
        found = np.asarray(Chain(rule.front).transform(cloud).mixing)
        mixing = found[0] if found.ndim == 3 else found
    along = eta * mixing[:, m:].sum(axis=1, keepdims=True)
    together = _uploaded(np.concatenate([mixing[:, :m], along], axis=1), glance.rows)
    values = (together @ glance.rows[:-1]).sort(dim=0).values
    n = len(values)
    if isinstance(last, TrimmedMean):
        return glance.mean + values[last.f : n - last.f].mean(dim=0)
    return glance.mean + (values[(n - 1) // 2] + values[n // 2]) / 2


def _combined(glance: Glance, output: NDArray[np.float64]) -> Tensor:
    """The vector of which these are the coordinates: a combination of the rows, with the shortest weights."""
    honest, direction, origin = glance.reduced.honest, glance.reduced.direction, glance.reduced.origin
    known = np.concatenate([honest, direction[None], origin[None]])
    # direction and origin in the unit of the honest vectors, or one could hide the others
    lengths = np.linalg.norm(known, axis=1)
    longest = float(np.max(lengths[: len(honest)], initial=0.0)) or 1.0
    unit = np.ones(len(known))
    unit[len(honest) :] = longest / np.where(lengths[len(honest) :] > 0, lengths[len(honest) :], longest)
    weights, *_ = np.linalg.lstsq((known * unit[:, None]).T, output, rcond=1e-6)
    weights = np.asarray(weights * unit, dtype=np.float64)
    combined: Tensor = _uploaded(weights, glance.rows) @ glance.rows
    return glance.mean + combined


def _uploaded(values: NDArray[Any], like: Tensor) -> Tensor:
    import torch

    return torch.from_numpy(np.ascontiguousarray(values)).to(dtype=like.dtype).to(like.device)
