"""Benchmarks of speed, memory, quality and robustness; results and their machines are in ``results/``."""
