"""The pages under `/ui/`: runs, records, comparisons, datasets, the catalog and access, for people with a browser.

What always holds: a page shows only what calls of the API answered for whoever looks at it, made through the same door as
every other call, and it says which calls those were.
"""
