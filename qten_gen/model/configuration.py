"""Configuration classes: which attributes an object has that a module takes as an argument."""

from __future__ import annotations

from collections.abc import Mapping

from ..common.records import field, record
from .expressions import TypeExpr


@record(frozen=True, slots=True)
class ConfigurationClass:
    """A class all of whose attributes are known."""

    attributes: Mapping[str, TypeExpr | None] = field(default_factory=dict)
    """Each attribute with its annotation; None where nothing says its type."""


_OBJECT = ("__class__", "__dict__", "__doc__", "__module__")
_NAMED_TUPLE = ("count", "index", "_asdict", "_fields", "_replace")
_PYDANTIC = tuple(
    """
    construct copy dict fields_set from_orm json model_computed_fields model_config model_construct model_copy model_dump
    model_dump_json model_extra model_fields model_fields_set model_json_schema model_post_init model_rebuild model_validate
    model_validate_json parse_file parse_obj parse_raw schema schema_json update_forward_refs validate
    """.split()
)
_TRANSFORMERS = tuple(
    """ add_cross_attention allow_global_per_layer_attribute_access architectures attn_implementation attribute_map auto_map
    bad_words_ids base_config_key base_model_ep_plan base_model_fsdp_plan base_model_pp_plan base_model_tp_plan
    begin_suppress_tokens bos_token_id chunk_size_feed_forward convert_rope_params_to_dict cross_attention_hidden_size
    decoder_start_token_id default_config_fields default_rope_type default_theta dict_dtype_to_str diversity_penalty do_sample
    dtype early_stopping encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty extra_config_files extra_files
    finetuning_task forced_bos_token_id forced_eos_token_id from_dict from_json_file from_pretrained get_config_dict
    get_mtp_config get_text_config has_no_defaults_at_init id2label ignore_keys_at_rope_validation is_composition is_custom_code
    is_decoder is_encoder_decoder is_heterogeneous is_remote_code keys_to_ignore_at_inference label2id length_penalty max_length
    min_length model_type name_or_path nested_rope_parameter_keys no_repeat_ngram_size num_beam_groups num_beams num_labels
    num_return_sequences output_attentions output_hidden_states output_scores pad_token_id per_layer_attributes per_layer_config
    prefix problem_type pruned_heads push_to_hub register_for_auto_class remove_invalid_values repetition_penalty return_dict
    return_dict_in_generate rope_parameters rope_scaling rope_theta save_pretrained sep_token_id
    serialize_explicit_per_layer_config standardize_rope_params sub_configs sub_configs_defaults suppress_tokens
    task_specific_params temperature tf_legacy_loss tie_encoder_decoder tie_word_embeddings to_dict to_diff_dict to_json_file
    to_json_string tokenizer_class top_k top_p torch_dtype torchscript transformers_version transformers_weights typical_p update
    update_from_string use_bfloat16 use_return_dict validate """.split()
)
"""What the base class of configurations in transformers has, in versions 4 and 5."""

_TRANSFORMERS_ROOTS = tuple(
    f"transformers{module}.{name}"
    for module in ("", ".configuration_utils", ".modeling_utils")
    for name in ("PretrainedConfig", "PreTrainedConfig")
)

KNOWN_ROOTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC", "enum.Enum"), _OBJECT),
    **dict.fromkeys(("typing.NamedTuple", "builtins.tuple"), _NAMED_TUPLE),
    **dict.fromkeys(("pydantic.BaseModel", "pydantic.main.BaseModel"), _PYDANTIC),
    **dict.fromkeys(_TRANSFORMERS_ROOTS, _TRANSFORMERS),
}
"""Classes of libraries that configuration classes derive from, with the attributes that their objects have."""


def names_of_root(name: str) -> dict[str, TypeExpr | None]:
    """The attributes of such a class, without types."""
    return dict.fromkeys((*_OBJECT, *KNOWN_ROOTS[name]))
