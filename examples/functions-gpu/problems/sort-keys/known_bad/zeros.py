def solution(keys, in_order, n):
    in_order.zero_()
