"""The application whose OpenAPI document describes every field."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from fastapi import FastAPI

from codefathom.server.http.api_page import api_page
from codefathom.server.http.field_texts import describe


class DescribedApi(FastAPI):
    """FastAPI with a document in which no field lacks its description, and that document as a page."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if not self.openapi_schema:
            describe(super().openapi())
        return super().openapi()

    @cached_property
    def api_page(self) -> str:
        """The document as HTML."""
        return api_page(self.openapi())
