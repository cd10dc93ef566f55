"""What an endpoint serves right now, by its own list of models."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from fnmatch import fnmatchcase

from whet.errors import FaultError, WhetError
from whet.models.chat.endpoint import Endpoint, base
from whet.models.chat.json_body import decoded
from whet.models.chat.retry import Trouble
from whet.models.options import ModelOptions
from whet.models.registry import ModelRecord
from whet.models.secrets import key_for


@dataclass(frozen=True, slots=True)
class ServedComparison:
    """A registry beside an endpoint: what is in both, what the endpoint lacks, what the registry does not know."""

    served: tuple[ModelRecord, ...]
    absent: tuple[ModelRecord, ...]
    unknown: tuple[str, ...]


async def served_models(url: str, options: ModelOptions = ModelOptions()) -> tuple[str, ...]:
    """The ids that GET `url`/models lists. A key is sent only where `options` name one."""
    key = key_for(options, "OPENAI_API_KEY", own=False, needed=False)
    endpoint = Endpoint(base(url) / "models", key, options.auth or "bearer", options)
    try:
        answer = await endpoint.get()
        if answer.status != 200:
            said = answer.quote(answer.body.decode("utf-8", "replace"))
            raise WhetError(f"{endpoint.where} answered {answer.status}: {said} Key used: {key.source}.")
        data = decoded(answer.body, answer.quote)
    except Trouble as trouble:
        raise WhetError(f"{endpoint.where}: {trouble.message}") from trouble
    except FaultError as error:
        raise WhetError(str(error.fault)) from error
    finally:
        await endpoint.close()
    listed = data.get("data") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise WhetError(f"{endpoint.where} lists no models: it must answer with data = [...].")
    return tuple(sorted({str(entry["id"]) for entry in listed if isinstance(entry, dict) and "id" in entry}))


def list_served(url: str, options: ModelOptions = ModelOptions()) -> tuple[str, ...]:
    """The same for a caller without a loop."""
    return asyncio.run(served_models(url, options))


def compared(records: tuple[ModelRecord, ...], served: tuple[str, ...]) -> ServedComparison:
    """Ids are compared in any case; a record for every variant of a name is served where one of them is."""

    def names(record: ModelRecord, model: str) -> bool:
        return fnmatchcase(model.lower(), record.id.lower())

    there = tuple(record for record in records if any(names(record, model) for model in served))
    absent = tuple(record for record in records if record not in there)
    unknown = tuple(model for model in served if not any(names(record, model) for record in records))
    return ServedComparison(there, absent, unknown)
