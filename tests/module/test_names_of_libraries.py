"""No name that Module adds to nn.Module is one that libraries look for in a model and take for something else."""

from __future__ import annotations

import typing

from torch import nn

from qten_gen import Module, param

LOOKED_FOR = frozenset(
    """
    active_adapter active_adapters base_model config floating_point_ops generation_config get_input_embeddings
    get_output_embeddings gradient_checkpointing_enable hf_device_map hf_quantizer is_gradient_checkpointing is_loaded_in_4bit
    is_loaded_in_8bit is_parallelizable is_quantized main_input_name model_parallel name_or_path peft_config
    prepare_inputs_for_generation push_to_hub quantization_method save_pretrained supports_gradient_checkpointing tie_weights
    trainer warnings_issued
    """.split()
)
"""What peft, transformers, accelerate, diffusers and Lightning ask of a model with `hasattr` or `getattr`."""


class Scaled(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)


def test_module_adds_no_name_that_libraries_look_for() -> None:
    assert {name for name in LOOKED_FOR if hasattr(Scaled(2), name)} == set()


def test_a_declared_module_has_no_configuration_for_a_library_that_asks_for_one() -> None:
    assert getattr(Scaled(2), "config", {"model_type": "custom"}) == {"model_type": "custom"}
    assert Scaled(2).get_config() == {"dim": 2}


def test_the_annotations_of_a_class_can_be_evaluated() -> None:
    """transformers does so in `__init_subclass__` of its models."""

    class Sized(Module):
        dim: int

    assert typing.get_type_hints(Sized)["dim"] is int
