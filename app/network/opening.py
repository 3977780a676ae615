"""Opens the way of investigating that the settings name."""

from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.library.retrieval import Retrieval
from app.network.base import Investigator
from app.network.by_rules import Case, RulesInvestigator
from app.network.knowledge import KnowledgeSearch
from app.network.served import Network
from app.settings import AppSettings
from kb_pipeline.network.opening import limits_of
from kb_pipeline.settings import Settings


def open_investigator(
    settings: AppSettings,
    knowledge_base: Settings,
    network: Network,
    retrieval: Retrieval,
    who: Principal,
    book: CitationBook,
) -> Investigator:
    """Whoever investigates one alert for a person; passages of runbooks and tickets join the book.

    The model's packages are imported only if it takes part.
    """
    store, scenario = network.store, network.folder
    knowledge = KnowledgeSearch(retrieval, who, scenario.scenario.name, book)
    minutes = knowledge_base.window_minutes
    rules = RulesInvestigator(store, scenario, minutes, knowledge, also_named=network.also_named)
    if settings.investigating == "rules":
        return rules
    from app.network.by_agents import AgentsInvestigator
    from app.network.specialists import SpecialistTools

    limits = limits_of(knowledge_base)

    def equipment(case: Case) -> SpecialistTools:
        rounds, top = settings.search_rounds, settings.search_top
        return SpecialistTools(store, scenario, limits, retrieval, who, book, case, rounds, top)

    return AgentsInvestigator(settings, rules, equipment)
