"""The functions, methods and layers of torch whose result is known, whatever their arguments are."""

from __future__ import annotations

FUNCTIONS = frozenset(
    {
        f"torch.nn.functional.{name}"
        for name in "adaptive_avg_pool2d avg_pool1d avg_pool2d avg_pool3d batch_norm binary_cross_entropy "
        "binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d conv_transpose2d cosine_similarity "
        "cross_entropy dropout dropout2d elu embedding fold gelu glu grid_sample group_norm hardtanh interpolate "
        "kl_div l1_loss layer_norm leaky_relu linear log_softmax logsigmoid mse_loss nll_loss normalize one_hot pad "
        "pixel_shuffle relu relu6 rms_norm scaled_dot_product_attention selu sigmoid silu smooth_l1_loss softmax "
        "softplus tanh unfold".split()
    }
    | {
        f"torch.{name}"
        for name in "abs add addmm amax amin arange argmax argmin atan2 baddbmm bernoulli bincount bmm broadcast_to bucketize "
        "cat ceil clamp clone complex concat conj cos cross cumprod cumsum diag diag_embed diagonal diff div dot einsum empty "
        "empty_like erf exp expm1 eye flatten flip floor from_numpy full full_like gather hann_window hstack "
        "index_select inverse isfinite isinf isnan istft lerp linspace log log10 log1p log2 logical_and logical_not "
        "logical_or logspace logsumexp masked_fill masked_select matmul maximum mean minimum mm mul multinomial "
        "nan_to_num norm normal ones ones_like outer permute polar pow prod rand rand_like randint randint_like randn "
        "randn_like randperm real reciprocal relu remainder repeat_interleave reshape roll round rsqrt scatter "
        "scatter_add searchsorted sigmoid sign sin sinh softmax sqrt square squeeze stack sub sum tan tanh tensor "
        "tile transpose tril triu trunc unflatten unsqueeze view_as_complex view_as_real vstack zeros zeros_like".split()
    }
)
"""Functions that return one tensor."""

FUNCTIONS_OF_SEVERAL = frozenset(f"torch.{name}" for name in "chunk meshgrid split tensor_split unbind".split())
"""Functions that return a sequence of tensors."""

METHODS = frozenset(
    "abs add add_ addcmul amax amin argmax argmin argsort bernoulli bernoulli_ bfloat16 bmm bool byte ceil clamp "
    "clamp_ clamp_max clamp_min clip clone contiguous copy_ cos cpu cuda cumprod cumsum detach detach_ diag "
    "diagonal diff div div_ dot double eq erf exp exp_ expand expand_as fill_ flatten flip float floor gather ge "
    "gt half index_add index_add_ index_copy_ index_fill index_select int inverse isfinite isinf isnan le lerp "
    "lerp_ log log10 log1p log2 log_softmax logical_and logical_not logical_or logsumexp long lt masked_fill "
    "masked_fill_ masked_scatter masked_select matmul maximum mean minimum mm movedim mul mul_ multinomial "
    "nan_to_num narrow ne neg new_empty new_full new_ones new_tensor new_zeros norm normal_ outer permute pow "
    "prod reciprocal relu relu_ remainder repeat repeat_interleave requires_grad_ reshape reshape_as roll round "
    "rsqrt scatter scatter_ scatter_add scatter_add_ select short sigmoid sign sin softmax sqrt square squeeze "
    "std sub sub_ sum t take tan tanh tile to transpose tril triu trunc type_as unflatten unfold uniform_ "
    "unsqueeze unsqueeze_ var view view_as zero_".split()
)
"""Methods of a tensor that return one."""

METHODS_OF_SEVERAL = frozenset("chunk split tensor_split unbind".split())
"""Methods of a tensor that return a sequence of tensors."""

ATTRIBUTES = frozenset("H T data imag mH mT real".split())
"""Attributes of a tensor that are one, and never None."""

CHECKING_LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in "BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "Dropout Dropout2d Embedding GELU GroupNorm LayerNorm Linear PReLU RMSNorm ReLU Sigmoid Tanh".split()
)
"""Layers that return one tensor, and raise where their argument is none."""

LAYERS = CHECKING_LAYERS | frozenset(
    f"torch.nn.{name}"
    for name in "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AvgPool1d AvgPool2d AvgPool3d BCELoss "
    "BCEWithLogitsLoss CELU CosineSimilarity CrossEntropyLoss ELU Flatten GLU Hardswish Hardtanh InstanceNorm1d "
    "InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LeakyReLU LogSoftmax MSELoss Mish NLLLoss PixelShuffle "
    "PixelUnshuffle ReLU6 SELU SiLU SmoothL1Loss Softmax Softplus Unfold Upsample ZeroPad2d".split()
)
"""Layers whose forward returns one tensor."""

WEIGHTED = frozenset(f"torch.nn.{name}" for name in "Conv1d Conv2d Conv3d Embedding Linear".split())
"""Layers whose weight is never None."""

CLASSES = frozenset(
    f"torch.{name}"
    for name in "BoolTensor DoubleTensor FloatTensor IntTensor LongTensor Tensor nn.Buffer nn.Parameter nn.parameter.Buffer "
    "nn.parameter.Parameter".split()
)
"""Classes of tensors."""

EINOPS = frozenset(f"einops.{name}" for name in ("rearrange", "reduce", "repeat"))
"""Functions that return a tensor for a tensor."""

EINOPS_LAYERS = frozenset(f"einops.layers.torch.{name}" for name in ("Rearrange", "Reduce"))
"""Layers that return a tensor for a tensor."""
