"""The sections of scripts/bench_large.py, a file each."""
