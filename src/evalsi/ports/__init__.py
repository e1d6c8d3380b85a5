"""What evalsi needs from the outside world, as Protocols whose docstrings are the contract. No code."""
