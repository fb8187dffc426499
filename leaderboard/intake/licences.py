"""Licences of submitted code, as SPDX expressions."""

MAX_LICENCE = 100
LICENCE = r"^[A-Za-z0-9(][A-Za-z0-9 .+:()-]*$"
LICENCE_HELP = "An SPDX expression such as Apache-2.0; empty: not stated."
BAD_LICENCE = (
    "A licence is an SPDX expression: letters, digits, spaces and . + : ( ) - only, as MIT or Apache-2.0 OR MIT."
)
SUGGESTED = (
    "Apache-2.0",
    "MIT",
    "BSD-3-Clause",
    "MPL-2.0",
    "GPL-3.0-only",
    "AGPL-3.0-only",
    "CC-BY-4.0",
    "CC0-1.0",
    "LicenseRef-All-rights-reserved",
)
NOT_STATED = "not stated"
