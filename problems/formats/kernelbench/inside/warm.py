"""Loads the parts of torch that a description needs, before processes are forked for the files."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def warm() -> None:
    """Run a small model on tensors without values."""
    torch.set_num_threads(1)  # threads do not survive a fork
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.Flatten())
        torch.nn.functional.linear(model(torch.rand(2, 3, 8, 8)), torch.rand(4, 108)).softmax(-1)
