"""The two ways a pack is read: strictly as ComputeEval does, or as Podium's own superset."""

from enum import StrEnum


class Profile(StrEnum):
    """The profile that a pack's metadata states; absent means `compute-eval`."""

    COMPUTE_EVAL = "compute-eval"
    PODIUM = "podium/1"


STRICT_RELEASES = ("internal", "2025-1", "2025-2", "2025-3", "2026-1")
STRICT_GROUPS = ("cuda-runtime", "cuda-kernels", "cccl", "cublas", "mathlibs", "cutile", "cudnn")


def check_name(value: str, strict_names: tuple[str, ...], profile: Profile) -> str:
    """Return `value`, or raise ValueError where a strict pack may not use it."""
    if profile is Profile.PODIUM:
        if not value.strip():
            raise ValueError("must not be empty")
    elif value not in strict_names:
        raise ValueError(
            f"is not one of {', '.join(strict_names)}; only packs with profile podium/1 may use other names"
        )
    return value
