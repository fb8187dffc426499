"""Copies what lies beside the packages in a checkout into a wheel: pages, static files and the history.

leaderboard/settings.py finds them there in `leaderboard/shipped`. All else is in pyproject.toml.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

BESIDE = ("templates", "static", "CHANGELOG.md")


class BuildWithSiteFiles(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        shipped = Path(self.build_lib) / "leaderboard" / "shipped"
        for name in BESIDE:
            source = Path(name)
            for file in [source] if source.is_file() else source.rglob("*"):
                if file.is_file():
                    self.mkpath(str((shipped / file).parent))
                    self.copy_file(str(file), str(shipped / file))


setup(cmdclass={"build_py": BuildWithSiteFiles})
