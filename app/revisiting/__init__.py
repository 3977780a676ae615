"""Compares a stored answer with the knowledge base of now: its references, and what would be answered now.

differences   how one text became another, in lines and words
sections      whether a cited section still stands in its article, and what stands there instead
references    the stale references of a conversation, found with one look-up of its citations
asking_again  what would be answered now to the question of a stored answer
terminal      prints both answers
"""
