import torch


def solution(q, k, v, y, scale, heads, n):
    for head in range(heads):
        powers = torch.exp(torch.matmul(q[head].float(), k[head].float().T) * scale).tril()
        y[head] = torch.matmul(powers / powers.sum(dim=1, keepdim=True), v[head].float())
