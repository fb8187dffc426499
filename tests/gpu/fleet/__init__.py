"""The fleet path on one machine: site, site worker, folder broker and `podium node`, used as people use them."""
