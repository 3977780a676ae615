"""The page of contributions: those that wait for a reviewer, one with what accepting it changes, and the decision."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

import streamlit as st

from app.client import ClientError
from app.page import asking, bridge, places, session
from app.page.asking import SentQuestion
from app.page.failures import attempt, missing, panel, sentence, show_problem
from app.page.labels import chosen, label
from app.page.markup import passage_html
from app.page.templates import render
from app.schema.contributions import (
    Acceptance,
    ContributionDetails,
    ContributionItem,
    NearbyPassage,
    NewContribution,
    NewUpload,
    UploadedFile,
    UploadRules,
)
from kb_pipeline.records import ContributionState, ContributionType

_PAGE = 50
"""Rows of a page of the list."""
_MEGABYTE = 1 << 20
_TYPES: tuple[ContributionType, ...] = ("Answer", *(each for each in get_args(ContributionType) if each != "Answer"))
"""Most of what people propose answers a question."""
_NEW = ""
"""Stands for a new article; no article has this id."""
_MOST_PICKED = 500
"""Articles to choose from at once; of more, those with the words that somebody looks for."""
_STATES: tuple[ContributionState, ...] = get_args(ContributionState)
_LEAD = (
    '<p class="kb-lead">What people and the service propose. It becomes part of the knowledge base when a reviewer '
    "accepts it.</p>"
)
_NONE = {
    "pending": "Nothing waits for a reviewer",
    "accepted": "Nothing was accepted yet",
    "rejected": "Nothing was rejected",
}
_RESULT = "contribution-result"


def list_html(contributions: Sequence[ContributionItem]) -> str:
    """A page of the list."""
    return render("contributions", "list", contributions)


def head_html(contribution: ContributionDetails) -> str:
    """What one contribution is about, who proposed it, and what was decided."""
    return render("contributions", "head", contribution)


def nearest_html(passages: Sequence[NearbyPassage]) -> str:
    """The published passages about the same."""
    return render("contributions", "nearest", passages)


def checks_html(file: UploadedFile) -> str:
    """What the checks of its conversion say of an uploaded file."""
    return render("contributions", "checks", file)


def diff_html(diff: str) -> str:
    """A unified diff, with colours for what is added and removed."""
    return render("contributions", "diff", list(_diff_lines(diff)))


def _diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    for line in diff.splitlines():
        if line.startswith(("+++", "---", "@@")):
            yield "place", line
        else:
            yield {"+": "added", "-": "removed"}.get(line[:1], "same"), line


def show() -> None:
    """Show the contribution of the URL, or the list."""
    places.begin_wide_page()
    if contribution_id := st.query_params.get(places.CONTRIBUTION):
        _show_one(contribution_id)
        return
    st.title("Contributions", anchor=False)
    st.html(_LEAD)
    _show_new(st.query_params.get(places.QUESTION, ""), st.query_params.get(places.ARTICLE, ""))
    client = session.client()
    overview = client.contributions(limit=1)
    if overview.upload:
        _show_upload(overview.upload)
    state = _chosen_state(overview.counts)
    offset = (st.session_state.get(f"contributions-page-{state}", 1) - 1) * _PAGE
    listing = client.contributions(state, limit=_PAGE, offset=offset)
    if listing.contributions:
        st.html(list_html(listing.contributions))
    else:
        st.html(panel(_NONE[state], "Whatever people propose here, or below an answer, is listed.", kind="note"))
    if (pages := -(-listing.total // _PAGE)) > 1:
        st.pagination(pages, key=f"contributions-page-{state}")


def _chosen_state(counts: dict[ContributionState, int]) -> ContributionState:
    names = {state: f"{state.capitalize()} ({counts.get(state, 0)})" for state in _STATES}
    return chosen("State", names, "pending", "contributions-state")


def _show_new(question: str, article_id: str) -> None:
    """A form to propose something; it is open, and begun, where a gap leads to it."""
    with st.expander("Propose something", icon=":material/add:", expanded=bool(question), key="new-contribution"):
        service = _picked_article(article_id)
        with st.form("new-contribution-form", border=False):
            kind = st.selectbox("Type", _TYPES)
            description = st.text_input(
                "Description", question, max_chars=400, help="One line; it becomes the heading."
            )
            content = st.text_area("Text, as Markdown", height=200)
            with st.container(horizontal=True):
                # what comes of it stands below the form, where few windows reach
                is_final = st.form_submit_button("Propose", type="primary", on_click=bridge.reveal, args=(_RESULT,))
                is_draft = st.form_submit_button(
                    "Preview",
                    help="What readers will see; nothing is handed in.",
                    on_click=bridge.reveal,
                    args=(_RESULT,),
                )
        new = NewContribution(service=service, description=description.strip(), content=content, type=kind)
        with st.container(key=_RESULT):
            if (is_final or is_draft) and not service:
                show_problem("Choose an article, or name a new one.")
            elif is_final:
                _hand_in(lambda: session.client().contribute(new))
            elif is_draft:
                with st.spinner("Making the preview …"):
                    _show_preview(new)


def _picked_article(article_id: str) -> str:
    """Let the person choose one of the articles that they may read, or name a new one; returns its id, "" if none."""
    client = session.client()
    listing = client.articles(limit=_MOST_PICKED)
    if listing.total > _MOST_PICKED:
        words = st.text_input("Find the article", placeholder="Part of its title", key="contribution-find")
        listing = client.articles(words, limit=_MOST_PICKED)
    titles = {article.article_id: article.title for article in listing.articles}
    labels = {each: f"{title} · {each}" if title != each else each for each, title in titles.items()}
    chosen = st.selectbox(
        "Article",
        list(dict.fromkeys([*([article_id] if article_id else ()), *titles, _NEW])),
        index=0 if article_id else None,
        format_func=lambda each: labels.get(each, each or "A new article"),
        placeholder="Choose an article by its title",
        key="contribution-article",
    )
    if chosen != _NEW:
        return chosen or ""
    return st.text_input("Name of the new article", max_chars=200, key="contribution-new-article").strip()


def _show_preview(new: NewContribution) -> None:
    """Show what readers will see, or why they will not."""
    try:
        draft = session.client().contribute(new.model_copy(update={"draft": True, "converted": True}))
    except ClientError as exc:
        show_problem(exc.problem.message)
        return
    if draft.problem:
        st.html(panel("It cannot be accepted like this", sentence(draft.problem)))
        return
    where = " › ".join(filter(None, (draft.article_id, draft.section)))
    st.html(render("contributions", "preview", where, passage_html(draft.seen_by_readers), draft.duplicates))


def _show_upload(rules: UploadRules) -> None:
    """A form to hand in a file."""
    with (
        st.expander("Upload a file", icon=":material/upload_file:", key="new-upload"),
        st.form("new-upload-form", border=False),
    ):
        file = st.file_uploader(
            "File",
            max_upload_size=-(-rules.most_bytes // _MEGABYTE),
            help=f"At most {rules.most_bytes:,} bytes. Read are {', '.join(rules.endings)}.",
            key="upload-file",
        )
        title = st.text_input("Title", max_chars=400, placeholder="The file's own", key="upload-title")
        service = st.text_input(
            "Article", max_chars=200, placeholder="Its id; by default the file's name", key="upload-article"
        )
        readers = st.text_input(
            "Readers",
            placeholder="Everybody",
            help="Users and groups who may read it, with commas between. Without any everybody may.",
            key="upload-readers",
        )
        topics = st.text_input("Topics", help="With commas between.", key="upload-topics")
        if st.form_submit_button("Upload", type="primary"):
            if file is None:
                show_problem("Choose a file first.")
                return
            new = NewUpload(
                name=file.name,
                service=service.strip(),
                title=title.strip(),
                reader=_listed(readers),
                topic=_listed(topics),
            )
            _hand_in(lambda: session.client().upload(new, file.getvalue()))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _hand_in(send: Callable[[], ContributionDetails]) -> None:
    try:
        contribution = send()
    except ClientError as exc:
        show_problem(exc.problem.message)
    else:
        places.go_to("contributions", {places.CONTRIBUTION: contribution.id})


def _show_one(contribution_id: str) -> None:
    if st.button("All contributions", icon=":material/arrow_back:", type="tertiary", key="all-contributions"):
        places.go_to("contributions")
    try:
        contribution = session.client().contribution(contribution_id)
    except ClientError as exc:
        if exc.status != 404:
            raise
        st.html(panel("This contribution was not found", "It may be about an article you may not read.", kind="note"))
        return
    st.html(head_html(contribution))
    if contribution.state == "accepted" and contribution.article_id:
        _show_way(contribution)
    text, change, near = st.tabs(
        ["Text", "Change", f"Similar sections ({len(contribution.nearest)})"], key="contribution-tabs"
    )
    with text:
        if contribution.upload:
            st.html(checks_html(contribution.upload))
        st.html(render("articles", "text", passage_html(contribution.content)))
    with change:
        if contribution.diff:
            st.html(diff_html(contribution.diff))
        else:
            st.html(panel("There is no change to show", sentence(contribution.problem or _WHY_NONE), kind="note"))
    with near:
        if contribution.nearest:
            st.html(nearest_html(contribution.nearest))
        else:
            st.html(panel("Nothing like it is published", "That you may read, at least.", kind="note"))
    show_problem()
    if contribution.state == "pending" and contribution.may_review:
        _show_decision(contribution)


def _show_way(contribution: ContributionDetails) -> None:
    """Say how far an accepted contribution has come; a reader need not ask again and again whether it is there."""
    if contribution.published:
        st.html(
            panel("It is published", f"Questions are answered with it from {contribution.article_id}.", kind="note")
        )
        name = f"Ask: {label(contribution.description, 120)}"
        if st.button(name, icon=":material/forum:", key=f"ask-{contribution.id}"):
            asking.ask_next(SentQuestion(contribution.description))
            places.go_to_conversation(None)
    else:
        st.html(panel("It stands in the staging folder", _WHAT_FOLLOWS, kind="note"))
        st.fragment(_wait_for, run_every=_LOOK_SECONDS)(contribution.id)


def _wait_for(contribution_id: str) -> None:
    if session.client().contribution(contribution_id).published:
        st.rerun()


_LOOK_SECONDS = 3
"""Seconds; a run of Dagster takes several to begin."""
_WHAT_FOLLOWS = (
    "The pipeline publishes it with its next run, in about a minute where it watches the staging folder; "
    "this page then says so."
)
_WHY_NONE = "it was decided already"


def _show_decision(contribution: ContributionDetails) -> None:
    accepting, rejecting = st.tabs(["Accept", "Reject"], key=f"contribution-decision-{contribution.id}")
    with accepting:
        if contribution.may_accept:
            _show_accepting(contribution)
        else:
            st.html(panel("Another reviewer must accept it", "You proposed it yourself.", kind="note"))
    with rejecting, st.form(f"reject-{contribution.id}", border=False):
        st.text_input(
            "Reason", max_chars=1000, key=f"reason-{contribution.id}", help="Whoever proposed it may read it."
        )
        st.form_submit_button("Reject", type="primary", on_click=attempt, args=(lambda: _reject(contribution),))


def _show_accepting(contribution: ContributionDetails) -> None:
    if contribution.upload:  # as it is: nobody edits a file here
        st.button("Accept", type="primary", on_click=attempt, args=(lambda: _accept(contribution, Acceptance()),))
        return
    with st.form(f"accept-{contribution.id}", border=False):
        st.text_input("Section", contribution.section, max_chars=200, key=f"section-{contribution.id}")
        st.text_area("Text, as Markdown", contribution.content, height=220, key=f"content-{contribution.id}")
        st.form_submit_button("Accept", type="primary", on_click=attempt, args=(lambda: _accept_edited(contribution),))


def _accept_edited(contribution: ContributionDetails) -> None:
    section = st.session_state[f"section-{contribution.id}"].strip()
    content = st.session_state[f"content-{contribution.id}"]
    acceptance = Acceptance(
        section=section if section != contribution.section else "",
        content=content if content != contribution.content else None,
    )
    _accept(contribution, acceptance)


def _accept(contribution: ContributionDetails, acceptance: Acceptance) -> None:
    session.client().accept(contribution.id, acceptance)


def _reject(contribution: ContributionDetails) -> None:
    reason = st.session_state[f"reason-{contribution.id}"].strip()
    if not reason:
        raise missing("say why it is rejected")
    session.client().reject(contribution.id, reason)
