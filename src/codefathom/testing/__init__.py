"""For tests of code that uses or extends Codefathom: contracts of the protocols, and stand-ins that need no model."""

from codefathom.testing.candidate_store import CandidateStoreContract
from codefathom.testing.chat_model import ChatModelContract
from codefathom.testing.embedder import KINDS, EmbedderContract, rows_of
from codefathom.testing.lexical_store import LexicalStoreContract
from codefathom.testing.reranker import RerankerContract
from codefathom.testing.stand_ins import FakeEmbedder, FakeReranker, ScriptedChat
from codefathom.testing.vector_store import VectorStoreContract

__all__ = [
    "KINDS",
    "CandidateStoreContract",
    "ChatModelContract",
    "EmbedderContract",
    "FakeEmbedder",
    "FakeReranker",
    "LexicalStoreContract",
    "RerankerContract",
    "ScriptedChat",
    "VectorStoreContract",
    "rows_of",
]
