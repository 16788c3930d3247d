"""The graph of claims: who stands where, and what is drawn."""

from __future__ import annotations

import re

import pytest

from kappaguard.reports.graph import columns, graph_page, linked


def claim(name: str, *rests_on: str) -> dict[str, object]:
    return {"name": name, "rests_on": list(rests_on), "verdict": "proved", "statement": f"<{name}>"}


def test_a_claim_stands_to_the_right_of_all_that_it_uses():
    claims = [claim("c", "b", "a"), claim("b", "a"), claim("a"), claim("alone"), claim("d", "missing")]
    assert linked(claims) == [("c", "b"), ("c", "a"), ("b", "a")]
    assert columns(claims) == [["a"], ["b"], ["c"]]


def test_the_page_has_a_node_for_each_and_an_arrow_for_each_pair():
    text = graph_page([claim("c", "b", "a"), claim("b", "a"), claim("a")])
    assert set(re.findall(r'href="index.html#claim-(\w+)"', text)) == {"a", "b", "c"}
    assert text.count('class="arrow"') == 3
    assert "&lt;a&gt;" in text
    assert "<c>" not in text


def test_a_circle_is_told():
    with pytest.raises(ValueError, match="rest on each other"):
        columns([claim("a", "b"), claim("b", "a")])
