"""The judge of certificates: what a tree of decisions with multipliers proves about a recipe.

**What is claimed.** A recipe maps vectors x_1, ..., x_n to an output F. For every S of n - f workers (S contains the
trusted worker, if there is one) and every x, ||F - mean_S||^2 <= upper * V, with V the variance over S. Nothing of a
recipe depends on the numbers of the workers but its pivot, so S are the first n - f workers and the pivot is whoever
a fact says. Ties may be resolved in any way: what is proved holds for all of them.

**State.** With x comes everything that the recipe decides: the mixed vectors, who is picked, and for every round a
threshold t between the scores of those taken and those left (for a subset, its diameter). A node is a set of facts; it
claims the bound for all states in which the facts are true. A state can be permuted: workers of S among themselves, the
others among themselves; the result is a state again, with the same V and the same error.

**Trusted here, and nothing else:** the meaning of a recipe (``inequalities``), that a disjunction is exhaustive
(``cases``), exact elimination (``is_semidefinite``), and these lemmas.

1. *Roles.* If exchanging two workers leaves the facts alone, they have the same role. Permutations within roles map
   states of the node to states of the node. So if g >= 0 in all of them, the average of g over all these permutations
   is not negative either, and error and V are averages of themselves. It is enough that upper * V - error - sum of
   mu_k g_k, averaged, is a non-negative form (``forms``), with all mu_k >= 0.
2. *Cases.* If a disjunction holds in every state of a node, the node follows from its cases; of cases that differ by
   a permutation within roles one is enough. A case follows from another node if a permutation maps its facts to a set
   that contains all facts of that node.
3. *Lead.* Let the workers O have one role and the same weight in the output, and let e be the direction of the error.
   Put the vector of that worker a of O for which <v, e> is largest in place of every vector of O: the error does not
   shrink, ||error|| = <error, e> <= <error', e> <= ||error'||. By symmetry a is any worker of O that is named.
4. *Free rows.* Let y_i be the mean of the k vectors N_i nearest to v_i, T any k workers, R = N_i \\ T, Q = T \\ N_i,
   both of size r <= min(k, n - k); no vector of R is farther from v_i than one of Q. Then k ||y_i - v_i||^2 <= sum
   over N_i of ||v_j - v_i||^2 <= sum over T ("reach"). And k (y_i - mean_T) = sum over R of (v_j - v_i) - sum over Q
   of (v_j - v_i), whose length is at most twice the sum of lengths over Q, so k^2 ||y_i - mean_T||^2 <= 4 r sum over
   T of ||v_j - v_i||^2 ("drift").
5. *Free rows together.* Let M be k workers and K part of M. With R_i, Q_i as above for T = M, k (y_i - mean_M) is 1/r
   times the sum of b - v_j over R_i x Q_i, so k^2 ||y_i - mean_M||^2 is at most the sum of ||b - v_j||^2 over R_i x
   Q_i. Fix b outside M and sum over the i in K that have b in N_i. A pair {i, j} of M at distance D occurs as (i, j),
   and then ||b - v_i|| <= D and ||b - v_j|| <= 2 D; or as both (i, j) and (j, i), and then both are at most D. So it
   adds at most 4 D^2, and only if i or j is in K: k^2 sum over K of ||y_i - mean_M||^2 <= 4 (n - k) sum of D^2 over
   pairs touching K.
6. *Two free rows.* For i, l in M, with g = n - k >= 1 vectors outside M and V the variance of M:
   ||y_i - y_l||^2 <= 4 (g + 1)^2 / k V, and k^2 V is the sum of squared distances over pairs of M. Let R_i, Q_i be as
   in 5, p = |R_i \\ R_l|, q = |R_l \\ R_i|, r = |R_i and R_l|, so that p + q + r <= g. Then k (y_i - y_l) = sum over
   R_i \\ R_l of (b - v_i) - sum over R_l \\ R_i of (b - v_l) + h, where h = p v_i - q v_l - sum over Q_i \\ Q_l of v
   + sum over Q_l \\ Q_i of v. A b in R_i is no farther from v_i than any v_j, j in Q_i, so ||b - v_i||^2 is at most
   the mean of ||v_i - v_j||^2 over Q_i; the largest eigenvalue of the Laplacian of a star with t leaves is t + 1, so
   the sum over Q_i is at most (|Q_i| + 1) k V, and ||b - v_i||^2 <= (1 + 1/(p+r)) k V. So the first two sums are at
   most (p^2 + p)^(1/2) + (q^2 + q)^(1/2) times (kV)^(1/2); the roots are at most p + 1/2 and q + 1/2, and 0 if p or q
   is. The coefficients of h add up to 0, so ||h||^2 is at most kV times the sum of their squares, at most p^2 + q^2 +
   3p + 3q + 2r (v_i may be in Q_l, and v_l in Q_i). If p, q >= 1: pq >= p + q - 1, so with s = p + q the squares are
   at most s^2 + s + 2 + 2r <= g^2 + g + 2 <= (g+1)^2, and the whole at most (s + 1) + (g + 1) <= 2g + 2. If q = 0: r
   = 0 (then Q_l is empty: p^2 + p), or p^2 + 3p + 2r with p <= g - r and r >= 1; both are at most g^2 + g, and the
   whole is at most (g + 1/2) + (g + 1).
7. *Free rows in directions.* For any vectors p_i of M, with S = g sum |p_i|^2 + sum over entries c of (A_c^2 + B_c^2),
   A_c and B_c the sums of the positive and of the negative p_ic: k sum of <p_i, y_i - mean_M> <= 2 (g k V S)^(1/2); the
   proof is in ``mixed``. For p_i = u + w_i on K and 0 elsewhere, the w_i of sum zero and s = |K|: A - B = s u_c and
   A + B <= (s sum p_ic^2)^(1/2), so S <= (g + s) s |u|^2 + (g + s/2) sum |w_i|^2. With z the mean of y over K, u =
   (z - mean_M) / (g + s) and w_i = (y_i - z) / (g + s/2) this says that s ||z - mean_M||^2 / (g + s) + sum over K of
   ||y_i - z||^2 / (g + s/2) is at most 4 g V / k ("directed").
"""
