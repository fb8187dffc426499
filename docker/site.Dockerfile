# The images of a site and of its nodes, from this checkout. Targets: site, node, gpu-node.
#   docker build -f docker/site.Dockerfile --target site -t podium-site:0.1.0 .
# `make pin-images` writes the bases' digests. Where no registry is to be had, docker/make-site-image.sh makes
# site and node from the host's apt mirrors.
ARG BASE=python:3.13.7-slim-trixie
ARG CUDA_BASE=nvidia/cuda:13.0.1-cudnn-devel-ubuntu24.04

FROM ${BASE} AS wheel
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM ${BASE} AS site
# pg_dump must be as new as the database server: Debian 13 has version 17.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 65531 podium \
    && useradd --uid 65531 --gid 65531 --no-create-home --home-dir /var/lib/podium podium \
    && install -d -o podium -g podium /var/lib/podium /var/lib/podium-join /backups
COPY --from=wheel /wheels /wheels
COPY constraints.txt /wheels/
RUN pip install --no-cache-dir --constraint /wheels/constraints.txt "$(ls /wheels/*.whl)[site]"
COPY deploy/setup.sh /usr/local/bin/podium-setup
ENV PODIUM_VAR_DIR=/var/lib/podium PYTHONUNBUFFERED=1
USER 65531:65531
WORKDIR /var/lib/podium

FROM ${BASE} AS node
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bash bubblewrap ccache g++ make \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 65532 podium \
    && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /var/lib/podium podium \
    && install -d -o podium -g podium /var/lib/podium
COPY --from=wheel /wheels /wheels
COPY constraints.txt /wheels/
RUN pip install --no-cache-dir --constraint /wheels/constraints.txt "$(ls /wheels/*.whl)[node]"
ENV PODIUM_VAR_DIR=/var/lib/podium PODIUM_CACHE_DIR=/var/lib/podium/cache PODIUM_SANDBOX=bubblewrap PYTHONUNBUFFERED=1
COPY deploy/join.sh /usr/local/bin/podium-join
USER 65532:65532
WORKDIR /var/lib/podium

FROM ${CUDA_BASE} AS gpu-node
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bash bubblewrap ccache cmake g++ make ninja-build python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 65532 podium \
    && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /var/lib/podium podium \
    && install -d -o podium -g podium /var/lib/podium
COPY --from=wheel /wheels /wheels
COPY constraints.txt docker/cuda13-python.txt /wheels/
# A place of its own for what problems may import: the node's own Python does not see it.
RUN python3 -m venv /opt/podium \
    && /opt/podium/bin/pip install --no-cache-dir --constraint /wheels/constraints.txt "$(ls /wheels/*.whl)[node]" \
    && python3 -m venv /opt/python \
    && /opt/python/bin/pip install --no-cache-dir --no-deps --only-binary :all: -r /wheels/cuda13-python.txt
ENV PATH=/opt/podium/bin:/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin PODIUM_PYTHON=/opt/python/bin/python \
    PODIUM_VAR_DIR=/var/lib/podium PODIUM_CACHE_DIR=/var/lib/podium/cache PODIUM_SANDBOX=bubblewrap PYTHONUNBUFFERED=1
COPY deploy/join.sh /usr/local/bin/podium-join
USER 65532:65532
WORKDIR /var/lib/podium
