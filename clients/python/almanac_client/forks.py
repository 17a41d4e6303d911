"""Objects that a forked process resets: the threads that held their locks exist only in its parent."""

import os
import weakref


class Forkable:
    """An object with locks, which a forked process replaces."""

    def __init__(self) -> None:
        _objects.add(self)

    def after_fork(self) -> None:
        """Replaces the locks, in the forked process."""
        raise NotImplementedError


_objects: "weakref.WeakSet[Forkable]" = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_objects):
        one.after_fork()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
