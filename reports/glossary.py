"""The words of the report and of the documentation, each with its meaning.

``python -m kappaguard.reports.glossary docs`` writes docs/explanation/words.md; the report ends with the same list.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kappaguard.reports.dossier.markdown_text import escaped, table
from kappaguard.rules.base.files import write

TITLE = "Fixing by Mixing: A Recipe for Optimal Byzantine ML under Heterogeneity"
AUTHORS = "Allouah, Farhadkhani, Guerraoui, Gupta, Pinot, Stephan"
VENUE = "AISTATS 2023"

WORDS: dict[str, dict[str, str]] = {
    "The worst case": {
        "n, f, d": "the number of vectors, how many of them are Byzantine (chosen by an adversary), their dimension",
        "rule": "an aggregation rule: from n vectors to one",
        "ratio": "squared distance of the output from the honest mean, over the variance of the honest vectors",
        "kappa*": "the largest ratio of a rule over all inputs and all sets of n - f honest vectors",
        "weight": "how many vectors a worker counts as, such as its number of examples; n and f are then sums",
        "coefficient": "a closed form in n and f that somebody claims to be at least kappa*",
        "lost": "the coefficient over kappa*'s upper bound: how many times too large it is, at least",
        "f/(n-2f)": "a lower bound on kappa* of every rule, proved in the paper",
        "witness": "an input and a set of honest vectors in rational numbers: a proof that kappa* >= its ratio",
        "certificate": "multipliers that prove kappa* <= a number for all inputs, checked in rational arithmetic",
        "cell": "the inputs on which a rule makes the same choices (whom it selects, what it trims)",
        "criterion": "what stands for the variance in the ratio, which is the trace unless another is named: the "
        "largest eigenvalue of the covariance (spectral), the squared diameter, or f/n of it (pairwise)",
        "exact": "the status of two bounds on kappa* that are within 1e-6 of each other, relatively; they need not be "
        "equal",
        "bracket": "the status of two bounds that are farther apart",
        "lower": "the status of a lower bound without an upper one",
        "infinite": "the status of a rule that an input without variance moves away from the honest mean",
    },
    "Verdicts": {
        "claim": "one statement, of the paper or of ours, with a program that checks it",
        "proved": "there is a proof, and it was checked",
        "refuted": "there is a witness, and it was evaluated again before anything was said",
        "open": "neither, within a stated number of evaluations",
        "scope": "what 'proved' rests on: a proof for all n and f whose algebra is checked for all sizes (algebra) or "
        "that is run on instances (instances), certificates up to a size (certified), or one finite setting (setting)",
        "kind": "what a refutation is about: the statement itself (theorem), a step of a proof whose result stands "
        "(proof step), what is printed but not meant (misprint), one reading of the text (reading), or something that "
        "the paper does not assume (outside)",
        "tightness": "the computed number over the stated one, where the statement is tightest or fails worst: at most "
        "1 if 'at most' is stated and holds, at least 1 for 'at least', 1 for 'equal'; 1 if the statement cannot be "
        "improved",
    },
    "Rules": {
        "CWTM": "cwtm, coordinate-wise trimmed mean: without the f smallest and the f largest values",
        "CWMed": "cwmed, coordinate-wise median",
        "GM": "gm, geometric median: the point with the smallest sum of distances to the vectors",
        "Krum": "krum: the vector with the smallest sum of squared distances to its n - f nearest, itself among them",
        "MultiKrum": "multikrum: the mean of the n - f vectors that Krum likes best",
        "MDA": "mda, minimum diameter averaging: the mean of the n - f vectors with the smallest diameter",
        "MeaMed": "meamed, mean around the median: per coordinate, the mean of the n - f values nearest to the median",
        "NNM": "nnm, nearest-neighbour mixing, put in front of a rule: every vector is replaced by the mean of its "
        "n - f nearest, itself among them",
        "Bucketing": "bucketing, put in front of a rule: the vectors are replaced by the means of random groups of s",
        "ARC": "arc, adaptive robust clipping, put in front of a rule: the longest vectors are scaled down",
    },
    "Training": {
        "D-GD": "distributed gradient descent, Algorithm 1 of the paper; robust with a robust rule at the server",
        "D-SHB": "distributed stochastic heavy ball: D-GD with noisy gradients and momentum, Algorithm 2 of the paper",
        "L_H": "the mean of the losses of the honest workers, which training wants to make small",
        "G": "heterogeneity: the mean squared distance of honest gradients from their mean is at most G^2",
        "kappa-hat": "of one step of training, in the paper: the square root of the ratio; here the ratio is shown",
        "eta": "how far an attack goes: the Byzantine workers send honest mean + eta times a direction",
        "ALIE": "A Little Is Enough: the direction is the standard deviation per coordinate, eta the worst one",
        "FOE": "Fall of Empires: the direction is minus the honest mean, eta the worst one",
        "SF": "sign flipping: minus the honest mean is sent, which is FOE with eta = 2",
        "LF": "label flipping: the Byzantine workers learn from label 9 - l instead of l",
        "Mimic": "the Byzantine workers copy one honest worker",
    },
}


def words_page() -> str:
    """The page of the documentation."""
    lines = [
        "# Words",
        "",
        "Written by `python -m kappaguard.reports.glossary docs`. The paper is",
        f"*{TITLE}*",
        f"({AUTHORS}, {VENUE}).",
    ]
    for title, words in WORDS.items():
        rows = [[escaped(word), escaped(meaning)] for word, meaning in words.items()]
        lines += ["", f"## {title}", "", *table(["word", "means"], rows)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]) / "explanation" / "words.md", words_page())
