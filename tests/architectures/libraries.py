"""Small models of libraries that know nothing of qten-gen, each by the module and name of its constructor, and arguments."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import pytest
from torch import nn

_TIMM = """
    bat_resnext26ts beit_base_patch16_224 cait_xxs24_224 coat_tiny coatnet_0_rw_224 convit_tiny convmixer_768_32
    convnext_atto crossvit_tiny_240 cspresnet50 darknet17 davit_tiny deit_tiny_patch16_224 densenet121 dla34 edgenext_xx_small
    efficientformer_l1 efficientnet_b0 efficientvit_b0 eva02_tiny_patch14_224 fastvit_t8 fbnetc_100 focalnet_tiny_srf
    gcvit_xxtiny ghostnet_050 hardcorenas_a hgnet_tiny hrnet_w18_small inception_next_atto levit_128s maxvit_rmlp_pico_rw_256
    mixer_s32_224 mnasnet_050 mobilenetv3_small_050 mobileone_s0 mobilevit_xxs nfnet_f0 pit_ti_224 poolformer_s12 pvt_v2_b0
    regnetx_002 repvit_m0_9 res2net50_14w_8s resnet18 rexnet_100 selecsls42 sequencer2d_s skresnet18 swin_tiny_patch4_window7_224
    swinv2_tiny_window8_256 tiny_vit_5m_224 twins_svt_small vgg11_bn visformer_tiny vit_tiny_patch16_224 volo_d1_224
    xcit_nano_12_p16_224
""".split()
_TORCHVISION = """
    alexnet convnext_tiny densenet121 efficientnet_b0 googlenet inception_v3 maxvit_t mnasnet0_5 mobilenet_v2
    mobilenet_v3_small regnet_y_400mf resnet18 resnext50_32x4d shufflenet_v2_x0_5 squeezenet1_0 swin_t swin_v2_t vit_b_32
""".split()
_SEGMENTATION = "DeepLabV3 DeepLabV3Plus FPN Linknet MAnet PAN PSPNet Segformer UPerNet Unet UnetPlusPlus".split()
_GRAPHS = "EdgeCNN GAT GCN GIN GraphSAGE".split()

_HEADS: dict[str, Any] = {"num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 2, "sample_size": 16}
_BLOCKS: dict[str, Any] = {"block_out_channels": (32, 64), "layers_per_block": 1}
_VOLUME: dict[str, Any] = {"spatial_dims": 3, "in_channels": 1, "out_channels": 2}
_VISION: dict[str, Any] = {"layers": 2, "width": 64, "head_width": 32, "patch_size": 16, "image_size": 32}
_TEXT: dict[str, Any] = {"context_length": 16, "vocab_size": 99, "width": 32, "heads": 2, "layers": 2}
_SEQUENCE: dict[str, Any] = {"num_tokens": 50, "max_seq_len": 32}

Arguments = dict[str, Any]
"""The arguments of a constructor. A pair `(name, arguments)` among them is made first, by the same module."""

CONSTRUCTORS: dict[str, list[tuple[str, str, Arguments]]] = {
    "diffusers": [
        ("diffusers", name, arguments)
        for name, arguments in {
            "AutoencoderKL": {
                **_BLOCKS,
                "down_block_types": ["DownEncoderBlock2D"] * 2,
                "up_block_types": ["UpDecoderBlock2D"] * 2,
            },
            "ControlNetModel": {
                **_BLOCKS,
                "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
                "cross_attention_dim": 32,
            },
            "AutoencoderTiny": {
                "encoder_block_out_channels": (8, 8),
                "decoder_block_out_channels": (8, 8),
                "num_encoder_blocks": (1, 1),
                "num_decoder_blocks": (1, 1),
            },
            "DiTTransformer2DModel": _HEADS,
            "FluxTransformer2DModel": {
                "num_layers": 1,
                "num_single_layers": 1,
                "attention_head_dim": 8,
                "num_attention_heads": 2,
                "joint_attention_dim": 16,
                "pooled_projection_dim": 16,
                "axes_dims_rope": (2, 2, 4),
            },
            "PixArtTransformer2DModel": {**_HEADS, "cross_attention_dim": 16, "caption_channels": 16},
            "PriorTransformer": {
                "num_attention_heads": 2,
                "attention_head_dim": 8,
                "num_layers": 1,
                "embedding_dim": 16,
                "num_embeddings": 4,
            },
            "UNet2DModel": {
                **_BLOCKS,
                "sample_size": 16,
                "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
                "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
            },
            "VQModel": {},
        }.items()
    ],
    "e3nn": [
        ("e3nn.o3", "Linear", {"irreps_in": "4x0e + 2x1o", "irreps_out": "3x0e + 1x1o"}),
        ("e3nn.nn", "FullyConnectedNet", {"hs": [4, 8, 2]}),
        ("e3nn.nn", "BatchNorm", {"irreps": "4x0e + 2x1o"}),
    ],
    "monai": [
        ("monai.networks.nets", name, arguments)
        for name, arguments in {
            "AttentionUnet": {**_VOLUME, "channels": (4, 8), "strides": (2,)},
            "BasicUNet": {**_VOLUME, "features": (4, 4, 8, 8, 16, 4)},
            "DenseNet": {**_VOLUME, "init_features": 8, "growth_rate": 4, "block_config": (2, 2)},
            "DynUNet": {
                **_VOLUME,
                "kernel_size": (3, 3, 3),
                "strides": (1, 2, 2),
                "upsample_kernel_size": (2, 2),
                "filters": (4, 8, 8),
            },
            "HighResNet": {"in_channels": 1, "out_channels": 2},
            "SegResNet": {"init_filters": 8},
            "SwinUNETR": {"in_channels": 1, "out_channels": 2, "feature_size": 12},
            "UNETR": {**_VOLUME, "img_size": 32, "feature_size": 4, "hidden_size": 48, "mlp_dim": 64, "num_heads": 4},
            "UNet": {**_VOLUME, "channels": (4, 8, 8), "strides": (2, 2)},
            "ViT": {
                "in_channels": 1,
                "img_size": 32,
                "patch_size": 16,
                "hidden_size": 48,
                "mlp_dim": 64,
                "num_heads": 4,
            },
        }.items()
    ],
    # Its CoCa is not here: a parameter of it is left as memory finds it.
    "open_clip": [
        ("open_clip", "CLIP", {"embed_dim": 16, "vision_cfg": _VISION, "text_cfg": _TEXT}),
        ("open_clip", "CustomTextCLIP", {"embed_dim": 16, "vision_cfg": _VISION, "text_cfg": _TEXT}),
    ],
    "segmentation_models_pytorch": [
        ("segmentation_models_pytorch", name, {"encoder_name": "resnet18", "encoder_weights": None})
        for name in _SEGMENTATION
    ],
    "timm": [("timm", "create_model", {"model_name": name, "num_classes": 10}) for name in _TIMM],
    "torch_geometric": [
        *(
            ("torch_geometric.nn", name, {"in_channels": 8, "hidden_channels": 8, "num_layers": 2, "out_channels": 4})
            for name in _GRAPHS
        ),
        ("torch_geometric.nn", "SchNet", {"hidden_channels": 16, "num_filters": 16, "num_interactions": 2}),
    ],
    "torchvision": [("torchvision.models", name, {}) for name in _TORCHVISION],
    "x_transformers": [
        ("x_transformers", "TransformerWrapper", {**_SEQUENCE, "attn_layers": (name, {"dim": 32, "depth": 2, **own})})
        for name, own in (
            ("Decoder", {}),
            ("Decoder", {"rotary_pos_emb": True, "use_rmsnorm": True, "ff_glu": True}),
            ("Decoder", {"alibi_pos_bias": True, "alibi_num_heads": 4}),
            ("Encoder", {"rel_pos_bias": True}),
            ("Encoder", {"dynamic_pos_bias": True, "use_scalenorm": True}),
        )
    ],
}
"""By the library: a constructor is looked up in a module, and called with arguments."""


def make(module: str, name: str, arguments: Arguments) -> nn.Module:
    """A model of a library, as its users make it."""
    found = import_module(module)
    nested = {
        key: getattr(found, value[0])(**value[1])
        for key, value in arguments.items()
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict)
    }
    model: nn.Module = getattr(found, name)(**{**arguments, **nested})
    return model


def made_of(library: str) -> dict[str, partial[nn.Module]]:
    """The constructors of a library with their arguments, by names for tests."""
    found: dict[str, partial[nn.Module]] = {}
    for index, (module, name, arguments) in enumerate(CONSTRUCTORS[library]):
        shown = arguments.get("model_name", f"{name}-{index}" if "attn_layers" in arguments else name)
        found[shown] = partial(make, module, name, arguments)
    return found


def skip_without(library: str) -> None:
    """Skip a test whose library is missing, or was built for another torch."""
    try:
        import_module(library)
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"{library} cannot be imported: {error}")
