"""The dialog in which somebody with a key tries a language model and lets it word the answers."""

from datetime import timedelta

import streamlit as st
from pydantic import SecretStr

from app.client import ClientError
from app.page import session
from app.page.failures import panel, sentence, show_failure
from app.page.labels import label
from app.schema.models import ModelAddress, ModelChoice, ModelInUse, ModelTrial

_FRESH = timedelta(seconds=30)
"""Asked once for all reruns of half a minute: a click makes several."""
_TRIAL = "model-trial"
_OPENAI, _AZURE, _OLLAMA, _OTHER = "OpenAI", "Azure OpenAI", "Ollama on this machine", "Another service"
_ADDRESSES = {_OPENAI: "", _AZURE: "", _OLLAMA: "http://127.0.0.1:11434/v1", _OTHER: ""}
_EXAMPLES = {_AZURE: "https://NAME.openai.azure.com", _OTHER: "https://HOST/v1"}


def show_button() -> None:
    """Show what words answers, to those who may choose it; a click opens the dialog."""
    now = _in_use(session.asker())
    if now.may_choose and st.button(
        f"Language model: {label(now.model or 'none', 60)}",
        icon=":material/neurology:",
        type="tertiary",
        key="language-model",
    ):
        st.session_state.pop(_TRIAL, None)
        _choose()


@st.cache_resource(ttl=_FRESH, max_entries=200, show_spinner=False)
def _in_use(who: session.Who) -> ModelInUse:
    # ``who`` is not read here, but each reader needs a cache entry of their own.
    return session.client().model()


@st.dialog("Language model", width="medium")
def _choose() -> None:
    try:
        now = session.client().model()
        st.caption(_state(now))
        if asked := _asked():
            with st.spinner("Asking the model three small questions…"):
                st.session_state[_TRIAL] = asked, session.client().try_model(asked)
            st.rerun(scope="fragment")
        _show_trial(*st.session_state.get(_TRIAL, (None, None)))
        if now.is_chosen and st.button("Answer as the settings say", key="forget-model"):
            session.client().forget_model()
            _leave()
    except ClientError as exc:
        show_failure(exc)


def _asked() -> ModelAddress | None:
    """The address, key and model to try, when the form is sent."""
    where = st.selectbox("Where it runs", list(_ADDRESSES), key="model-where")
    with st.form("model", border=False):  # a form also sends what stands in a field that was not left
        endpoint = _ADDRESSES[where]
        if where in _EXAMPLES:
            key = f"model-address-{where}"
            endpoint = st.text_input("Address", placeholder=_EXAMPLES[where], max_chars=500, key=key)
        secret = ""
        if where != _OLLAMA:
            secret = st.text_input("Key", type="password", max_chars=4000, autocomplete="off", key="model-key")
        model = _model(endpoint.strip(), "Deployment" if where == _AZURE else "Model")
        if not st.form_submit_button("Test", type="primary" if not _works() else "secondary"):
            return None
    return ModelAddress(endpoint=endpoint, model=model, api_key=SecretStr(secret))


def _works() -> bool:
    return _TRIAL in st.session_state and not st.session_state[_TRIAL][1].problem


def _model(endpoint: str, name: str) -> str:
    """The model that is typed, or chosen from those that the endpoint listed at the last trial."""
    tried, trial = st.session_state.get(_TRIAL, (None, None))
    if not trial or not trial.models or tried.endpoint != endpoint:
        return st.text_input(name, placeholder="Leave empty to see which there are", max_chars=200, key="model-name")
    at = trial.models.index(trial.model) if trial.model in trial.models else None
    return st.selectbox(name, trial.models, index=at, accept_new_options=True, key=f"one-of-{endpoint}") or ""


def _show_trial(tried: ModelAddress | None, trial: ModelTrial | None) -> None:
    if not tried or not trial:
        return
    if trial.problem:
        st.html(panel("This model cannot be used yet", sentence(trial.problem)))
        return
    st.html(panel(f"{trial.model} works", _abilities(trial), kind="note"))
    if st.button("Use this model", type="primary", key="use-model"):
        session.client().choose_model(_choice(tried, trial))
        _leave()


def _choice(address: ModelAddress, trial: ModelTrial) -> ModelChoice:
    return ModelChoice(
        endpoint=address.endpoint,
        model=trial.model,
        api_key=address.api_key,
        calls_tools=trial.calls_tools,
        sees_images=trial.sees_images,
    )


def _leave() -> None:
    st.session_state.pop(_TRIAL, None)
    _in_use.clear()
    st.rerun()


def _state(now: ModelInUse) -> str:
    """What words answers now, and how long what is chosen here lasts."""
    if not now.model:
        state = "Answers are quotations from the articles; no language model words them."
    else:
        origin = "chosen here" if now.is_chosen else "as the settings say"
        state = f"Answers are worded by {label(now.model, 60)} at {label(now.endpoint, 80)}, {origin}."
    return (
        f"{state} A model that you choose here words the answers of all readers until the service ends. "
        "Its key stays in the service's memory; to keep it for longer, set KB_CHAT_MODEL and KB_CHAT_API_KEY."
    )


def _abilities(trial: ModelTrial) -> str:
    searches = "searches by itself" if trial.calls_tools else "is given what one search finds, as it calls no tools"
    images = "sees the screenshots" if trial.sees_images else "reads the descriptions of screenshots, as it sees none"
    return f"It answered in {trial.seconds:g} s, {searches}, and {images}."
