# The image of CUDA 12 tracks for C++: NVIDIA's toolkit with cuDNN, build tools, ccache, and a user without rights.
# Pin the base by digest, so that two nodes build the same thing:
#   docker buildx imagetools inspect nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04 --format '{{.Manifest.Digest}}'
#   docker build -f docker/cuda12-cpp.Dockerfile \
#       --build-arg BASE=nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04@sha256:… -t podium-cuda12-cpp .
ARG BASE=nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04
FROM ${BASE}

# Ubuntu's packages are those of one moment. NVIDIA's own repository has none such: all of it that is used is in the base.
ARG SNAPSHOT=20261101T000000Z
RUN rm -f /etc/apt/sources.list.d/cuda* \
    && echo "APT::Snapshot \"${SNAPSHOT}\";" >/etc/apt/apt.conf.d/50snapshot \
    && apt-get update \
    && apt-get install --yes --no-install-recommends bash ccache cmake g++ make ninja-build python3 python3-numpy \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 65532 --no-create-home --home-dir /tmp podium \
    && mkdir -p /workspace /podium

LABEL org.podium.image=cuda12-cpp
# The base asks for all GPUs: where NVIDIA's runtime is the default, builds would have them. Runs get theirs by CDI.
ENV NVIDIA_VISIBLE_DEVICES=void
ENV PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin
USER 65532:65532
WORKDIR /workspace
