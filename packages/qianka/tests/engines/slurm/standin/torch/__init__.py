"""A stand-in for torch: what a batch script needs of it, without its gigabyte."""
