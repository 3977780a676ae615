"""How good the diagnosis of networks is: a simulator with known causes, and data that nobody of this project made."""
