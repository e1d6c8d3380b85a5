"""What can be under evaluation, each behind `evalsi.ports.Target`; `make_target` builds the one that a spec describes.

`models`: a language model · `http`: an agent behind a URL · `python`: a callable · `command`: a program · `recorded`:
answers from a file. Nothing is imported before it is needed.
"""
