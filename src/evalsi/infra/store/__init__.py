"""The embedded store: one SQLite file that several processes share.

`run_store` implements the port, `database` owns the file and its transactions, `migrations` the schema, `writer` tells
a writer that died from one that works, `sqlite_faults` turns SQLite's errors into ours, `run_archive` carries one run
from store to store.
"""

from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.run_store import SqlRunStore, open_run_store

__all__ = ["SqlRunStore", "StoreOptions", "open_run_store"]
