"""An inquiry into somebody else's rule in a process of its own: limited in time and memory, its prints caught.

The parent writes the request to a folder, starts ``python -m kappaguard.verify.sandbox.worker`` in a process group of
its own, and reads the verdict back as JSON. What hangs is killed with all of its group. This protects from accidents,
not from malice: the rule runs with the user's rights, and a process that leaves the group outlives the check.
"""
