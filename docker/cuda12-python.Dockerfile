# The image of CUDA 12 tracks for Python: the C++ image, and PyTorch, Triton, CuPy and NVTX by exact version.
#   docker build -f docker/cuda12-python.Dockerfile --build-arg BASE=podium-cuda12-cpp -t podium-cuda12-python .
ARG BASE=podium-cuda12-cpp
FROM ${BASE}

USER 0:0
# The C++ image keeps packages at its snapshot. Triton compiles against Python's headers while a program runs.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY docker/cuda12-python.txt /opt/requirements.txt
RUN python3 -m venv /opt/python \
    && /opt/python/bin/pip install --no-cache-dir --no-deps --only-binary :all: -r /opt/requirements.txt \
    && /opt/python/bin/pip check

LABEL org.podium.image=cuda12-python
ENV PATH=/opt/python/bin:/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin
USER 65532:65532
WORKDIR /workspace
