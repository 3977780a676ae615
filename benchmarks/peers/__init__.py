"""What others would use instead, set up as their documentation says, measured beside us in one run.

The peers live in `.venv-peers` (made by `setup.sh`), each in a process of its own (`worker.py`); `ours.py` is their
counterpart in our own environment.
"""
