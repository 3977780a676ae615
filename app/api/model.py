"""Routes for the language model: which one words answers, and trying and choosing another while the service runs."""

from fastapi import APIRouter

from app.api.contributions import Calling
from app.api.gate import TheService
from app.schema.models import ModelAddress, ModelChoice, ModelInUse, ModelTrial

router = APIRouter(prefix="/api/model", tags=["service"])


@router.get("")
async def model(service: TheService, caller: Calling) -> ModelInUse:
    """What words answers now, and whether the caller may choose another model."""
    may_choose = service.chosen_model.may_choose(caller.who, is_local=caller.is_local)
    return service.chosen_model.in_use(service.answerer, may_choose=may_choose)


@router.post("/trial")
async def trial(address: ModelAddress, service: TheService, caller: Calling) -> ModelTrial:
    """Try a model with three small requests. Nothing is kept of it, and no other model is used."""
    service.chosen_model.check_administrator(caller.who, is_local=caller.is_local)
    settings = await service.chosen_model.settings_for(address, is_local=caller.is_local)
    from app.model.trial import try_model  # with the model's packages, which a service without a model lacks

    return await try_model(settings)


@router.put("")
async def choose(choice: ModelChoice, service: TheService, caller: Calling) -> ModelInUse:
    """Let this model word the answers of all, until the service ends. The key is kept in memory only."""
    service.chosen_model.check_administrator(caller.who, is_local=caller.is_local)
    await service.chosen_model.use(choice, caller.who, is_local=caller.is_local)
    return service.chosen_model.in_use(service.answerer, may_choose=True)


@router.delete("")
async def forget(service: TheService, caller: Calling) -> ModelInUse:
    """Answer as the settings say again."""
    service.chosen_model.check_administrator(caller.who, is_local=caller.is_local)
    await service.chosen_model.forget(caller.who)
    return service.chosen_model.in_use(service.answerer, may_choose=True)
