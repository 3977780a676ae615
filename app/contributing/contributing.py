"""Contributions, for callers of the service: what each may see and do.

Reviewers (KB_REVIEWERS) see the contributions about articles that they may read, others see their own. An article that
somebody may not read does not exist for them: what they are told of a contribution to it is what they would be told if
there were no such article. What the service hands in by itself is in :mod:`app.contributing.own_findings`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from app.callers.principal import Principal
from app.callers.work_pool import WorkPool
from app.library.articles import ArticleNotFoundError, Articles
from app.library.retrieval import Retrieval
from app.logs.auditing import note
from app.schema.articles import Article, ArticleSummary
from app.schema.contributions import (
    Acceptance,
    ContributionDetails,
    ContributionItem,
    ContributionList,
    NearbyPassage,
    NewContribution,
    NewUpload,
    SimilarContribution,
    UploadedFile,
    UploadRules,
)
from kb_pipeline.contributions.base import STATES, Contribution, ContributionQueue, NearPassage
from kb_pipeline.contributions.neighbours import Double
from kb_pipeline.contributions.placing import Target, ids_in, target_section
from kb_pipeline.contributions.previewing import seen_by_readers
from kb_pipeline.contributions.proposing import Proposal, preview
from kb_pipeline.contributions.review import Review, is_for_another, may_review, readers_in, titles_in
from kb_pipeline.contributions.uploads import NewFile, may_upload, preview_upload, taken
from kb_pipeline.errors import (
    ContributionError,
    ContributionNotFoundError,
    IndexMissingError,
    InvalidArticleIdError,
    KnowledgeBaseError,
    UnreadableArticleError,
)
from kb_pipeline.records import ContributionState
from kb_pipeline.settings import Settings
from kb_pipeline.steps.metadata import read_metadata

_AT_ONCE = 1
"""More would hold up the event loop, as parsing holds Python's lock."""
_MOST_WAITING = 15
"""Proposals whose checks wait, each for an embedding and a search; who comes later is asked to try again."""
_FILES_WAITING = 3
"""Each is in memory, and the one before may take a minute to convert."""

MayRead = Callable[[str], bool]
"""Whether somebody may read an article; an id that no article has may be read by everybody."""


class NotAReviewerError(KnowledgeBaseError):
    """Somebody who is no reviewer, or none for this contribution, wants to accept or reject it."""


class OwnContributionError(NotAReviewerError):
    """A reviewer wants to accept what they proposed themselves."""


class NotAnUploaderError(KnowledgeBaseError):
    """Somebody wants to hand in a file who may not."""


@dataclass(frozen=True)
class Caller:
    """Who asks. ``is_local``: nobody but the user of this machine can reach the service."""

    who: Principal
    is_local: bool = False


class Contributing:
    """Lists, takes, accepts and rejects contributions. All methods block, so the service runs them in ``pool``."""

    def __init__(self, queue: ContributionQueue, retrieval: Retrieval, articles: Articles) -> None:
        self.queue = queue
        self._retrieval = retrieval
        self._articles = articles
        self._staging = retrieval.workspace.staging
        layout = articles.layout
        self._review = Review(queue, self._staging, title_of=titles_in(layout), readers_of=readers_in(layout))
        self.pool = WorkPool("checking contributions", at_once=_AT_ONCE, most_waiting=_MOST_WAITING)
        self.converting = WorkPool("converting uploaded files", at_once=_AT_ONCE, most_waiting=_FILES_WAITING)

    def close(self) -> None:
        """End the work that waits."""
        self.pool.close()
        self.converting.close()

    @property
    def _settings(self) -> Settings:
        return self._retrieval.workspace.settings

    def reviews(self, caller: Caller) -> bool:
        """Whether the caller may accept and reject."""
        return may_review(self._settings.reviewers, _names(caller), is_local=caller.is_local)

    def is_author(self, caller: Caller) -> bool:
        """Whether the caller is named for the articles, to review or to hand in files, or runs the service."""
        return self.reviews(caller) or self.upload_rules(caller) is not None or caller.who.is_operator

    def never_published(self, caller: Caller) -> list[ArticleSummary]:
        """The articles that were never published and that the caller, a reviewer, may read as they are staged."""
        if not self.reviews(caller):
            return []
        may_read = self._reader(caller)
        return [summary for summary in self._articles.never_published() if may_read(summary.article_id)]

    def open_failing(self, article_id: str, caller: Caller) -> Article:
        """Why an article was never published, for its reviewers and for who is at this machine.

        Raises:
            ArticleNotFoundError: there is none such that the caller may read.
        """
        may_open = caller.who == Principal() or (self.reviews(caller) and self._reader(caller)(article_id))
        if not may_open:
            raise ArticleNotFoundError(f"there is no article {article_id[:80]!r}")
        return self._articles.open_failing(article_id)

    def upload_rules(self, caller: Caller) -> UploadRules | None:
        """What files the caller may hand in; ``None`` if none."""
        if not may_upload(self._settings.uploaders, _names(caller), is_local=caller.is_local):
            return None
        return UploadRules(most_bytes=self._settings.upload_bytes, endings=taken())

    def may_accept(self, contribution: Contribution, caller: Caller) -> bool:
        """Whether the caller is a reviewer who may accept this one, as far as it matters who proposed it."""
        is_for_others = is_for_another(contribution, self._settings, _names(caller), is_local=caller.is_local)
        return self.reviews(caller) and not is_for_others

    def page(
        self, caller: Caller, state: ContributionState | None = None, *, limit: int = 50, offset: int = 0
    ) -> ContributionList:
        """The contributions that the caller may see, and how many there are in each state.

        Raises:
            StorageError: the queue or an access list cannot be read.
        """
        may_read = self._reader(caller)
        seen = [one for one in self._review.read_all().contributions if self._sees(one, caller, may_read)]
        wanted = [one for one in seen if state is None or one.state == state]
        return ContributionList(
            total=len(wanted),
            contributions=tuple(_item(one, may_read) for one in wanted[offset : offset + limit]),
            counts={each: sum(one.state == each for one in seen) for each in STATES},
            may_review=self.reviews(caller),
            upload=self.upload_rules(caller),
        )

    def details(self, contribution_id: str, caller: Caller) -> ContributionDetails:
        """One contribution, with its place, its neighbours and the change, as far as the caller may know of them.

        Raises:
            ContributionNotFoundError: there is none that the caller may see.
            KnowledgeBaseError: the queue, staging or the index cannot be read.
        """
        return self._details(self._visible(contribution_id, caller), caller)

    def propose(self, new: NewContribution, caller: Caller) -> ContributionDetails:
        """Hand in a contribution, or only check it if it is a draft.

        Raises:
            ContributionError: something about it is wrong; the message says what is right.
            KnowledgeBaseError: the queue, staging or the index cannot be used.
        """
        proposal = Proposal(
            service=new.service,
            description=new.description,
            content=new.content,
            type=new.type,
            section=new.section,
            contributed_by=caller.who.user_id,
        )
        visible = self._retrieval.visible_to(caller.who)
        try:
            seen = preview(
                self._retrieval.workspace,
                self.queue,
                proposal,
                visible=visible,
                is_seen=self._reader(caller),
            )
        except (InvalidArticleIdError, UnreadableArticleError) as exc:
            raise ContributionError(str(exc)) from exc
        note(seen.contribution.service, about="draft" if new.draft else seen.contribution.id)
        if new.draft:
            details = self._details(seen.contribution, caller, seen.neighbours.doubles)
            return self._converted(details, seen.contribution, caller) if new.converted else details
        self.queue.add(seen.contribution)
        return self._details(seen.contribution, caller, seen.neighbours.doubles)

    def _converted(
        self, details: ContributionDetails, contribution: Contribution, caller: Caller
    ) -> ContributionDetails:
        """The details of a draft with what readers will see of it, or why they will not."""
        if details.problem:
            return details
        try:
            change = self._review.change(contribution, caller.who.user_id, is_seen=self._reader(caller))
            shown = seen_by_readers(self._settings, contribution, change)
        except (ContributionError, UnreadableArticleError) as exc:
            return details.model_copy(update={"problem": str(exc)})
        return details.model_copy(update={"seen_by_readers": shown})

    def upload(self, new: NewUpload, data: bytes, caller: Caller) -> ContributionDetails:
        """Hand in a file as a whole article.

        Raises:
            NotAnUploaderError: the caller may not.
            ContributionError: it cannot become an article; the message says why.
            KnowledgeBaseError: the queue, staging or the index cannot be used.
        """
        if self.upload_rules(caller) is None:
            raise NotAnUploaderError("you may not hand in files; an administrator can name you in KB_UPLOADERS")
        file = NewFile(
            name=new.name,
            data=data,
            service=new.service,
            title=new.title,
            readers=new.reader,
            topics=new.topic,
            contributed_by=caller.who.user_id,
        )
        seen = preview_upload(
            self._retrieval.workspace,
            self.queue,
            file,
            visible=self._retrieval.visible_to(caller.who),
            is_seen=self._reader(caller),
        )
        note(seen.contribution.service, about=seen.contribution.id)
        self.queue.add_file(seen.contribution, data)
        return self._details(seen.contribution, caller, seen.neighbours.doubles)

    def accept(self, contribution_id: str, acceptance: Acceptance, caller: Caller) -> ContributionDetails:
        """Put a contribution into the staging folder, as this reviewer.

        Raises:
            NotAReviewerError: the caller may not: an OwnContributionError if they proposed it.
            ContributionNotFoundError: there is none that the caller may see.
            ContributionDecidedError: it was rejected before.
            ContributionError: it cannot be put there, or the caller may not read what it would go to.
            KnowledgeBaseError: the queue or staging cannot be used.
        """
        if not self.may_accept(self._reviewed(contribution_id, caller), caller):
            raise OwnContributionError("you proposed it, so another reviewer must accept it (KB_ACCEPT_OWN)")
        try:
            accepted = self._review.accept(
                contribution_id,
                caller.who.user_id,
                section=acceptance.section,
                content=acceptance.content,
                may_read=self._reader(caller),
            )
        except UnreadableArticleError as exc:
            raise ContributionError(str(exc)) from exc
        if accepted.decision:
            note(accepted.decision.article_id)
        return self._details(accepted, caller)

    def reject(self, contribution_id: str, reason: str, caller: Caller) -> ContributionDetails:
        """Reject a contribution, as this reviewer.

        Raises:
            NotAReviewerError: the caller may not.
            ContributionNotFoundError: there is none that the caller may see.
            ContributionDecidedError: it was accepted or rejected before.
            StorageError: the queue cannot be used.
        """
        self._reviewed(contribution_id, caller)
        return self._details(self._review.reject(contribution_id, caller.who.user_id, reason), caller)

    def _reviewed(self, contribution_id: str, caller: Caller) -> Contribution:
        contribution = self._visible(contribution_id, caller)
        if not self.reviews(caller):
            raise NotAReviewerError(
                "you are no reviewer of contributions; an administrator can name you in KB_REVIEWERS"
            )
        return contribution

    def _visible(self, contribution_id: str, caller: Caller) -> Contribution:
        contribution = self._review.get(contribution_id)
        note(contribution.service)
        if not self._sees(contribution, caller, self._reader(caller)):
            raise ContributionNotFoundError(f"there is no contribution {contribution_id[:80]!r}")
        return contribution

    def _sees(self, contribution: Contribution, caller: Caller, may_read: MayRead) -> bool:
        if contribution.source == "manual" and contribution.contributed_by == caller.who.user_id:
            return True
        # an earlier release kept the answer with a comment, but not the articles whose words it has
        is_told_of = contribution.source != "feedback" or contribution.rests_on is not None
        if contribution.upload and not caller.who.may_read(contribution.upload.readers):
            return False
        return is_told_of and self.reviews(caller) and all(map(may_read, _articles_of(contribution)))

    def _reader(self, caller: Caller) -> MayRead:
        """Whether the caller may read an article, also one that is staged and not published yet."""

        @cache
        def may_read(article_id: str) -> bool:
            try:
                metadata = read_metadata(
                    self._staging.metadata(article_id) or b"{}", self._staging.metadata_file
                ).metadata
            except (UnreadableArticleError, InvalidArticleIdError):
                return False
            readers = metadata.access_control_list
            return caller.who.may_read(readers) and self._articles.may_read(article_id, caller.who)

        return may_read

    def _details(
        self, contribution: Contribution, caller: Caller, doubles: Sequence[Double] = ()
    ) -> ContributionDetails:
        may_read = self._reader(caller)
        diff, problem = self._change(contribution, caller, may_read)
        similar = ((double, self._review.get(double.id)) for double in doubles)
        return ContributionDetails(
            **_item(contribution, may_read).model_dump(),
            content=contribution.content,
            upload=UploadedFile.model_validate(contribution.upload.model_dump(exclude={"title"}))
            if contribution.upload
            else None,
            content_hash=contribution.content_hash,
            nearest=self._nearest(contribution.nearest, caller),
            duplicates=tuple(
                SimilarContribution(**double.model_dump())
                for double, one in similar
                if self._sees(one, caller, may_read)
            ),
            diff=diff,
            problem=problem,
            published=self._is_published(contribution, caller),
            may_review=self.reviews(caller),
            may_accept=self.may_accept(contribution, caller),
        )

    def _change(self, contribution: Contribution, caller: Caller, may_read: MayRead) -> tuple[str, str]:
        """Return what accepting it would change, and why it cannot be accepted; one of them, or none, is empty."""
        if contribution.state != "pending":
            return "", ""
        try:
            return self._review.change(contribution, caller.who.user_id, is_seen=may_read).diff, ""
        except (ContributionError, UnreadableArticleError) as exc:
            return "", str(exc)

    def _is_published(self, contribution: Contribution, caller: Caller) -> bool:
        """Whether readers find it by now: its footnote is in a passage of the article, or it is the article."""
        decision = contribution.decision
        if contribution.state != "accepted" or decision is None:
            return False
        try:
            chunks = self._retrieval.chunks_of([decision.article_id], caller.who)
        except IndexMissingError:
            return False
        if contribution.upload:
            return bool(chunks)
        return any(contribution.id in ids_in(chunk.content) for chunk in chunks)

    def _nearest(self, passages: Sequence[NearPassage], caller: Caller) -> tuple[NearbyPassage, ...]:
        """Return those of the passages that are still published, and that the caller may read."""
        try:
            chunks = self._retrieval.find([passage.chunk_id for passage in passages], caller.who)
        except IndexMissingError:
            return ()
        similarities = {passage.chunk_id: passage.similarity for passage in passages}
        return tuple(
            NearbyPassage(
                chunk_id=chunk.id,
                article_id=chunk.article_id,
                title=chunk.title,
                section=chunk.section_header,
                similarity=similarities[chunk.id],
            )
            for chunk in chunks
        )


def _names(caller: Caller) -> tuple[str, ...]:
    return (caller.who.user_id, *caller.who.names)


def _articles_of(contribution: Contribution) -> set[str]:
    """The articles that it is about, that it would go or went to, and that its words may come from."""
    went_to = {contribution.decision.article_id or contribution.service} if contribution.decision else set()
    return {contribution.service, contribution.article_id, *(contribution.rests_on or ()), *went_to}


def _place(contribution: Contribution, may_read: MayRead) -> tuple[str, str]:
    """The article and section that it goes or went to; for those who may not read that, as if it did not exist."""
    decision = contribution.decision if contribution.state == "accepted" else None
    if decision and may_read(contribution.service) and may_read(decision.article_id):
        return decision.article_id, decision.section
    if may_read(contribution.service):
        return contribution.article_id, contribution.target_section
    missing = Target(contribution.service, None)
    return missing.article_id, target_section(missing, contribution.type, contribution.section)


_SHOWN_AS_IT_IS = {"id", "service", "type", "description", "source", "contributed_by", "contributed_at"}


def _item(contribution: Contribution, may_read: MayRead) -> ContributionItem:
    decision = contribution.decision if contribution.state != "pending" else None
    article_id, section = _place(contribution, may_read)
    return ContributionItem(
        **contribution.model_dump(include=_SHOWN_AS_IT_IS),
        state=contribution.state,
        article_id=article_id,
        section=section,
        decided_by=decision.by if decision else "",
        decided_at=decision.at if decision else "",
        reason=decision.reason if decision else "",
        file=contribution.upload.name if contribution.upload else "",
    )
