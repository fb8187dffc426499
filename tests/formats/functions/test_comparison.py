"""A manifest made again must say what the stored one says."""

from typing import Any

import pytest

from problems.formats.functions.comparison import differences
from problems.spec.function.manifest import Manifest
from tests.spec.functions import SOFTMAX_PARAMETERS, manifest_fields, softmax_case


def made(**changes: Any) -> Manifest:
    return Manifest.model_validate(manifest_fields(**changes))


def test_equal_manifests_agree() -> None:
    assert differences(made(), made()) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"output_init": "zero"}, "`output_init` was poison and is zero"),
        ({"class_name": "Other"}, "`class_name` was RowSoftmax and is Other"),
        ({"cases": [softmax_case()]}, "the cases were `3 x 5`, `512 x 4096` and are `3 x 5`"),
        ({"cases": [softmax_case(flops=7.0), softmax_case(512, 4096)]}, "case `3 x 5`: `flops` was 75.0 and is 7.0"),
        ({"cases": [softmax_case(input_sets=4), softmax_case(512, 4096)]}, "case `3 x 5`: `input_sets` was 1 and is 4"),
        ({"parameters": [*SOFTMAX_PARAMETERS[:3], SOFTMAX_PARAMETERS[3] | {"dtype": "int32"}]},
         "parameter `cols`: `dtype` was size_t and is int32"),
        ({"cases": [softmax_case(ranks=False, why_not="`y` is fixed"), softmax_case(512, 4096)]},
         "case `3 x 5` ranked when it was packed, and did not rank (`y` is fixed) here"),
    ],
)  # fmt: skip
def test_each_difference_is_told(changes: dict[str, Any], words: str) -> None:
    assert differences(made(), made(**changes)) == [words]


def test_nothing_is_told_of_what_fake_tensors_do_not_know() -> None:
    fake = made(cases=[softmax_case(ranks=None), softmax_case(512, 4096, ranks=None)])
    assert differences(fake, made()) == []


def test_a_manifest_that_was_read_is_compared_in_its_signature() -> None:
    read = made(cases=[], is_run=False, dtype="fp16")
    assert differences(read, made()) == []
    turned = [SOFTMAX_PARAMETERS[0] | {"direction": "inout", "const": False}, *SOFTMAX_PARAMETERS[1:]]
    assert differences(read, made(parameters=turned)) == ["parameter `x`: `direction` was in and is inout"]
    fewer = made(parameters=SOFTMAX_PARAMETERS[1:], cases=[], is_run=False)
    assert differences(read, fewer)[-1] == "had 4 parameters and has 3"
