"""A model's folder on this disk: its files, its tokenizer, and a name that changes with its content.

Nothing is ever downloaded; an error names each missing file.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from hashlib import blake2b
from types import ModuleType
from typing import Any

from codefathom.errors import ProviderError
from codefathom.system.extras import install_line
from codefathom.text.foreign_json import read_json

EXTRA = install_line("onnx")
TOKENIZER = "tokenizer.json"
_SAMPLE = 1 << 16  # bytes at either end of a large file that tell it from another one


class ModelFolder:
    """The folder of a model. Raises ProviderError if there is no such folder."""

    def __init__(self, path: str) -> None:
        if not os.path.isdir(path):
            raise ProviderError(f"no such folder: {path!r}", hint="name the folder into which the model was downloaded")
        self.path = path

    @property
    def name(self) -> str:
        """Name of the folder; in a cache of Hugging Face, which names folders by revision, the name of the model."""
        parent, name = os.path.split(os.path.normpath(self.path))
        if os.path.basename(parent) == "snapshots":
            return os.path.basename(os.path.dirname(parent)).removeprefix("models--").replace("--", "/")
        return name

    def file(self, *names: str) -> str:
        """Return the path of the first of these files that exists, "" if none does."""
        paths = (os.path.join(self.path, *name.split("/")) for name in names)
        return next(filter(os.path.isfile, paths), "")

    def json(self, name: str) -> Mapping[str, Any]:
        """Return an object that a file holds, empty without the file. Raises ProviderError when it holds no object."""
        path = self.file(name)
        if not path:
            return {}
        try:
            with open(path, "rb") as file:
                content = read_json(file.read())
        except (OSError, ValueError) as error:
            raise ProviderError(f"cannot read {path!r}: {error}", hint="download the model again") from error
        # modules.json is a list.
        return content if isinstance(content, dict) else {"": content}

    def tokenizer(self, max_tokens: int, *files: str) -> Any:
        """Return the tokenizer, which cuts a text after `max_tokens` and adds no padding. Raises ProviderError."""
        path = self.file(*files, TOKENIZER)
        if not path:
            raise ProviderError(
                f"there is no {TOKENIZER} in {self.path!r}", hint="download it from the same place as the model"
            )
        try:
            tokenizer = library("tokenizers").Tokenizer.from_file(path)
            tokenizer.no_padding()
            tokenizer.enable_truncation(max_tokens)
        except ProviderError:
            raise
        except Exception as error:  # the library raises nothing narrower
            raise ProviderError(f"cannot use {path!r}: {error}", hint="download the model again") from error
        return tokenizer

    def fingerprint(self, *paths: str, more: object = "") -> str:
        """Return a short hash of files (of large ones only both ends and the size) and of `more`."""
        digest = blake2b(repr(more).encode("utf-8", "surrogatepass"), digest_size=4)
        for path in paths:
            try:
                size = os.path.getsize(path)
                with open(path, "rb") as file:
                    digest.update(b"%d" % size)
                    digest.update(file.read(_SAMPLE))
                    file.seek(max(size - _SAMPLE, 0))
                    digest.update(file.read())
            except OSError as error:
                raise ProviderError(
                    f"cannot read {path!r}: {error.strerror}", hint="check that you may read it"
                ) from error
        return digest.hexdigest()


def library(name: str) -> ModuleType:
    """Import a library of an extra. Raises ProviderError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ProviderError(f"a model on this disk needs the library {name!r}: {error}", hint=EXTRA) from error
