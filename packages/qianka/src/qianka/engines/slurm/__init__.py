"""Slurm: jobs go to an existing cluster; its own queue decides when and where they run."""
