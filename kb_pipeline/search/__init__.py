"""The search index behind one contract: one file per backend."""
