"""The way out of a sandbox: what may be reached, the proxy that decides, and its end of the cell's connection."""

from evalsi.infra.sandbox.egress.allowlist import Allowlist
from evalsi.infra.sandbox.egress.proxy import EgressOptions, EgressProxy
from evalsi.infra.sandbox.egress.relay import EgressRelay

__all__ = ["Allowlist", "EgressOptions", "EgressProxy", "EgressRelay"]
