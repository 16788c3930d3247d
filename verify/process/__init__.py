"""A check of a claim into somebody else's rule in a process of its own: limited in time and memory, its prints caught.

The parent writes the request to a folder and starts a keeper (``keeper.py``), which starts
``python -m kappaguard.verify.process.worker`` and ends it with all its descendants. The parent reads the verdict back
as JSON and believes of it what a rule can say about itself: no proof. This protects from accidents and from most
mischief, not from all of it: the rule runs with the user's rights.
"""
