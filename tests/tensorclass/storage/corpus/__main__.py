"""Writes the files of objects that have none: `python -m tests.tensorclass.storage.corpus`. Files that exist stay."""

import pickle
from pathlib import Path

import torch

from .declared import OBJECTS

missing = {folder: made for name, made in OBJECTS.items() if not (folder := Path(__file__).with_name(name)).exists()}
if not missing:
    raise SystemExit("every object has its files, which are never replaced: give a new object a new name")
for folder, made in missing.items():
    made.memmap(folder / "map")
    made.save_safetensors(folder / "batch.safetensors")
    torch.save(made, folder / "torch_save.pth")
    for protocol in (5,) if folder.name == "dtypes" else (4, 5):  # torch has a few dtypes that protocol 4 loses
        (folder / f"protocol{protocol}.pickle").write_bytes(pickle.dumps(made, protocol))
