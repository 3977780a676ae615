# The pipeline: code server and runs, Dagster's webserver and daemon, the kb command; with a browser, which prints
# articles for Mistral Document AI.
#   docker build -f deploy/pipeline.Dockerfile -t kb-pipeline .
# The base by digest as well: --build-arg PYTHON=python:3.11.15-slim-bookworm@sha256:…
ARG PYTHON=python:3.11.15-slim-bookworm

# hadolint ignore=DL3006
FROM ${PYTHON} AS build

WORKDIR /src

# first what changes seldom
COPY deploy/requirements.lock ./
RUN python -m venv /opt/kb \
    && /opt/kb/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock

COPY pyproject.toml README.md LICENSE .env.example dagster.yaml workspace.yaml ./
COPY samples ./samples
COPY app ./app
COPY kb_pipeline ./kb_pipeline
RUN /opt/kb/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --no-index --wheel-dir /dist . \
    && /opt/kb/bin/pip install --no-cache-dir --no-deps --no-index /dist/*.whl \
    # Dagster's Helm chart starts it by this name: never without our guard
    && ln -sf kb-webserver /opt/kb/bin/dagster-webserver

# hadolint ignore=DL3006
FROM ${PYTHON}

# not pinned, so that a build has Debian's security updates; fonts also draw the text of SVG images
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core libatomic1 \
    && rm -rf /var/lib/apt/lists/*

ENV PATH=/opt/kb/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DAGSTER_HOME=/opt/dagster/dagster_home \
    DAGSTER_DISABLE_TELEMETRY=1 \
    DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS=1 \
    KB_HOME=/data/kb \
    KB_STAGING=/data/staging

RUN groupadd --gid 1000 kb \
    && useradd --uid 1000 --gid kb --create-home kb \
    && install -d -o kb -g kb /data /data/kb /data/staging /opt/dagster/dagster_home/storage /opt/dagster/azure

COPY --from=build /opt/kb /opt/kb
# two Dagster instances to choose from by DAGSTER_HOME
COPY deploy/postgres/dagster.yaml /opt/dagster/dagster_home/
COPY deploy/azure/dagster.yaml /opt/dagster/azure/
COPY deploy/postgres/workspace.yaml /opt/dagster/

USER 1000:1000
WORKDIR /home/kb
EXPOSE 4000

# of the code server; compose.yaml and Kubernetes have their own for each process
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=4 \
    CMD ["dagster", "api", "grpc-health-check", "-p", "4000"]

# on all of the container's interfaces: others reach it by an internal name only
CMD ["dagster", "api", "grpc", "-h", "0.0.0.0", "-p", "4000", "-m", "kb_pipeline.definitions"]
