# The image of CPU tracks: a C++ compiler, make, Python and numpy, and a user without rights.
# The base is pinned by digest, so that two nodes build the same thing:
#   docker build -f docker/cpu.Dockerfile --build-arg BASE=debian@sha256:… -t podium-cpu .
# Where no registry is to be had, docker/make-base-image.sh makes the same from the host's apt mirrors.
ARG BASE
FROM ${BASE}

RUN apt-get update \
    && apt-get install --yes --no-install-recommends bash g++ make python3 python3-numpy \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 65532 --no-create-home --home-dir /tmp podium \
    && mkdir -p /workspace /podium

LABEL org.podium.image=cpu
ENV PATH=/usr/local/bin:/usr/bin:/bin
USER 65532:65532
WORKDIR /workspace
