"""The pages on which the problems of a draft release are made and edited."""
