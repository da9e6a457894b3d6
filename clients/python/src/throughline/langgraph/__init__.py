"""LangGraph: a checkpointer and a store on a Throughline server.

    graph = builder.compile(checkpointer=ThroughlineSaver(), store=ThroughlineStore())
"""

from .checkpoint import ThroughlineSaver
from .store import ThroughlineStore

__all__ = ["ThroughlineSaver", "ThroughlineStore"]
