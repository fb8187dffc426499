"""Scores, their uncertainty and ranks, as pure functions of arrays. numpy is the only dependency."""
