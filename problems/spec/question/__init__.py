"""Questions: choices and short answers, with the rules that settle a reply without a node."""
