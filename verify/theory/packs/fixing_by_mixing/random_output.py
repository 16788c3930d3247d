"""Robust D-GD with an output drawn at random, without heterogeneity, and the exact price of Byzantine workers.

Problem: Algorithm 1 with gamma = 1/L and an (f, kappa)-robust F as in Theorem 1, Delta = L_H(theta_0) - L*; m = n - f.
Statements: (1) eq:7: the mean of ||grad L_H(theta_{t-1})||^2 over t = 1..T, which is the expectation for an output
    drawn at random, is at most kappa G^2 + 2 L Delta/T. (2) For G = 0 a stationary point is reached, whatever the
    finite kappa: ||grad L_H(output)||^2 <= 4 L Delta/(3T - 1) with the paper's output. (3) The price of Byzantine
    workers is f/(n-2f) G^2: no algorithm does better (claim proposition-1-improved), and D-GD with CWTM and an output
    drawn at random comes as near as 2 L Delta/T to it. So the 9 of theorem-1-corrected is the price of choosing
    argmin ||R_t||.
Proofs. (1) Smoothness with theta_t = theta_{t-1} - R_t/L gives 2 L (L_H(theta_t) - L_H(theta_{t-1})) <= ||R_t -
    g_{t-1}||^2 - ||g_{t-1}||^2 <= kappa G^2 - ||g_{t-1}||^2; sum and divide by T. (2) If G = 0, the honest gradients
    are equal, so that R_t = g_{t-1}: gradient descent. With b = g_t after a = g_{t-1}, a third point gives
    L (L_H(theta_{t-1}) - L_H(theta_t)) >= 1/2 ||a||^2 + 1/4 ||b||^2 (theorem-1-corrected's docstring, e = 0). The T - 1
    steps give 3/4 of the least ||g||^2 each, the last point 1/2. (3) kappa*(CWTM) = f/(n-2f) (claim closed-form-cwtm)
    in (1).
Computed: the algebra for all T, n and f. (1) is attained: by the median of n = 3 at theta = 1 with the losses
    theta^2/2 +- theta, where the Byzantine worker repeats the message 0 and nothing moves (kappa G^2 = 1), and by one
    step without error on theta^2/2. (2) is attained for every T by a loss on the line whose derivative is 1 minus the
    distance to the next integer, and falls to 0 below 0: every step has length 1 and goes from integer to integer.
    (3) is attained by CWTM at theta = 0 with the losses (theta - z_i)^2/2, z = -1 for f honest workers and 0 for the
    others, if the Byzantine ones pretend z = 1: nothing moves. All runs are in exact arithmetic.
Reference: eq:7 of the proof of Theorem 1; the sentence on G = 0 after Theorem 1; (3) is ours.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

HALF = Fraction(1, 2)


def check_random(effort: Effort, report: Report, floor: Term, gap: Term) -> Finding:
    """The sum over the steps, and a run for either constant."""
    import sympy

    from kappaguard.verify.theory.algebra import demand, require_equal
    from kappaguard.verify.theory.performance.run import Run, replay

    gradient, aggregate, smooth, steps = sympy.symbols("g R L T", positive=True)
    change = -gradient * aggregate / smooth + aggregate**2 / (2 * smooth)
    summed = gap.symbolic() * smooth / steps * change * steps
    require_equal("eq:8, summed", summed, floor.symbolic() * (aggregate - gradient) ** 2 - gradient**2)
    report(1, 2)
    one, count = Fraction(1), effort.choose(200, 1000, 10_000)
    resting = Run("cwmed", 3, 1, one, ((one, one), (one, -one)), one, ((Fraction(0),),) * count)
    rested = replay(resting)
    demand(set(rested.aggregates) == {0}, "nothing moves: all gradients are those at the start")
    bound = rested.bound(resting.kappa, floor(), gap())
    demand(rested.gradient_squared <= bound, "the resting run is within the bound")
    demand(rested.gradient_squared >= bound * (1 - Fraction(1, 100)), "and nearly attains it")
    single = replay(Run("cwmed", 3, 1, one, ((one, Fraction(0)),) * 2, one, ((one,),)))
    demand(single.gradient_squared == single.bound(one, floor(), gap()), "one step without error attains 2 L Delta")
    report(2, 2)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(rested.gradient_squared),
        float(bound),
        f"Both constants are best: a run of {count} steps that does not move leaves no room below the first, one step "
        "without error none below the second.",
    )


def triangular(steps: int) -> tuple[Fraction, Fraction]:
    """The least squared gradient and the gap of the loss of (2), by running gradient descent on it."""
    theta, least, gap = Fraction(steps - 1), Fraction(1), Fraction(0)
    for step in range(steps):
        slope = _slope(theta)
        least = min(least, slope**2)
        after = theta - slope if step < steps - 1 else Fraction(-1)
        gap += _area(after, theta)
        theta = after
    return least, gap


def _slope(theta: Fraction) -> Fraction:
    if theta < 0:
        return max(Fraction(0), 1 + theta)
    part = theta % 1
    return 1 - min(part, 1 - part)


def _area(low: Fraction, high: Fraction) -> Fraction:
    """The integral of the slope, which is linear between multiples of 1/2."""
    points = [low + HALF * step for step in range(int((high - low) / HALF) + 1)]
    return sum((HALF * (_slope(a) + _slope(b)) / 2 for a, b in pairwise(points)), Fraction(0))


def check_homogeneous(effort: Effort, report: Report, gap: Term) -> Finding:
    """The sum over the steps for all T, the loss that attains it, and that every rule with finite kappa* returns g."""
    import sympy

    from kappaguard.verify.theory.algebra import demand, require_equal

    a, b, steps, before, after = sympy.symbols("a b T before after", real=True)
    third = (before + after) / 2 + (b - a) / 2
    above = a * (third - before) + (third - before) ** 2 / 2
    below = b * (third - after) - (third - after) ** 2 / 2
    require_equal("one step", (below - above).subs(before, after + a), a**2 / 2 + b**2 / 4)
    least = (steps - 1) * (sympy.Rational(1, 2) + sympy.Rational(1, 4)) + sympy.Rational(1, 2)
    require_equal("all steps", least, (3 * steps - 1) / gap.symbolic())
    horizons = range(1, effort.choose(20, 60, 200))
    for count in horizons:
        smallest, lost = triangular(count)
        demand(smallest == gap() * lost / (3 * count - 1), f"the triangular loss attains it for T = {count}")
    report(1, 1)
    smallest, lost = triangular(10)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(smallest),
        float(gap() * lost / 29),
        "With equal honest gradients a rule with finite kappa returns them: D-GD is gradient descent. A loss on the "
        f"line attains the bound for every T < {horizons.stop}; shown: T = 10. eq:7 gives 2 L Delta/T.",
        relation="<=",
    )


def check_price(effort: Effort, report: Report, price: Term) -> Finding:
    """The lower bound's worlds, CWTM's kappa* in eq:7, and the run that does not move."""
    import sympy

    from kappaguard.verify.theory.algebra import demand, require_equal
    from kappaguard.verify.theory.coefficients import OURS
    from kappaguard.verify.theory.packs.fixing_by_mixing.byzantine_lower_bound import worlds_of_ours
    from kappaguard.verify.theory.performance.run import Run, replay

    n, f = sympy.symbols("n f", positive=True)
    require_equal("kappa* of CWTM", Term(OURS["cwtm"].expression).symbolic(n, f), price.symbolic(n, f))
    spread = f / (n - f) - (f / (n - f)) ** 2
    require_equal("the run that rests", (f / (n - f)) ** 2 / spread, price.symbolic(n, f))
    most = effort.choose(9, 13, 21)
    pairs = [(size, bad) for size in range(3, most + 1) for bad in range(1, (size + 1) // 2)]
    one = Fraction(1)
    for done, (size, bad) in enumerate(pairs, start=1):
        losses = ((one, one),) * bad + ((one, Fraction(0)),) * (size - 2 * bad)
        kappa = Fraction(bad, size - 2 * bad)
        rested = replay(Run("cwtm", size, bad, kappa, losses, Fraction(0), ((-one,) * bad,) * 3))
        demand(set(rested.aggregates) == {0}, f"nothing moves at n = {size}, f = {bad}")
        paid = rested.gradient_squared / rested.heterogeneity
        demand(paid == price(size, bad), f"the price at n = {size}, f = {bad}")
        demand(worlds_of_ours(size, bad).least_epsilon() == paid, f"which is the least at n = {size}, f = {bad}")
        report(done, len(pairs))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(worlds_of_ours(17, 4).least_epsilon()),
        float(price(17, 4)),
        "No algorithm has less, D-GD with CWTM and an output drawn at random has 2 L Delta/T more at most, and a run "
        f"that does not move has as much, at all {len(pairs)} pairs (n, f) with n <= {most}. Shown: n = 17, f = 4.",
        relation="==",
    )


CLAIMS = (
    Claim(
        "equation-7",
        "E||grad L_H(output)||^2 <= {floor} kappa G^2 + {gap} L (L_H(theta_0) - L*)/T for an output drawn at random",
        "eq:7, in the proof of Theorem 1 (thm:conv-gd)",
        "proved",
        check_random,
        scope="algebra",
        terms={"floor": Term("1"), "gap": Term("2")},
    ),
    Claim(
        "homogeneous",
        "G = 0: ||grad L_H(output)||^2 <= {gap} L (L_H(theta_0) - L*)/(3T-1) for every finite kappa",
        "after Theorem 1 (thm:conv-gd), which has no constant",
        "proved",
        check_homogeneous,
        scope="algebra",
        terms={"gap": Term("4")},
    ),
    Claim(
        "exact-price",
        "The least epsilon of (f, epsilon)-resilience as T grows is {price} G^2, reached by D-GD with CWTM",
        "kappaguard",
        "proved",
        check_price,
        scope="algebra",
        terms={"price": Term("f/(n-2*f)", 0)},
    ),
)
