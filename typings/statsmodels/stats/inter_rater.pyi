# A library without types that tests compare with. To infer its types from its source costs more than all of ours.
from typing import Any

def __getattr__(name: str) -> Any: ...
