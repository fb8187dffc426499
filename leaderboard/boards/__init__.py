"""The board of a release on a track as pages and API show it: what is asked, the columns, the rows, the exports."""
