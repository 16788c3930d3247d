"""The one way in which a certificate fails."""

from __future__ import annotations


class Rejected(Exception):
    """The certificate is not a proof; the message says at which place."""


def demand(condition: bool, what: str) -> None:
    """Reject unless the condition holds."""
    if not condition:
        raise Rejected(what)
