"""Minimising a sum of distances, in the n x n arithmetic of inner products.

Let c be the vector with the smallest sum of distances to the others, r_j and v_j distance and direction of vector j
from c, V the inner products of the directions. A point is y = c + sum_k b_k v_k. With z_j = x_j - y, d_j = ||z_j||
and u_j = z_j / d_j,

    gradient  g = -sum_j u_j,        Hessian  H = a I - sum_j u_j u_j^T / d_j,    a = sum_j 1/d_j,

and, C being the matrix of the cosines <u_j, u_l>, Newton's step -H^-1 g is sum_j q_j u_j with
(a I - diag(1/d) C) q = 1: an n x n system, whatever the dimension.

c itself is the minimiser if and only if ||sum over x_j != c of v_j|| is at most the number of vectors equal to c
(and no other vector can be it, because c has the smallest sum). If it is not, the step of Vardi and Zhang (2000)
leaves c downhill and Newton's method with a line search goes on from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, bounded, device_of, in_double, namespace
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.geometry import FARTHER, SAME, WIDEST, PivotView, view_from

TOLERANCE = 1e-10
"""The last Newton step, relative to the median distance, after which the search stops."""
MOST_STEPS = 200
HALVINGS = 50
RIDGE = 1 + 1e-15
SOLVED, PRODUCTS = 1e-12, 60
"""The residual, relative to the right side, at which conjugate gradients stop, and the most products before that."""
COLLINEAR = 1e-13
"""Vectors whose directions have cosines this near to +-1 lie on one line."""


class MedianSolution(NamedTuple):
    """Weights of the minimiser over the vectors, and where it is, seen from the pivot.

    ``settled`` says that it is a vector or the median of vectors on one line, found without iterating;
    ``doubt`` is half the segment on which the minimiser may lie anywhere because all vectors are on one line.
    """

    weights: Array
    view: PivotView
    position: Array
    settled: Array
    doubt: Array


class MedianState(NamedTuple):
    """What a point y sees: distances (1 where a vector does not count), the objective, the norm of its gradient.

    The objective is taken relative to the pivot, sum_j (d_j - r_j), in a form that far vectors do not swamp.
    """

    distance: Array
    counted: Array
    along: Array
    square: Array
    value: Array
    gradient: Array


def median_weights(cloud: Cloud) -> Array:
    """The weights of the minimiser: by the compiled search where it applies, else as ``minimise`` finds them."""
    distances = cloud.distances
    if not isinstance(distances, np.ndarray):
        return minimise(cloud).weights
    found = native.median_weights(
        distances, cloud.gram, WIDEST, SAME, FARTHER, COLLINEAR, TOLERANCE, MOST_STEPS, HALVINGS
    )
    if found is None:
        return minimise(cloud).weights
    weights, left = found
    if np.all(left):
        return minimise(cloud).weights
    if np.any(left):
        weights[left] = minimise(Cloud.known(cloud.points[left], distances[left])).weights
    return weights


def minimise(cloud: Cloud) -> MedianSolution:
    """The weights, which sum to one, of the point with the smallest sum of distances."""
    view = _central_view(cloud)
    xp = namespace(view.radius)
    on_line = _collinear(view)
    start, at_vertex = _leave_pivot(view)
    settled = at_vertex | on_line
    position = start if bool(xp.all(settled)) else _newton(view, start, settled)
    doubt = xp.zeros_like(start[..., 0])
    if bool(xp.any(on_line)):
        middle, half = _median_on_line(view)
        position = xp.where(on_line[..., None], middle, position)
        # in one dimension the midpoint is right by convention; elsewhere rounding may hide a slight bend
        doubt = doubt if cloud.base.shape[-1] == 1 else xp.where(on_line, half, doubt)
    weights = position / _positive(view.radius)
    rest = 1 - xp.sum(weights, axis=-1, keepdims=True)
    pivot = xp.arange(weights.shape[-1], device=device_of(weights)) == view.pivot[..., None]
    return MedianSolution(xp.where(pivot, rest, weights), view, position, settled, doubt)


def _central_view(cloud: Cloud) -> PivotView:
    """The view from the vector with the smallest sum of distances."""
    view = view_from(cloud, _medoid(cloud.distances))
    if not view.wide:
        return view
    better = _better_vertex(view)
    same = bool(namespace(better).all(better == view.pivot))
    return view if same else view_from(cloud, better)


def distance_bound(solution: MedianSolution) -> Array:
    """A bound on the distance to the true minimiser, in units of the median distance to the vectors.

    Along a line from y in direction v the second derivative of the objective at step t is
    sum_j d_j^2 (1 - <u_j, v>^2) / d_j(t)^3 with d_j(t) <= d_j + t, so up to step R it is at least

        mu(R) = sum_j w_j - largest eigenvalue of (w_j^(1/2) <u_j, u_l> w_l^(1/2)),   w_j = d_j^2 / (d_j + R)^3,

    for every v. If R mu(R) > ||g|| the objective rises again before R in every direction: the minimiser is nearer.
    """
    view = solution.view
    xp = namespace(view.radius)
    state = _state(view, solution.position)
    unit = _median_distance(view, state)
    cosines = _cosines(view, state)
    square = xp.where(state.counted, state.distance**2, xp.zeros_like(state.distance))
    # a vector at the point itself takes up to one unit of the pull of the others
    held = xp.sum(xp.astype(view.active & ~state.counted, xp.float64), axis=-1)
    gradient = bounded(state.gradient - held, 0.0, None) + view.radius.shape[-1] * 1e-15
    # always true: at distance R the objective is at least n R - value, and at the minimiser at most the value
    count = xp.sum(xp.astype(view.active, xp.float64), axis=-1)
    total = xp.sum(xp.where(state.counted, state.distance, xp.zeros_like(state.distance)), axis=-1)
    bound = 2 * total / count
    radius = gradient * unit * 1e-3
    for _ in range(64):
        weight = square / (state.distance + radius[..., None]) ** 3
        root = xp.sqrt(weight)
        spectrum = xp.linalg.eigvalsh(root[..., :, None] * cosines * root[..., None, :])
        curvature = xp.sum(weight, axis=-1) - spectrum[..., -1]
        bound = xp.where((radius * curvature > gradient) & (radius < bound), radius, bound)
        radius = radius * 2
    clear = solution.settled & (state.gradient <= held * (1 - 1e-9))
    one_point = xp.sum(xp.astype(view.active & (view.radius > 0), xp.int64), axis=-1) == 0
    nearest = xp.where(clear | one_point, xp.zeros_like(bound), bound)
    nearest = xp.where(_collinear(view), solution.doubt, nearest)
    return nearest / xp.where(unit > 0, unit, xp.ones_like(unit))


def differentiable_step(points: Array, point: Array, settled: Array) -> Array:
    """One Newton step from a minimiser, through which torch differentiates: the implicit derivative of gm.

    With y and H held fixed, y + H^-1 sum_j (x_j - y)/||x_j - y|| has the value y and the derivative of the
    minimiser with respect to the x_j. Where the minimiser is a vector itself, the product with weights is right.
    """
    xp = namespace(points)
    x = in_double(points)
    y = in_double(point).detach()
    offset = x - y[..., None, :]
    finite = xp.all(xp.isfinite(offset), axis=-1, keepdims=True)
    offset = xp.where(finite, offset, xp.zeros_like(offset))
    length = xp.linalg.vector_norm(offset, axis=-1, keepdims=True)
    used = finite & (length > 0)
    unit = xp.where(used, offset / xp.where(used, length, xp.ones_like(length)), xp.zeros_like(offset))
    fixed, inverse = unit.detach(), xp.where(used, 1 / length, xp.zeros_like(length)).detach()
    total = xp.sum(inverse, axis=(-2, -1), keepdims=True)
    pull = xp.sum(unit, axis=-2)[..., None]
    identity = xp.eye(x.shape[-2], dtype=xp.float64, device=device_of(x))
    system = total * identity - inverse * xp.matmul(fixed, xp.matrix_transpose(fixed))
    system = xp.where(settled[..., None, None], identity, system)
    inner = xp.linalg.solve(system, inverse * xp.matmul(fixed, pull))
    step = (pull + xp.matmul(xp.matrix_transpose(fixed), inner)) / total
    smooth = y + step[..., 0]
    return xp.where(settled[..., None], point, xp.astype(smooth, point.dtype))


def _medoid(distances: Array) -> Array:
    """The vector with the smallest sum of distances, among those that are finite."""
    xp = namespace(distances)
    finite = xp.isfinite(distances)
    lengths = xp.sqrt(xp.where(finite, distances, xp.zeros_like(distances)))
    unseen = xp.sum(xp.astype(~finite, xp.int64), axis=-1)
    least = xp.min(unseen, axis=-1, keepdims=True)
    total = xp.sum(lengths, axis=-1)
    return xp.argmin(xp.where(unseen == least, total, xp.full_like(total, float("inf"))), axis=-1)


def _better_vertex(view: PivotView) -> Array:
    """The vector with the smallest sum of distances, where far vectors swamp a plain sum: seen from a first pivot.

    ||x_i - x_j|| - r_j = (r_i^2 - 2 r_i r_j V_ij) / (||x_i - x_j|| + r_j).
    """
    xp = namespace(view.radius)
    own, other = view.radius[..., :, None], view.radius[..., None, :]
    change = own * own - 2 * own * other * view.directions
    length = xp.sqrt(bounded(other * other + change, 0.0, None))
    both = view.active[..., :, None] & view.active[..., None, :]
    gain = xp.where(both & (length + other > 0), change / _positive(length + other), xp.zeros_like(change))
    total = xp.where(view.active, xp.sum(gain, axis=-1), xp.full_like(view.radius, float("inf")))
    return xp.argmin(total, axis=-1)


def _positive(radius: Array) -> Array:
    xp = namespace(radius)
    return xp.where(radius > 0, radius, xp.ones_like(radius))


def _leave_pivot(view: PivotView) -> tuple[Array, Array]:
    """The step of Vardi and Zhang from the pivot, and whether the pivot is the minimiser."""
    xp = namespace(view.radius)
    apart = view.radius > 0
    here = xp.sum(xp.astype(view.active & ~apart, xp.float64), axis=-1)
    pull = xp.sqrt(bounded(xp.sum(view.directions, axis=(-2, -1)), 0.0, None))
    at_vertex = pull <= here * (1 + 1e-15 * view.radius.shape[-1])
    inverse = xp.sum(xp.where(apart, 1 / _positive(view.radius), xp.zeros_like(view.radius)), axis=-1)
    share = xp.where(at_vertex, xp.zeros_like(pull), 1 - here / _positive(pull))
    length = share / _positive(inverse)
    return xp.where(apart, length[..., None], xp.zeros_like(view.radius)), at_vertex


def _collinear(view: PivotView) -> Array:
    xp = namespace(view.radius)
    apart = view.radius > 0
    pairs = apart[..., :, None] & apart[..., None, :]
    return xp.all(~pairs | (xp.abs(view.directions) >= 1 - COLLINEAR), axis=(-2, -1))


def _median_on_line(view: PivotView) -> tuple[Array, Array]:
    """The position of the median of vectors on one line, and half the segment of all medians around it."""
    xp = namespace(view.radius)
    farthest = xp.argmax(view.radius, axis=-1)[..., None, None]
    side = xp.take_along_axis(view.directions, farthest, axis=-2)[..., 0, :]
    place = xp.where(view.active, view.radius * xp.sign(side), xp.full_like(side, float("inf")))
    order = xp.argsort(place, axis=-1, stable=True)
    count = xp.sum(xp.astype(view.active, xp.int64), axis=-1, keepdims=True)
    low = xp.take_along_axis(order, (count - 1) // 2, axis=-1)
    high = xp.take_along_axis(order, count // 2, axis=-1)
    index = xp.arange(view.radius.shape[-1], device=device_of(view.radius))
    share = (xp.astype(index == low, xp.float64) + xp.astype(index == high, xp.float64)) / 2
    gap = xp.take_along_axis(place, high, axis=-1) - xp.take_along_axis(place, low, axis=-1)
    return share * view.radius, gap[..., 0] / 2


def _state(view: PivotView, position: Array) -> MedianState:
    """The state at c + sum_k b_k v_k, b being the position.

    The gradient is sum_k (a b_k - r_k/d_k) v_k; its coefficients vanish one by one at the minimiser, so its norm
    keeps its digits there, which a sum of all cosines would not.
    """
    xp = namespace(position)
    radius = view.radius
    along = _apply(view.directions, position)
    square = xp.sum(position * along, axis=-1)[..., None]
    squares = radius * radius - 2 * radius * along + square
    counted = view.active & (squares > 0)
    distance = xp.sqrt(xp.where(counted, squares, xp.ones_like(squares)))
    inverse = xp.where(counted, 1 / distance, xp.zeros_like(distance))
    gain = (square - 2 * radius * along) / (distance + radius)
    value = xp.sum(xp.where(counted, gain, -radius), axis=-1)
    slope = xp.sum(inverse, axis=-1)[..., None] * position - radius * inverse
    return MedianState(distance, counted, along, square, value, _norm(view, slope))


def _cosines(view: PivotView, state: MedianState) -> Array:
    """<u_j, u_l> for the directions in which the point sees the vectors."""
    xp = namespace(view.radius)
    radius = view.radius
    near = radius * state.along
    inner = radius[..., :, None] * view.directions * radius[..., None, :]
    inner = inner - near[..., :, None] - near[..., None, :] + state.square[..., None]
    cosines = bounded(inner / (state.distance[..., :, None] * state.distance[..., None, :]), -1.0, 1.0)
    both = state.counted[..., :, None] & state.counted[..., None, :]
    return xp.where(both, cosines, xp.zeros_like(cosines))


def _apply(matrix: Array, vector: Array) -> Array:
    return namespace(matrix).matmul(matrix, vector[..., None])[..., 0]


def _norm(view: PivotView, coefficients: Array) -> Array:
    """The length of sum_k coefficients_k v_k."""
    xp = namespace(coefficients)
    return xp.sqrt(bounded(xp.sum(coefficients * _apply(view.directions, coefficients), axis=-1), 0.0, None))


def _median_distance(view: PivotView, state: MedianState) -> Array:
    xp = namespace(view.radius)
    far = xp.full_like(state.distance, float("inf"))
    ordered = xp.sort(xp.where(view.active, state.distance, far), axis=-1)
    count = xp.sum(xp.astype(view.active, xp.int64), axis=-1, keepdims=True)
    return xp.take_along_axis(ordered, count // 2, axis=-1)[..., 0]


def _conjugate_gradients(inverse: Array, cosines: Array) -> Array | None:
    """q with (a I - diag(1/d) C) q = 1, for one large system; None for others, and where it does not converge soon.

    With z = diag(d)^(1/2) q the system is symmetric, (a I - R C R) z = diag(d)^(1/2) 1 with R = diag(d)^(-1/2), and
    R C R has trace a: in many dimensions all its eigenvalues are far below, and a few products are enough.
    """
    if not isinstance(inverse, np.ndarray) or inverse.ndim > 1 or len(inverse) <= native.FEW_VECTORS:
        return None
    root = np.sqrt(inverse)
    total = RIDGE * float(np.sum(inverse))
    rest = np.where(inverse > 0, 1 / np.where(root > 0, root, 1.0), 0.0)
    solution, direction, square = np.zeros_like(rest), rest, float(rest @ rest)
    enough = SOLVED**2 * square
    for _ in range(PRODUCTS):
        image = total * direction - root * (cosines @ (root * direction))
        curvature = float(direction @ image)
        if not curvature > 0:
            return None
        solution = solution + square / curvature * direction
        rest = rest - square / curvature * image
        before, square = square, float(rest @ rest)
        if square <= enough:
            return np.asarray(root * solution)
        direction = rest + square / before * direction
    return None


def _newton(view: PivotView, position: Array, done: Array) -> Array:
    """Newton's method with halving from a point that is below every vector; ``done`` entries stay where they are."""
    xp = namespace(position)
    identity = xp.eye(position.shape[-1], dtype=xp.float64, device=device_of(position))
    state = _state(view, position)
    for _ in range(MOST_STEPS):
        ones = xp.astype(state.counted, xp.float64)
        inverse = ones / state.distance
        cosines = _cosines(view, state)
        # between two clusters of equal weight it is singular: no bend, and every point between them is as good
        share = _conjugate_gradients(inverse, cosines)
        if share is None:
            system = RIDGE * xp.sum(inverse, axis=-1)[..., None, None] * identity - inverse[..., None] * cosines
            system = xp.where(done[..., None, None], identity, system)
            share = xp.linalg.solve(system, ones[..., None])[..., 0]
        pull = share * inverse
        target = pull * view.radius - position * xp.sum(pull, axis=-1)[..., None]
        length = _norm(view, target)
        decrement = state.gradient * length
        unit = _median_distance(view, state)
        # near a cluster the curvature is huge, and a short step alone proves nothing
        last = (length <= TOLERANCE * unit) & ((state.gradient <= 1e-6) | (length <= 1e-15 * unit))
        step = xp.where(done, xp.zeros_like(length), xp.ones_like(length))
        for _ in range(HALVINGS):
            trial = position + step[..., None] * target
            there = _state(view, trial)
            descends = there.value <= state.value - 1e-4 * step * decrement
            settles = (there.gradient < state.gradient) & (there.value <= state.value + 1e-12 * unit)
            accepted = descends | settles | done
            if bool(xp.all(accepted | last)):
                break
            step = xp.where(accepted, step, step / 2)
        position = xp.where((accepted & ~done)[..., None], trial, position)
        done = done | last | ~accepted
        if bool(xp.all(done)):
            break
        state = _state(view, position)
    return position
