"""Speed and memory, measured side by side; results and their machines are in ``results/``."""
