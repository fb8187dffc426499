"""The parts of one job: workspace, build cache, artefacts, toolchain."""
