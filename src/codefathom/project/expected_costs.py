"""The expected time, size and cost of an index run."""

from __future__ import annotations

from dataclasses import replace

from codefathom.config.model_names import is_on_disk, shown_model
from codefathom.index.forecast import expected
from codefathom.project.opening import OpenedProject, index_model, is_slow
from codefathom.types import Forecast, IndexReport


def forecast(opened: OpenedProject, report: IndexReport) -> Forecast:
    """Return the expected time, size and cost of the run of a dry run's report."""
    settings = opened.place.settings
    name = settings.embed.model if is_slow(settings) else ""
    run = expected(report, opened.catalog, shown_model(name))
    # The common prices are those of language models: an embedding model has a price only by its name.
    by_name = settings.llm._replace(prompt_price=0.0, completion_price=0.0)
    sent = [(by_name.prices_of(name), run.embedding_tokens)] if name and not is_on_disk(name) else []
    sent += [(settings.llm.prices_of(index_model(settings)), report.for_model.n_tokens)]
    costs = [prices.cost((n_tokens, 0)) for prices, n_tokens in sent if n_tokens]
    sums = [cost for cost in costs if cost is not None]
    return replace(run, cost=sum(sums) if sums and len(sums) == len(costs) else None)
