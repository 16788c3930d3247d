"""Text that comes from elsewhere, made safe to show."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text of which every character can be seen: what a rule says may hold control sequences."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
