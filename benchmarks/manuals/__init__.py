"""Manuals that nothing here was made with: what readers of PDF keep of them, and which pages answers cite."""
