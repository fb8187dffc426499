import torch


def solution(q, k, v, y, scale, heads, n):
    future = torch.ones((n, n), dtype=torch.bool, device=q.device).triu(1)
    for head in range(heads):
        scores = torch.matmul(q[head].float(), k[head].float().T) * scale
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=1).bfloat16().float()
        y[head] = torch.matmul(weights, v[head].float())
