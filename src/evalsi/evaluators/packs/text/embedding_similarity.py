"""Embedding similarity: the angle between the meanings of two texts, as one model sees them.

The model is named by the user and nothing is fetched behind their back: a sentence-transformers name or path, or an
object of their own.
"""

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evalsi.core.errors import MissingExtraError, PluginError, UnknownNameError
from evalsi.core.python_module import load_module
from evalsi.evaluators.api import Record, evaluator, output
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.packs.text.text_pairs import pair_reader


class Embedder(Protocol):
    """What the evaluator asks of a model."""

    def encode(self, texts: list[str]) -> Any:
        """Vectors of the texts, shape (texts, dimensions)."""
        ...


class EmbeddingSimilarityParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model."""

    model: str
    """A sentence-transformers model (local path or name), or `module:object` for an object, or a class without
    arguments, that has `encode(texts)`."""


@evaluator(
    name="embedding-similarity",
    version="1.0.0",
    requires=["output", "reference"],
    params=EmbeddingSimilarityParams,
    outputs=[output("embedding-similarity", low=-1, high=1, description="Cosine of the two embeddings.")],
    example={
        "record": {"output": "The lamp is on.", "reference": "The light is switched on."},
        "params": {"model": "sentence-transformers/all-MiniLM-L6-v2"},
    },
)
class EmbeddingSimilarity:
    """Cosine of the embeddings of answer and reference; the greatest over several references.

    Needs the extra `embeddings` unless `model` is an object of your own. What a cosine means depends on the model: only
    compare numbers of the same one.
    """

    def __init__(self, params: EmbeddingSimilarityParams) -> None:
        self._pair = pair_reader(params)
        self._name = params.model
        self._model: Embedder | None = None
        if ":" in params.model and "/" not in params.model and "\\" not in params.model:
            self._model = _named_object(params.model)
        elif find_spec("sentence_transformers") is None:
            raise MissingExtraError("embedding-similarity", "embeddings")

    def evaluate_batch(self, records: Sequence[Record]) -> list[float]:
        pairs = [self._pair(record) for record in records]
        texts = list({text: None for answer, references in pairs for text in (answer, *references)})
        vectors = dict(zip(texts, _unit_rows(self._loaded().encode(texts)), strict=True))
        return [
            max(float(np.clip(vectors[answer] @ vectors[reference], -1.0, 1.0)) for reference in references)
            for answer, references in pairs
        ]

    def _loaded(self) -> Embedder:
        """The model, loaded at the first record, in the process that uses it."""
        if self._model is None:
            module: Any = importlib.import_module("sentence_transformers")
            loaded: Embedder = module.SentenceTransformer(self._name)
            self._model = loaded
        return self._model


def _named_object(reference: str) -> Embedder:
    place, _, attribute = reference.partition(":")
    try:
        found: Any = getattr(load_module(place), attribute)
    except (PluginError, UnknownNameError, AttributeError) as error:
        raise ValueError(f"`model` {reference!r} cannot be imported: {error}") from None
    model = found() if isinstance(found, type) else found
    if not callable(getattr(model, "encode", None)):
        raise ValueError(f"`model` {reference!r} has no `encode(texts)`")  # noqa: TRY004 - a param is wrong
    return model


def _unit_rows(vectors: Any) -> npt.NDArray[np.float64]:
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
