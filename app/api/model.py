"""Routes for the language model: which one words answers, and trying and choosing another while the service runs."""

from fastapi import APIRouter, Request

from app.api.gate import TheService, Who
from app.schema import ModelAddress, ModelChoice, ModelInUse, ModelTrial
from app.service import AgentService

router = APIRouter(prefix="/api/model", tags=["service"])


def _is_local(request: Request, service: AgentService) -> bool:
    # behind the hosting platform everybody looks local who sends no identity
    return service.settings.is_only_local and not request.app.state.hosted


@router.get("")
async def model(request: Request, service: TheService, who: Who) -> ModelInUse:
    """What words answers now, and whether the caller may choose another model."""
    may_choose = service.chosen_model.may_choose(who, is_local=_is_local(request, service))
    return service.chosen_model.in_use(service.answerer, may_choose=may_choose)


@router.post("/trial")
async def trial(address: ModelAddress, request: Request, service: TheService, who: Who) -> ModelTrial:
    """Try a model with three small requests. Nothing is kept of it, and no other model is used."""
    is_local = _is_local(request, service)
    service.chosen_model.check_administrator(who, is_local=is_local)
    settings = await service.chosen_model.settings_for(address, is_local=is_local)
    from app.answering.trial import try_model  # with the model's packages, which a service without a model lacks

    return await try_model(settings)


@router.put("")
async def choose(choice: ModelChoice, request: Request, service: TheService, who: Who) -> ModelInUse:
    """Let this model word the answers of all, until the service ends. The key is kept in memory only."""
    is_local = _is_local(request, service)
    service.chosen_model.check_administrator(who, is_local=is_local)
    await service.chosen_model.use(choice, who, is_local=is_local)
    return service.chosen_model.in_use(service.answerer, may_choose=True)


@router.delete("")
async def forget(request: Request, service: TheService, who: Who) -> ModelInUse:
    """Answer as the settings say again."""
    service.chosen_model.check_administrator(who, is_local=_is_local(request, service))
    await service.chosen_model.forget(who)
    return service.chosen_model.in_use(service.answerer, may_choose=True)
