"""`podium problems`: imports problems of other forms, and audits packs."""
