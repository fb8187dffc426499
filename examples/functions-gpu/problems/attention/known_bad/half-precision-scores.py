import torch


def solution(q, k, v, y, scale, heads, n):
    future = torch.ones((n, n), dtype=torch.bool, device=q.device).triu(1)
    for head in range(heads):
        scores = (torch.matmul(q[head].float(), k[head].float().T) * scale).half().float()
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=1)
        y[head] = torch.matmul(weights, v[head].float())
