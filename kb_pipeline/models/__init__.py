"""Models behind small contracts: one file per backend."""
