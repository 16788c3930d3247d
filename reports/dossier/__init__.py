"""The dossier of a rule: one folder with a page of verdicts, the numbers behind it, and all witnesses.

Each section is a file below ``sections`` and runs in a process of its own; one that hangs or fails is told as such, and
the others stand.
"""
