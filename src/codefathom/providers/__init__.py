"""Adapters of models that embed, chat or rank."""
