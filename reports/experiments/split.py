"""The picture of a split as in the paper: a circle per worker and class, its area the number of samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CELL = 26
MARGIN = 46


def picture(table: NDArray[np.int64], title: str) -> str:
    """An SVG of the counts (workers, classes)."""
    workers, classes = table.shape
    width, height = MARGIN + CELL * workers + 10, MARGIN + CELL * classes + 34
    largest = max(1, int(table.max()))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="11" role="img" aria-label="{_escaped(title)}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{MARGIN}" y="18" font-size="13">{_escaped(title)}</text>',
    ]
    for label in range(classes):
        y = MARGIN + CELL * label
        parts.append(f'<text x="{MARGIN - 18}" y="{y + 4}" text-anchor="end">{label}</text>')
        for worker in range(workers):
            count = int(table[worker, label])
            if count:
                radius = CELL / 2 * (count / largest) ** 0.5
                x = MARGIN + CELL * worker
                parts.append(
                    f'<circle cx="{x}" cy="{y}" r="{radius:.2f}" fill="#3465a4" fill-opacity="0.75">'
                    f"<title>worker {worker}, class {label}: {count}</title></circle>"
                )
    bottom = MARGIN + CELL * classes
    parts += [
        f'<text x="{MARGIN + CELL * worker}" y="{bottom}" text-anchor="middle">{worker}</text>'
        for worker in range(workers)
    ]
    parts.append(f'<text x="{MARGIN}" y="{bottom + 20}">worker (rows: class)</text></svg>')
    return "\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
