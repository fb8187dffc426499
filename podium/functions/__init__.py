"""`podium functions`: makes, checks, packs and tries function problems on their author's machine."""
