"""The methods of tensors that are functions for objects: `torch.mean(batch)`. Made by `make generate`."""

FUNCTIONS = """
    abs acos acosh add addcdiv addcmul allclose amax amin angle asin asinh atan atan2 atanh bernoulli bitwise_and
    bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min conj copysign cos cosh
    cummax cummin cumprod cumsum deg2rad digamma div equal erf erfc erfinv exp exp2 expm1 float_power floor floor_divide
    fmax fmin fmod frac gcd hardshrink heaviside hypot i0 igamma igammac imag isclose isfinite isinf isnan isneginf
    isposinf isreal lcm ldexp lerp lgamma log log10 log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp logical_and
    logical_not logical_or logical_xor logit logsumexp max maximum mean min minimum mul mvlgamma nan_to_num nanmean
    nansum neg nextafter norm polygamma pow prelu prod rad2deg real reciprocal relu remainder resolve_conj resolve_neg
    round rsqrt sgn sigmoid sign signbit sin sinc sinh softmax sqrt square std sub sum tan tanh trunc var xlogy
""".split()
