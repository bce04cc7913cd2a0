"""Jupyter notebooks as plain cells: read, paired with a master, stripped for students.

Standard library only: the same files are mounted in the sandbox of a grading run. Nothing of a notebook is run here.
"""
