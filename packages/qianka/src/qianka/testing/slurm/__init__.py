"""A real Slurm of several nodes with simulated cards on one machine, for tests and benchmarks.

Needs root, Linux and Debian's packages (slurm-wlm, slurmdbd, munge, mariadb-server). Every cluster has a
folder, ports, node names and accounts of its own, so that two of them can run side by side.

    with Cluster() as cluster:
        cluster.ask("sinfo")

By hand: `python -m qianka.testing.slurm up|down|env`.
"""

from qianka.testing.slurm.cluster import Cluster as Cluster
from qianka.testing.slurm.needs import missing as missing
