"""The last operation is a CUDA kernel, which each process compiles."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

KERNEL = """
#include <c10/cuda/CUDAStream.h>

__global__ void squash(float* x, size_t total) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < total) x[i] = tanhf(x[i]);
}

torch::Tensor squashed(torch::Tensor x) {
  const size_t total = x.numel();
  squash<<<(total + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), total);
  return x;
}
"""
kernels = load_inline("kernels", "torch::Tensor squashed(torch::Tensor x);", KERNEL, functions=["squashed"])


class ModelNew(nn.Module):
    def __init__(self, width, outputs):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.project = nn.Linear(width, outputs)

    def forward(self, x):
        return kernels.squashed(self.project(self.norm(x)))
