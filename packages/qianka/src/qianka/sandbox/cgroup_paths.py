"""Where this process may make control groups: pure reading of /proc/self/{cgroup,mounts}.

Two layouts exist: version 1, each controller in a hierarchy of its own, and version 2, one for all.
A machine may show both; version 2 counts only where it holds the memory controller.
"""

from __future__ import annotations

import os

from qianka.sandbox import small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

V1_NEEDED = ("memory", "pids")
V1_WANTED = ("memory", "pids", "cpu", "cpuacct")


class Layout:
    """Version (1, 2 or 0 for none), and our own group's folder by controller ("" for version 2)."""

    def __init__(self, version: int, folders: dict[str, str]) -> None:
        self.version = version
        self.folders = folders


def find(root: str = "/") -> Layout:
    """The layout of the machine whose file system is at `root` (tests give a recorded one)."""
    try:
        own = own_paths(small.read(os.path.join(root, "proc/self/cgroup")))
        mounted = mount_points(small.read(os.path.join(root, "proc/self/mounts")))
    except OSError:
        return Layout(0, {})
    if "" in mounted:
        folder = _inside(root, mounted[""], own.get("", "/"))
        try:
            controllers = small.read(os.path.join(folder, "cgroup.controllers")).split()
        except OSError:
            controllers = []
        if "memory" in controllers:
            return Layout(2, {"": folder})
    folders = {name: _inside(root, mounted[name], own[name]) for name in V1_WANTED if name in mounted and name in own}
    if all(name in folders for name in V1_NEEDED):
        return Layout(1, folders)
    return Layout(0, {})


def own_paths(text: str) -> dict[str, str]:
    """Controller → path of our group, from /proc/self/cgroup; "" is version 2."""
    paths = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


def mount_points(text: str) -> dict[str, str]:
    """Controller → where its hierarchy is mounted, from /proc/self/mounts; "" is version 2."""
    points: dict[str, str] = {}
    for line in text.splitlines():
        _, point, kind, options = line.split(" ")[:4]
        point = point.replace("\\040", " ").replace("\\134", "\\")
        if kind == "cgroup2":
            points.setdefault("", point)
        elif kind == "cgroup":
            for controller in options.split(","):
                points.setdefault(controller, point)
    return points


def _inside(root: str, point: str, path: str) -> str:
    folder = os.path.join(root, point.lstrip("/"), path.lstrip("/")).rstrip("/")
    # In a container the path is often the host's, while only the container's own part is mounted.
    return folder if os.path.isdir(folder) else os.path.join(root, point.lstrip("/")).rstrip("/")


def numbers(text: str) -> dict[str, Any]:
    """A flat keyed file such as memory.events: name → number."""
    pairs = [line.split() for line in text.splitlines()]
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].lstrip("-").isdigit()}
