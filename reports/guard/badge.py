"""A badge for a README: what the guard says of all rules together, as an SVG or as JSON for shields.io.

The JSON is that of the endpoint badge, https://shields.io/badges/endpoint-badge.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from kappaguard.verify.guard.verdict import Verdict

LABEL = "kappa*"
COLOURS = {"proved": "#2e7d32", "holds": "#558b2f", "refuted": "#c62828", "unfinished": "#9e9d24", "error": "#616161"}
CHARACTER, PADDING, HEIGHT = 6.6, 12, 20
"""Widths of a character and around a text, and the height, in pixels."""


def message(outcomes: Sequence[Verdict], errors: Sequence[str] = ()) -> tuple[str, str]:
    """What all of them say together, and the colour for it."""
    words = [verdict.verdict for verdict in outcomes]
    refuted = sum(not verdict.holds and verdict.verdict != "unfinished" for verdict in outcomes)
    if refuted:
        return f"{refuted} of {len(words)} refuted", COLOURS["refuted"]
    if errors or not words:
        return "no verdict", COLOURS["error"]
    if "unfinished" in words:
        return "unfinished", COLOURS["unfinished"]
    proved = words.count("proved")
    if proved == len(words):
        return "proved", COLOURS["proved"]
    return f"{proved} proved, {len(words) - proved} not refuted", COLOURS["holds"]


def badge(outcomes: Sequence[Verdict], errors: Sequence[str] = (), *, shields: bool = False) -> str:
    """The badge of some verdicts, as an SVG or as JSON for shields.io."""
    words, colour = message(outcomes, errors)
    if shields:
        data = {"schemaVersion": 1, "label": LABEL, "message": words, "color": colour}
        return json.dumps(data, indent=2) + "\n"
    left, right = (CHARACTER * len(text) + PADDING for text in (LABEL, words))
    texts = [(left / 2, LABEL), (left + right / 2, words)]
    shown = "".join(f'<text x="{x:.1f}" y="14">{text}</text>' for x, text in texts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="{HEIGHT}" role="img" '
        f'aria-label="{LABEL}: {words}"><title>{LABEL}: {words}</title>'
        f'<rect width="{left:.1f}" height="{HEIGHT}" fill="#424242"/>'
        f'<rect x="{left:.1f}" width="{right:.1f}" height="{HEIGHT}" fill="{colour}"/>'
        f'<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{shown}</g>'
        "</svg>\n"
    )
