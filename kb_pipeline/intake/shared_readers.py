"""Names of who may read; and who may read what several rules restrict at once: whoever all of them let read.

An article names users and groups, any of which suffices. So a group that only one rule names is kept if all of its
members may read by the others, or else its members who may.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator

from kb_pipeline.steps.metadata import checked_readers

Names = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(checked_readers(names)))]
"""Of users and groups, as they are declared."""


@dataclass(frozen=True)
class Rule:
    """Users and groups by their ids; it lets each of them read, and nobody else."""

    users: frozenset[str] = field(default_factory=frozenset)
    groups: frozenset[str] = field(default_factory=frozenset)


def readers_by(rules: Sequence[Rule], members_of: Callable[[str], frozenset[str]]) -> Rule:
    """The users and groups that may read by all of the rules; each reader of an article is one of its last rule."""
    *others, nearest = rules

    def may(user: str) -> bool:
        return all(
            user in rule.users or any(user in members_of(group) for group in sorted(rule.groups)) for rule in others
        )

    users, groups = {user for user in nearest.users if may(user)}, set[str]()
    for group in sorted(nearest.groups):
        if all(group in rule.groups for rule in others):
            groups.add(group)
            continue
        members = members_of(group)
        allowed = {user for user in members if may(user)}
        if allowed and allowed == members:
            groups.add(group)
        else:
            users |= allowed
    return Rule(frozenset(users), frozenset(groups))
