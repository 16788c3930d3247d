"""The dossier as one HTML page that needs nothing else, made from the Markdown page: the two cannot disagree.

What is read is the Markdown that ``page`` writes and no more: headings, lists and paragraphs of one line, tables,
links, pictures, code and bold. Every character is escaped here again, whatever it was in Markdown.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

from kappaguard.reports.pictures.figure import Picture
from kappaguard.reports.typesetting import typeset

MARKED = re.compile(
    r"\\(?P<plain>.)|`(?P<code>[^`]*)`|\*\*(?P<bold>(?:\\.|[^*])*)\*\*|\[(?P<text>(?:\\.|[^\]])*)\]\((?P<target>[^)\s]*)\)",
    re.DOTALL,
)
CELLS = re.compile(r"(?<!\\)\|")
PICTURE = re.compile(r"!\[.*\]\(\w+/(\w+)\.svg\)")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html_page(text: str, pictures: Mapping[str, Picture]) -> str:
    """The page of a Markdown text; pictures are named by their files."""
    lines = text.splitlines()
    title = _spans(lines[0].removeprefix("# "))
    sections = [line[3:] for line in lines if line.startswith("## ")]
    links = " · ".join(f'<a href="#{_anchor(each)}">{_spans(each)}</a>' for each in sections)
    style = files("kappaguard.reports").joinpath("templates/style.css").read_text(encoding="utf-8")
    drawn = {picture.name: picture for picture in pictures.values()}
    body = "\n".join(_blocks(lines[1:], drawn))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{re.sub('<[^>]*>', '', title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{title}</h1></header>\n<nav>{links}</nav>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _blocks(lines: list[str], pictures: Mapping[str, Picture]) -> Iterator[str]:
    """Line by line; tables and lists are runs of lines."""
    kind, run = "", list[str]()
    for line in [*lines, ""]:
        here = "table" if line.startswith("|") else "list" if line.startswith("- ") else ""
        if run and here != kind:
            yield _table(run) if kind == "table" else _list(run)
            run = []
        kind = here
        if here:
            run.append(line)
        elif line.startswith("## "):
            yield f'<h2 id="{_anchor(line[3:])}">{_spans(line[3:])}</h2>'
        elif match := PICTURE.fullmatch(line):
            yield f'<figure class="picture"><div class="canvas">{pictures[match[1]].svg}</div></figure>'
        elif line:
            yield f"<p>{_spans(line)}</p>"


def _list(lines: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{_spans(line[2:])}</li>" for line in lines) + "</ul>"


def _table(lines: list[str]) -> str:
    heading, _, *rows = [[_spans(cell.strip()) for cell in CELLS.split(line)[1:-1]] for line in lines]
    head = "".join(f"<th>{cell}</th>" for cell in heading)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _spans(text: str) -> str:
    """A line with its code, bold text and links; all else is escaped, and set with the signs of formulas."""
    shown, place = [], 0
    for match in MARKED.finditer(text):
        shown.append(_plain(text[place : match.start()]))
        place = match.end()
        if match["plain"] is not None:
            shown.append(_plain(match["plain"]))
        elif match["code"] is not None:
            shown.append(f"<code>{html.escape(match['code'].replace(chr(92) + '|', '|'))}</code>")
        elif match["bold"] is not None:
            shown.append(f"<b>{_spans(match['bold'])}</b>")
        else:
            shown.append(_link(match["text"], match["target"]))
    return "".join([*shown, _plain(text[place:])])


def _link(text: str, target: str) -> str:
    """A link into the folder of the page, and nowhere else."""
    if ":" in target or target.startswith("/"):
        return _spans(text)
    return f'<a href="{html.escape(target)}">{_spans(text)}</a>'


def _plain(text: str) -> str:
    return html.escape(typeset(text))
