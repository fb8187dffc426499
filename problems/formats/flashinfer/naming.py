"""SOL-ExecBench's rules that take the kind of random data from an input's name."""

from problems.formats.flashinfer.records import Dialect, TensorSpec

POSITIVE = ("rstd", "std", "variance", "var")
DECAYS = {"A_cumsum": "decay_sum", "A_log": "decay_log", "A": "decay", "g": "gate"}
MASKS = ("x_mask", "text_mask", "aspect_ratio_mask", "drop_mask", "attention_mask")
MASK_WORDS = ("binary", "{0, 1}", "0 or 1", "1.0 for valid", "0.0 for masked")
ATTENTION = ("attn_weights", "attention_weights", "routing_weights")
NORMS = ("norm", "layernorm")
WEIGHTS = ("_weight", "_weights", "_proj", "_projs", "_weight_matrix")
NARROW = frozenset({"float8_e4m3fn", "float8_e5m2"})


def rule_of(name: str, spec: TensorSpec, op_type: str, dialect: Dialect) -> str:
    """The rule for an input that a workload calls random; "" for plain random numbers."""
    if not spec.dtype.startswith(("float", "bfloat")):
        return ""
    if op_type == "sampling" and name == "probs":
        return "softmax"
    if dialect == "flashinfer" or spec.dtype in NARROW:
        return ""
    return _by_name(name, spec)


def _by_name(name: str, spec: TensorSpec) -> str:
    """The first rule that fits."""
    told, shape = (spec.description or "").lower(), spec.shape or []
    base = name.rstrip("0123456789")
    is_square = len(shape) >= 2 and shape[-1] == shape[-2]
    is_causal = name in ("attention_mask", "causal_mask") or ("attention mask" in told and "causal" in told)
    is_softmax = name in ATTENTION or ("softmax" in told and "output" in told)
    rules = (
        ("ones", _is_of_norm(name, "_weight")),
        ("zeros", _is_of_norm(name, "_bias")),
        ("causal", is_square and is_causal),
        ("mask", name in MASKS or (name.endswith("_mask") and any(word in told for word in MASK_WORDS))),
        ("cos", name in ("cos", "cos_cached", "rope_cos")),
        ("sin", name in ("sin", "sin_cached", "rope_sin")),
        ("positive", base in POSITIVE or base.endswith(("_rstd", "_std", "_variance", "_var"))),
        (DECAYS.get(name, ""), name in DECAYS),
        ("softmax", is_softmax),
        ("weight", len(shape) >= 2 and (base == "weight" or base.endswith(WEIGHTS))),
    )
    return next((rule for rule, fits in rules if fits), "")


def _is_of_norm(name: str, ending: str) -> bool:
    if name == f"norm{ending}":
        return True
    if not name.endswith(ending):
        return False
    before = name.removesuffix(ending)
    return before.endswith(("_norm", "layernorm")) or before.rstrip("0123456789").endswith(NORMS)
