"""Question sets that others published with their results, asked of ours."""
