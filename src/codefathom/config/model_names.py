"""Names of models, as the settings write them."""

# Without `from __future__ import annotations`: the texts would be compiled again for each named tuple.
from typing import NamedTuple

from codefathom.errors import without_login

BUNDLED = "bundled"
_ON_DISK = ("onnx:", "model2vec:")
_SCHEMES = ("@http://", "@https://")


class ModelAndAddress(NamedTuple):
    """The name of a model, and the address of its server."""

    model: str
    address: str = ""  # "": base_url or the environment has the address


def model_and_address(name: str) -> ModelAndAddress:
    """Take "provider:model@http://host/path" apart; other signs @ belong to the model."""
    places = [place for scheme in _SCHEMES if (place := name.find(scheme)) >= 0]
    if not places:
        return ModelAndAddress(name.strip())
    return ModelAndAddress(name[: min(places)].strip(), name[min(places) + 1 :].strip())


def shown_model(name: str) -> str:
    """Return the name of a model as it may be shown and stored: without the login in its address."""
    if name.startswith(("http://", "https://")):
        return without_login(name).rstrip("/")
    model, address = model_and_address(name)
    return f"{model}@{without_login(address).rstrip('/')}" if address else model


def is_on_disk(name: str) -> bool:
    """Return True if the model is in a folder of this machine, so that no text is sent anywhere."""
    return name.startswith(_ON_DISK)
