"""What runs inside a sandbox: the standard library only, carried in as compiled modules and never importing the rest."""
