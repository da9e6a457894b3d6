"""Client of Throughline.

`Throughline` blocks, `AsyncThroughline` is for asyncio; both have the same methods. Adapters for other libraries are in
modules of their own, which need these libraries: `throughline.langchain`, `.langgraph`, `.openai_agents`, `.llama_index`,
`.pydantic_ai` and `.anthropic`.
"""

from .client import AsyncThroughline, Throughline
from .errors import ApiError, BusyError, ConflictError, ConnectionFailed, NotFoundError, ThroughlineError
from .events import ChatEvent

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncThroughline",
    "BusyError",
    "ChatEvent",
    "ConflictError",
    "ConnectionFailed",
    "NotFoundError",
    "Throughline",
    "ThroughlineError",
    "__version__",
]
