import torch


def solution(q, k, v, y, scale, heads, n):
    for head in range(heads):
        scores = torch.matmul(q[head].float(), k[head].float().T) * scale
        y[head] = torch.matmul(torch.softmax(scores, dim=1), v[head].float())
