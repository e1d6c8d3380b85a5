"""The store of traces in memory passes the suite of all of them, so that tests above it meet the real rules."""

import pytest

from evalsi.ports.trace_store import TraceStore
from evalsi.testing.memory_trace_store import MemoryTraceStore
from evalsi.testing.trace_store_suite import TraceStoreSuite


class TestMemoryTraces(TraceStoreSuite):
    @pytest.fixture
    def traces(self) -> TraceStore:
        return MemoryTraceStore()
