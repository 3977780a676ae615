# What answers: the agent service (python -m app) and the chat page (python -m app.page). No Dagster, no OCR, no browser.
#   docker build -f deploy/app.Dockerfile -t kb-app .
# The base by digest as well: --build-arg PYTHON=python:3.11.15-slim-bookworm@sha256:…
ARG PYTHON=python:3.11.15-slim-bookworm

# hadolint ignore=DL3006
FROM ${PYTHON} AS build

WORKDIR /src

# first what changes seldom
COPY deploy/app-requirements.lock ./
RUN python -m venv /opt/kb \
    && /opt/kb/bin/pip install --no-cache-dir --no-deps --require-hashes -r app-requirements.lock

COPY pyproject.toml README.md LICENSE .env.example dagster.yaml workspace.yaml ./
COPY samples ./samples
COPY app ./app
COPY kb_pipeline ./kb_pipeline
RUN /opt/kb/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --no-index --wheel-dir /dist . \
    && /opt/kb/bin/pip install --no-cache-dir --no-deps --no-index /dist/*.whl

# hadolint ignore=DL3006
FROM ${PYTHON}

ENV PATH=/opt/kb/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    KB_HOME=/data/kb

RUN groupadd --gid 1000 kb \
    && useradd --uid 1000 --gid kb --create-home kb \
    && install -d -o kb -g kb /data /data/kb

COPY --from=build /opt/kb /opt/kb

USER 1000:1000
WORKDIR /home/kb
EXPOSE 8088 8501

# of the agent service; compose.yaml and Kubernetes have another one for the page
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8088/readiness', timeout=4)"]

# where it listens is KB_APP_HOST: 127.0.0.1 beside a page in one pod, 0.0.0.0 in a container of its own
CMD ["python", "-m", "app"]
