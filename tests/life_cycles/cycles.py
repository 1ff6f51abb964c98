"""Life cycles of one process: each makes a model in some trainer's way, from the checkpoint, and casts it in that way."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader, TensorDataset

from .models import Llm, checkpoint, eager, spoiled_memory

Cycle = Callable[[Path, torch.dtype], nn.Module]
"""Gets a folder, and the dtype of the model: float32, or one to which the trainer casts."""


def constructed(folder: Path, dtype: torch.dtype) -> nn.Module:
    """The eager one."""
    return eager().to(dtype)


def meta_to_empty(folder: Path, dtype: torch.dtype) -> nn.Module:
    with torch.device("meta"):
        model = Llm().to(dtype)
    spoiled_memory()
    model.to_empty(device="cpu")
    model.load_state_dict(checkpoint())
    return model


def meta_assign(folder: Path, dtype: torch.dtype) -> nn.Module:
    with torch.device("meta"):
        model = Llm(dtype=dtype)
    model.load_state_dict(eager().to(dtype).state_dict(), assign=True)
    return model


def leaves_first(folder: Path, dtype: torch.dtype) -> nn.Module:
    """What Lightning and FSDP1 do to a model on meta: each module alone, from the leaves up."""
    model = Llm(device="meta")
    spoiled_memory()
    for module in reversed([*model.modules()]):
        if any(True for _ in (*module.parameters(recurse=False), *module.buffers(recurse=False))):
            module.to_empty(device="cpu", recurse=False)
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()  # type: ignore[operator] # a method of the layers that have tensors
    model.to(dtype).load_state_dict(checkpoint())
    return model


def copied(folder: Path, dtype: torch.dtype) -> nn.Module:
    """Copies of every kind, an average, and tensors that are swapped, by a cast too."""
    model = pickle.loads(pickle.dumps(copy.deepcopy(eager())))
    model.head = weight = nn.Parameter(model.head.detach())
    assert model.embed.weight is weight
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    averaged = AveragedModel(torch.load(file, weights_only=False))
    averaged.update_parameters(eager())
    weight = averaged.module.embed.weight  # type: ignore[union-attr, assignment] # the wrapped model's
    torch.utils.swap_tensors(weight, nn.Parameter(weight.detach().clone()))  # type: ignore[no-untyped-call] # torch gives it none
    assert isinstance(averaged.module, nn.Module)
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        return averaged.module.to(dtype)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


class Partition:
    """What DeepSpeed's stage 3 does, where it is not installed: parameters are emptied once made, and gathered when used."""

    def __init__(self, model: Llm) -> None:
        self.parts = {id(each): each.data.chunk(2) for each in model.parameters()}
        for each in model.parameters():
            each.data = torch.empty(0, dtype=each.dtype)
        for module in model.modules():
            module.register_forward_pre_hook(self.gather)

    def gather(self, module: nn.Module, args: object) -> None:
        for each in module.parameters(recurse=False):
            each.data = torch.cat(self.parts[id(each)])


def partitioned(folder: Path, dtype: torch.dtype) -> nn.Module:
    model = eager().to(dtype)  # as its engine casts
    parts = Partition(model)
    model(torch.zeros(1, 4, dtype=torch.int64))
    for module in model.modules():
        parts.gather(module, ())
    return model


def accelerated(folder: Path, dtype: torch.dtype, told: torch.dtype | None = None) -> nn.Module:
    """accelerate: a model without memory, buffers too, and a checkpoint that is loaded, cast if it is told, and dispatched."""
    accelerate = importlib.import_module("accelerate")
    with accelerate.init_empty_weights(include_buffers=True):
        model = Llm().to(dtype)
    save = importlib.import_module("safetensors.torch").save_model
    save(eager(), str(folder / "model.safetensors"), metadata={"format": "pt"})
    spoiled_memory()
    made: nn.Module = accelerate.load_checkpoint_and_dispatch(
        model, str(folder / "model.safetensors"), device_map={"": "cpu"}, dtype=told
    )
    return made


def trained_by_lightning(folder: Path, dtype: torch.dtype) -> nn.Module:
    """Lightning: the model is made in `configure_model`, in the precision of the trainer, saved by the strategy, and loaded by
    another trainer.
    """
    lightning = importlib.import_module("lightning")

    class Task(lightning.LightningModule):  # type: ignore[misc, name-defined] # known at run time only
        model: Llm

        def configure_model(self) -> None:
            if not hasattr(self, "model"):
                self.model = Llm()
                self.model.load_state_dict(checkpoint())

        def training_step(self, batch: tuple[Tensor], index: int) -> Tensor:
            out: Tensor = self.model(batch[0])
            return out.sum()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.0)

    def trainer() -> Any:
        quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
        precision = "32-true" if dtype == torch.float32 else "bf16-true"
        return lightning.Trainer(max_steps=1, accelerator="cpu", default_root_dir=folder, precision=precision, **quiet)

    data = DataLoader(TensorDataset(torch.zeros(1, 4, dtype=torch.int64)))
    first = trainer()
    first.fit(Task(), data)
    first.save_checkpoint(folder / "lightning.ckpt")
    task = Task()
    trainer().fit(task, data, ckpt_path=folder / "lightning.ckpt")
    return task.model


def from_pretrained(folder: Path, dtype: torch.dtype) -> nn.Module:
    """transformers: a model with a declared part, which is made on meta and given memory tensor by tensor."""
    transformers = importlib.import_module("transformers")

    class Config(transformers.PretrainedConfig):  # type: ignore[misc, name-defined] # known at run time only
        model_type = "qten-life-cycle"

    class Model(transformers.PreTrainedModel):  # type: ignore[misc, name-defined] # as above
        config_class = Config
        _tied_weights_keys = {"core.head": "core.embed.weight"}  # noqa: RUF012 # as transformers reads it

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.core = Llm()
            self.post_init()

    model = Model(Config())
    model.core.load_state_dict(checkpoint())
    model.save_pretrained(folder)
    spoiled_memory()
    loaded = Model.from_pretrained(folder, dtype=dtype)
    made: nn.Module = loaded.core
    made(torch.zeros(1, 4, dtype=torch.int64))
    type.__delattr__(nn.Module, "smart_apply")  # which transformers leaves behind in torch's class
    return made


def adapted_by_peft(folder: Path, dtype: torch.dtype) -> nn.Module:
    """peft: LoRA on layers and on the tied embedding, saved, loaded, merged and unloaded."""
    peft = importlib.import_module("peft")
    config = peft.LoraConfig(r=2, target_modules=["proj", "embed", "router"], init_lora_weights=True)
    peft.get_peft_model(eager().to(dtype), config).save_pretrained(folder / "adapter")
    wrapped = peft.PeftModel.from_pretrained(eager(), folder / "adapter").to(dtype)
    made: nn.Module = wrapped.merge_and_unload()
    return made


def trained_by_torchtitan(folder: Path, dtype: torch.dtype) -> nn.Module:
    """torchtitan: its model around a declared part, made on meta, sharded, emptied, initialised, loaded by its manager."""
    base = importlib.import_module("torchtitan.protocols.model").BaseModel
    manager = importlib.import_module("torchtitan.components.checkpointer.dcp").CheckpointManager
    set_default_dtype = importlib.import_module("torchtitan.tools.utils").set_default_dtype

    class Titan(base):  # type: ignore[misc, valid-type] # known at run time only
        def __init__(self, config: object) -> None:
            super().__init__()
            self.core = Llm()

        def forward(self, tokens: Tensor) -> Tensor:
            out: Tensor = self.core(tokens)
            return out

    class Stateless:
        def state_dict(self) -> dict[str, object]:
            return {}

    def managed(model: nn.Module, name: str, **options: object) -> Any:
        """A manager as torchtitan's trainer makes it."""
        config = manager.Config(enable=True, folder=str(folder / name), **options)
        others = {"dataloader": None, "optimizers": Stateless(), "lr_schedulers": Stateless(), "sd_adapter": None}
        return manager(config, model_parts=[model], states={}, **others)

    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    try:
        saved: Any = Titan(None)
        saved.core.load_state_dict(checkpoint())
        managed(saved, "saved").save(1, last_step=True)
        with set_default_dtype(dtype), torch.device("meta"):
            model: Any = Titan(None)
        for block in model.core.blocks:
            fully_shard(block.router, mesh=init_device_mesh("cpu", (1,)))
        fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
        spoiled_memory()
        model.to_empty(device="cpu")
        with torch.no_grad():
            model.init_weights(buffer_device=None)
        assert managed(model, "run", initial_load_path=str(folder / "saved" / "step-1")).load()
        model(torch.zeros(1, 4, dtype=torch.int64)).sum().backward()
    finally:
        dist.destroy_process_group()
    return cast(nn.Module, model.core)


CYCLES: dict[str, Cycle] = {
    "eager": constructed,
    "meta, to_empty, load": meta_to_empty,
    "meta, load with assign=True": meta_assign,
    "each module alone, reset_parameters": leaves_first,
    "deepcopy, pickle, EMA, swap_tensors": copied,
    "parameters in parts": partitioned,
    "accelerate": accelerated,
    "Lightning": trained_by_lightning,
    "peft": adapted_by_peft,
    "transformers": from_pretrained,
    "torchtitan": trained_by_torchtitan,
}
NEEDS = {name: name.lower() for name in ("accelerate", "Lightning", "peft", "transformers", "torchtitan")}
"""The libraries that some need."""
