"""The setting of the paper's authors, piece by piece, against plain loops that share nothing with it."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn import functional

from kappaguard.reports.experiments.table import standard_errors
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.nnm import NNM
from kappaguard.search.attacks.names import attack_named
from kappaguard.search.attacks.walk import redrawn, walk
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.data.split import counts, split
from kappaguard.training.learning import Learning
from kappaguard.training.models.architectures import network
from kappaguard.training.models.layer import Pass
from kappaguard.training.problem import Evaluation
from kappaguard.training.reproduce.experiments import cells_of
from kappaguard.training.reproduce.paper import paper_number, paper_number_for
from kappaguard.training.run import run
from kappaguard.training.sampling import drawn
from kappaguard.training.testing import MODEL_STEP, due_tests


def smoothed(vectors: list[list[float]], steps: int, nu: float) -> list[float]:
    """Weiszfeld's steps by their definition, in plain numbers."""
    point = [0.0] * len(vectors[0])
    for _ in range(steps):
        weights = [1 / max(math.dist(vector, point), nu) for vector in vectors]
        total = math.fsum(weights)
        point = [
            math.fsum(weight * vector[place] for weight, vector in zip(weights, vectors, strict=True)) / total
            for place in range(len(point))
        ]
    return point


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (0.01, 0.0), (30.0, 0.0), (1e-3, 50.0), (1e-60, 0.0)])
def test_the_geometric_median_of_a_few_steps_is_weiszfelds(steps, scale, offset):
    x = np.random.default_rng(steps).normal(size=(9, 6)) * scale + offset
    rule = rule_named(f"gm(steps={steps}, nu=0.1)", f=2)
    expected = smoothed(x.tolist(), steps, 0.1)
    assert rule(x) == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)
    assert rule(torch.from_numpy(x)).numpy() == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)


def test_a_few_steps_work_in_batches_behind_mixing_and_with_an_infinite_vector():
    x = np.random.default_rng(0).normal(size=(3, 9, 5))
    rule = rule_named("gm(steps=3, nu=0.1)", f=2)
    assert rule(x) == pytest.approx(np.array([smoothed(each.tolist(), 3, 0.1) for each in x]))
    mixed = NNM(f=2)(x[0])
    assert rule_named("nnm+gm(steps=3, nu=0.1)", f=2)(x[0]) == pytest.approx(smoothed(mixed.tolist(), 3, 0.1))
    broken = x[0].copy()
    broken[4, 1] = np.inf
    rest = np.delete(broken, 4, axis=0)
    assert rule(broken) == pytest.approx(smoothed(rest.tolist(), 3, 0.1))


def test_a_few_steps_claim_nothing_and_are_no_minimiser():
    rule = rule_named("gm(steps=3)", f=2)
    assert rule.claim is None
    assert not rule.traits.translates
    assert rule.label == "gm(steps=3)"
    x = np.random.default_rng(1).normal(size=(9, 4)) + 3
    assert np.linalg.norm(rule(x) - rule_named("gm", f=2)(x)) > 1e-3


def test_the_walk_goes_up_in_doubling_steps_and_then_to_and_fro():
    visited = []

    def error(eta, number):
        assert number == len(visited)
        visited.append(eta)
        return -((eta - 5.3) ** 2)

    found = walk(error)
    by_hand = [0, 1, 3, 7, 15, 8.6, 3.48, 7.576, 4.2992, 1.67776, 3.774912]
    assert visited[: len(by_hand)] == pytest.approx(by_hand)
    assert len(visited) == 16
    assert found.eta == max(visited, key=lambda eta: -((eta - 5.3) ** 2))


def test_the_walk_stays_above_zero():
    visited = []

    def error(eta, number):
        visited.append(eta)
        return -eta

    assert walk(error).eta == 0
    # 1 - 0.8 = 0.2; 0.2 - 0.64 = -0.44 is halved towards 0.2: -0.12, then 0.04
    assert visited[:4] == pytest.approx([0, 1, 0.2, 0.04])
    assert min(visited) >= 0


def walked_naively(rule, honest, f, direction):
    """The eta of sixteen whole evaluations of the rule."""
    mean = honest.mean(axis=0)

    def error(eta, number):
        sent = np.concatenate([honest, np.repeat((mean + eta * direction)[None], f, axis=0)])
        return float(np.sum((redrawn(rule, number)(sent) - mean) ** 2))

    return walk(error).eta


RULES = ("krum", "nnm+krum", "gm(steps=3, nu=0.1)", "nnm+gm(steps=3, nu=0.1)", "cwtm", "nnm+cwmed", "bucketing+cwtm")


@pytest.mark.parametrize("name", [*RULES, "bucketing+krum", "bucketing+gm(steps=3, nu=0.1)"])
@pytest.mark.parametrize("attack", ["foe", "alie"])
def test_the_search_in_few_coordinates_is_that_of_whole_evaluations(name, attack):
    for seed in range(3):
        honest = np.random.default_rng(seed).normal(size=(13, 40)) + np.linspace(0, 1, 40)
        rule = rule_named(name, f=4)
        direction = -honest.mean(axis=0) if attack == "foe" else honest.std(axis=0, ddof=1)
        action = attack_named(f"{attack}(search='line16')").act(honest, 4, rule)
        assert action.eta == pytest.approx(walked_naively(rule, honest, 4, direction), abs=1e-9)


def test_of_many_coordinates_a_sample_finds_nearly_the_same():
    honest = np.random.default_rng(0).normal(size=(13, 20_000)) * np.geomspace(1, 1e-3, 20_000) + 0.01
    rule, mean = rule_named("nnm+cwtm", f=4), honest.mean(axis=0)

    def error(eta):
        sent = np.concatenate([honest, np.repeat((1 - eta) * mean[None], 4, axis=0)])
        return np.linalg.norm(rule(sent) - mean)

    found = attack_named("foe(search='line16')").act(honest, 4, rule).eta
    assert error(found) == pytest.approx(error(walked_naively(rule, honest, 4, -mean)), rel=0.02)


def test_bucketing_is_permuted_anew_at_every_evaluation_and_other_rules_stay():
    rule = rule_named("bucketing+cwtm", f=4)
    seeds = {redrawn(rule, number).steps[0].seed for number in range(16)}
    assert len(seeds) == 16
    plain = rule_named("nnm+krum", f=4)
    assert redrawn(plain, 3) == plain


def test_another_search_is_refused_by_name():
    with pytest.raises(ValueError, match="grid, line16"):
        attack_named("foe(search='line17')")
    assert attack_named("foe(search='line16')").label == "foe(search='line16')"


def test_mimic_copies_the_first_worker_and_then_chooses_anew():
    generator = np.random.default_rng(5)
    steps = [generator.normal(size=(6, 8)) + generator.normal(size=8) for _ in range(12)]
    attack = attack_named("mimic(rechoose=True, warmup=4, seed=3)")
    start = np.random.default_rng(3).standard_normal(8)
    direction, centre = start / np.linalg.norm(start), steps[0].mean(axis=0)
    memory, chosen = None, []
    for number, honest in enumerate(steps):
        action = attack.act(honest, 2, None, memory)
        memory = action.memory
        if number < 4:
            centre = ((number + 1) * centre + honest.mean(axis=0)) / (number + 2)
            pulled = sum((row - centre) * ((row - centre) @ direction) for row in honest)
            direction = ((number + 1) * direction + pulled / np.linalg.norm(pulled)) / (number + 2)
            direction = direction / np.linalg.norm(direction)
            expected = 0
        else:
            expected = max(range(6), key=lambda row: abs(honest[row] @ direction))
        chosen.append(expected)
        assert np.array_equal(action.vectors, np.repeat(honest[expected][None], 2, axis=0))
    assert len(set(chosen[4:])) > 1


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_every_worker_draws_its_own_classes(alpha):
    labels = np.random.default_rng(0).integers(10, size=13_000)
    shards = split("dirichlet-workers", labels, 13, alpha, seed=1)
    table = counts(shards, labels, 10)
    for shard, own in zip(shards, table, strict=True):
        assert len(set(shard.tolist())) == len(shard)
        exhausted = any(own[label] == np.sum(labels == label) for label in range(10))
        assert 1000 - 10 <= len(shard) <= 1000 or exhausted
    shared = [len(set(one.tolist()) & set(two.tolist())) for one, two in pairwise(shards)]
    assert sum(shared) > 0
    other = split("dirichlet-workers", labels, 13, alpha, seed=2)
    assert any(len(one) != len(two) or np.any(one != two) for one, two in zip(shards, other, strict=True))


def test_the_shares_of_the_classes_are_dirichlets():
    """With alpha = a over c classes a share has mean 1/c and variance (1/c)(1 - 1/c)/(a c + 1)."""
    labels = np.repeat(np.arange(5), 100_000)
    shards = split("dirichlet-workers", labels, 400, 0.5, seed=0)
    shares = counts(shards, labels, 5) / (500_000 // 400)
    assert shares.mean(axis=0) == pytest.approx(0.2, abs=0.05)
    assert shares.var() == pytest.approx(0.2 * 0.8 / 3.5, rel=0.1)


def test_the_network_has_the_authors_size_and_torchs_gradients():
    net = network("cnn-mnist-20-50", (1, 28, 28), 10)
    assert net.dimension == 431_080
    generator = torch.Generator().manual_seed(0)
    images = torch.randn((6, 1, 28, 28), generator=generator)
    labels = torch.tensor([3, 1, 4, 1, 5, 9])
    theta = net.initial(1).float().requires_grad_()
    sizes = [(20, 1, 5, 5), (20,), (50, 20, 5, 5), (50,), (500, 800), (500,), (10, 500), (10,)]
    parts = [
        part.view(size) for part, size in zip(theta.split([math.prod(size) for size in sizes]), sizes, strict=True)
    ]
    seen = functional.max_pool2d(functional.relu(functional.conv2d(images, *parts[:2])), 2)
    seen = functional.max_pool2d(functional.relu(functional.conv2d(seen, *parts[2:4])), 2)
    seen = functional.relu(functional.linear(seen.flatten(1), *parts[4:6]))
    losses = functional.cross_entropy(functional.linear(seen, *parts[6:]), labels, reduction="none").view(2, 3).mean(1)
    expected = torch.stack([torch.autograd.grad(loss, theta, retain_graph=True)[0] for loss in losses])
    out = torch.empty((2, net.dimension))
    with torch.no_grad():
        found = net.gradients(theta.detach(), images, labels, out, Pass(2))
    assert found.tolist() == pytest.approx(losses.tolist(), rel=1e-5)
    assert float((out - expected).norm() / expected.norm()) < 1e-5


def naive_run(given: Configuration, training) -> torch.Tensor:
    """D-SHB or D-GD of logistic regression in the authors' setting, with torch's gradients and whole evaluations."""
    problem = training.problem
    assert isinstance(problem, Learning)
    m, f = given.honest, given.f
    theta, messages = problem.start(), [torch.zeros(problem.dimension, dtype=torch.float64) for _ in range(m)]
    rule = rule_named(given.rule, f=f)
    starts = np.cumsum([0, *(len(shard) for shard in problem.shards[:-1])])
    sizes = np.array([len(shard) for shard in problem.shards])
    features = problem.images.shape[1:].numel()

    def gradient(index, flip):
        point = theta.clone().requires_grad_()
        weight, bias = point[: 10 * features].view(10, features), point[10 * features :]
        labels = problem.labels[index]
        scores = problem.images[index].flatten(1) @ weight.T + bias
        loss = functional.cross_entropy(scores, 9 - labels if flip else labels) + given.l2 / 2 * point @ point
        found = torch.autograd.grad(loss, point)[0]
        return found * min(1.0, given.clip / float(found.norm()))

    for step in range(1, given.steps + 1):
        if given.algorithm == "gd":
            batches = [torch.from_numpy(shard) for shard in problem.shards]
        else:
            index, _ = drawn(np.concatenate(problem.shards), starts, sizes, given.batch, (given.seed, 1, step))
            batches = [torch.from_numpy(row) for row in index]
        beta = 0.0 if given.algorithm == "gd" else given.momentum
        messages = [beta * old + (1 - beta) * gradient(own, False) for old, own in zip(messages, batches, strict=True)]
        honest = torch.stack(messages)
        if given.attack == "lf(mean=True)":
            sent = torch.stack([gradient(own, True) for own in batches]).mean(dim=0)
        else:
            mean = honest.mean(dim=0)
            eta = walked_naively(rule, honest.numpy(), f, -mean.numpy())
            sent = (1 - eta) * mean
        theta = theta - given.learning_rate * rule(torch.cat([honest, sent.expand(f, -1)]))
    return theta


@pytest.mark.parametrize("algorithm", ["shb", "gd"])
@pytest.mark.parametrize("attack", ["lf(mean=True)", "foe(search='line16')"])
@pytest.mark.parametrize("rule", ["nnm+krum", "gm(steps=3, nu=0.1)"])
def test_a_run_in_the_authors_setting_is_that_of_a_plain_loop(algorithm, attack, rule):
    given = Configuration(
        n=7, f=2, rule=rule, attack=attack, algorithm=algorithm, steps=6, samples=300, dtype="float64", clip=0.8,
        l2=1e-2, split="dirichlet-workers", evaluate_every=0, device="cpu",
    )  # fmt: skip
    training = build(given)
    expected = naive_run(given, training)
    run(training, given)
    assert float((training.state.theta - expected).norm() / expected.norm()) < 1e-10


class Scored(Learning):
    """A model whose accuracies are given: on a few samples, and on all."""

    def __init__(self, few, everything):
        self.few, self.everything, self.asked, self.statistics = few, everything, [], []

    def evaluate(self, theta, samples=0):
        step = int(theta[0])
        self.asked.append((step, samples))
        return Evaluation(1.0, (self.few if samples else self.everything)[step])


def test_only_the_best_of_ten_tests_is_tested_on_all_samples():
    few = {step: step / 100 for step in range(0, 200, 5)} | {35: 0.9, 60: 0.7, 65: 0.7}
    problem = Scored(few, {step: 0.5 + step / 1000 for step in range(200)})
    given = Configuration(steps=72, evaluate_every=5, screen=100)
    problem.few[72] = 0.1
    training = build(Configuration(model="quadratic", steps=72, dimension=1, attack="none"))
    training.problem = problem
    rows = []
    for step in range(1, 73):
        training.state.step, training.state.theta = step, torch.tensor([float(step)])
        rows += due_tests(training, given)
    whole = [step for step, samples in problem.asked if samples == 0]
    # the later of two equal ones; the last model is tested in any case
    assert whole == [35, 70, 72]
    tested = [(row["step"], row.get(MODEL_STEP), row["accuracy"]) for row in rows if "accuracy" in row]
    assert tested[0] == (50, 35, pytest.approx(0.535))
    assert tested[-1] == (72, None, pytest.approx(0.572))
    assert len([row for row in rows if "screened" in row]) == 15


def test_fewer_test_samples_are_spread_over_all():
    training = build(preset("digits"))
    problem = training.problem
    images, labels = problem._tests(100)
    where = [index * len(problem.test_labels) // 100 for index in range(100)]
    assert torch.equal(labels, problem.test_labels[where])
    assert torch.equal(images, problem.test_images[where])
    assert problem._tests(0)[1] is problem.test_labels


def test_the_table_in_the_authors_setting_has_the_papers_sixty_numbers():
    cells = cells_of("table2-authors", 1)
    assert len(cells) == 60
    configuration = {(cell.configuration.rule, cell.configuration.attack) for cell in cells}
    assert ("nnm+gm(steps=3, nu=0.1)", "lf(mean=True)") in configuration
    assert {cell.configuration.split for cell in cells} == {"dirichlet-workers"}
    for cell in cells:
        assert paper_number_for(cell.configuration) is not None
    (one,) = [each for each in cells if each.configuration.rule == "gm(steps=3, nu=0.1)" and each.attack == "sf"]
    assert paper_number_for(one.configuration) == paper_number("gm", "sf") == (57.86, 10.42)
    assert paper_number_for(preset("mnist").with_values({"split": "iid"})) is None


def test_standard_errors_are_those_of_two_means():
    """(80 - 70)/sqrt(4/2 + 25/5) with deviations 2 and 5, and the paper's own deviation for a single seed."""
    ours = [80 - math.sqrt(2), 80 + math.sqrt(2)]
    assert standard_errors(ours, 70, 5) == pytest.approx(10 / math.sqrt(4 / 2 + 25 / 5))
    assert standard_errors([80], 70, 5) == pytest.approx(10 / math.sqrt(25 + 5))


def test_every_ablation_differs_from_the_authors_setting_in_one_thing():
    whole = {(cell.configuration.rule.partition("(")[0], cell.attack): cell for cell in cells_of("table2-authors", 1)}
    for name, touched in (("split", 6), ("network", 6), ("search", 2), ("gm", 3), ("lf", 2), ("mimic", 2)):
        cells = cells_of(f"authors-but-{name}", 1)
        assert len(cells) == 6
        other = [each.key != whole[each.configuration.rule.partition("(")[0], each.attack].key for each in cells]
        assert sum(other) == touched


@pytest.mark.parametrize("name", ["LF( mean = True )", "lf(mean=true)"])
def test_label_flipping_may_be_written_in_several_ways(name):
    assert Configuration(attack=name).attack == "lf(mean=True)"
    assert Configuration(attack="LF(mean=False)").attack == "lf"
    with pytest.raises(InputError, match="mean=True or nothing"):
        Configuration(attack="lf(mean=2)")
    with pytest.raises(InputError, match="no labels to flip"):
        Configuration(attack=name, model="quadratic")


def test_checkpoints_of_before_there_was_a_screen_are_still_of_the_same_run():
    assert Configuration().mark() == "c0c03eb4a59658e6"
    assert Configuration(screen=10).mark() != Configuration().mark()
