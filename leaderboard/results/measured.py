"""The place and time of measuring results, from their provenance, in a few words."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_CUDA = re.compile(r"\bnvcc (\d+\.\d+)")
UNKNOWN = "where and when it was measured is not recorded"


def cuda_of(toolkit: str) -> str:
    """`g++ 12.2.0, nvcc 13.0.88` → `13.0`; empty where there is no nvcc."""
    found = _CUDA.search(toolkit)
    return found[1] if found else ""


def where_measured(provenances: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Hardware, software and days of several results: hardware in lists of distinct words, days as first and last."""
    known = list(provenances)
    machines = dict.fromkeys(words for one in known if (words := _machine(one)))
    days = sorted(day for one in known if (day := str(one.get("finished_at", ""))[:10]))
    return {"machines": list(machines), "first_day": days[0] if days else "", "last_day": days[-1] if days else ""}


def _machine(provenance: Mapping[str, Any]) -> str:
    """`NVIDIA H200 (driver 580.82.07, CUDA 13.0)`; a machine without a GPU by its processor."""
    device = provenance.get("gpu") or provenance.get("cpu_model") or ""
    if not device:
        return ""
    driver, cuda = str(provenance.get("driver", "")), cuda_of(str(provenance.get("toolkit", "")))
    software = ", ".join(
        words for words in (f"driver {driver}" if driver else "", f"CUDA {cuda}" if cuda else "") if words
    )
    return f"{device} ({software})" if software else str(device)


def measured_words(where: Mapping[str, Any] | None) -> str:
    """`measured on NVIDIA H200 (driver 580.82.07, CUDA 13.0) on 2026-11-21`."""
    machines, first, last = _parts(where)
    if not machines and not last:
        return UNKNOWN
    days = "" if not last else f" on {last}" if first == last else f" from {first} to {last}"
    return f"measured on {' and '.join(machines) or 'an unnamed machine'}{days}"


def _parts(where: Mapping[str, Any] | None) -> tuple[list[str], str, str]:
    known = where or {}
    return list(known.get("machines", ())), str(known.get("first_day", "")), str(known.get("last_day", ""))


def last_day_of(where: Mapping[str, Any] | None) -> str:
    """The last day on which imported results were measured; empty if they do not say, and for others."""
    return _parts(where)[2]


def together(wheres: Iterable[Mapping[str, Any] | None]) -> dict[str, Any]:
    """The places and days of several submissions in one."""
    parts = [_parts(where) for where in wheres]
    days = sorted(day for _, first, last in parts for day in (first, last) if day)
    machines = dict.fromkeys(words for one, _, _ in parts for words in one)
    return {"machines": list(machines), "first_day": days[0] if days else "", "last_day": days[-1] if days else ""}
