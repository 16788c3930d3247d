"""What holds for all tests: they do not know whether a workflow, or a shell in the background, runs them."""

from __future__ import annotations

import os
import signal
import threading

for name in (
    "GITHUB_ACTIONS",
    "KAPPAGUARD_EVALUATIONS",
    "KAPPAGUARD_SEED",
    "KAPPAGUARD_TOLERANCE",
    "CI",
    "BUILD_NUMBER",
):
    os.environ.pop(name, None)

# a job in the background of a shell ignores Ctrl-C, and so would the processes that tests interrupt
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
