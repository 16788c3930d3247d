"""Rules of other libraries and of users, taken as they are and made safe to test.

``resolve`` turns a name such as ``byzfl:Krum``, ``package.module:attribute`` or ``path/to/file.py:attribute``, or
any callable, torch module or peer object, into an ``Adapted`` rule. No peer is imported before it is asked for.
"""

from kappaguard.rules.foreign.adapted import Adapted, Outcome, PreAdapted
from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.grammar import split_pipeline

__all__ = ["Adapted", "Outcome", "PreAdapted", "resolve", "split_pipeline"]
