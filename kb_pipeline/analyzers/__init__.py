"""HTML and images become markdown and descriptions: one file per analyzer."""
