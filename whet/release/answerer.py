"""The model that answers for a champion: reached as its run reached it, refused where it is another than was tested."""

from __future__ import annotations

from pathlib import Path

from whet.config.load import validate
from whet.config.schema import EndpointSection, RoleSection
from whet.errors import WhetError
from whet.models.base import Model
from whet.models.load import load_model
from whet.release.champion import Champion
from whet.rollout.cast import model_options


def open_champion(champion: Champion, place: Path, base_url: str = "") -> Model:
    """The champion's own model, for a version that lies in `place`; nothing is called yet. `base_url` is where it is
    served now, where that is elsewhere than at its run's time."""
    target = {**champion.target, "model": champion.address(place)}
    role = validate(RoleSection, target, f"{champion.title} target")
    reached = {**champion.endpoint, **({"base_url": base_url} if base_url else {})}
    endpoint = validate(EndpointSection, reached, f"{champion.title} endpoint")
    model = load_model(role.model, model_options(role, endpoint))
    if model.fingerprint != champion.policy.model:
        raise WhetError(
            f"{champion.title}: {role.model} is another model by now (fingerprint {model.fingerprint[:12]}) than was "
            f"tested ({champion.policy.model[:12]}); put the tested one back, or train and promote anew"
        )
    return model
