"""How often the intervals of a board hold the truth, by simulation of boards whose truth is known."""
