"""What the command line answers, in this process."""

from __future__ import annotations

from kappaguard.cli import main


def told(capsys, *arguments):
    status = main([str(each) for each in arguments])
    output, complaint = capsys.readouterr()
    assert "Traceback" not in output
    return status, output, complaint
