"""Made from templates/*.j2. Do not edit; run: python -m templates.compile"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..emit.stub_file import StubFileView
    from ..emit.module_stub import ModuleStubView
    from ..emit.tensorclass_stub import TensorClassStubView


def file_pyi(file: StubFileView, classes: Iterable[str]) -> str:
    """The text of file.pyi.j2."""
    out: list[str] = []
    add = out.append
    for line in file.directives:
        add(f"{line}\n")
    add(f"\"\"\"{file.summary}\"\"\"\n")
    for group in file.imports:
        add("\n")
        for line in group:
            add(f"{line}\n")
    for text in classes:
        add(
            "\n"
            f"{text}"
        )
    if file.functions:
        add("\n")
        for line in file.functions:
            add(f"{line}\n")
    return "".join(out)


def module_pyi(c: ModuleStubView) -> str:
    """The text of module.pyi.j2."""
    out: list[str] = []
    add = out.append
    if c.config:
        add(
            "@_t.type_check_only\n"
            f"class {c.config}(_t.TypedDict):\n"
            f"    \"\"\"What `{c.name}.config` returns.\"\"\"\n"
        )
        for line in c.values:
            add(f"    {line}\n")
        add("\n")
    if c.arguments:
        add(
            "@_t.type_check_only\n"
            f"class {c.taken}(_t.TypedDict):\n"
            f"    \"\"\"What `{c.name}.from_config` takes.\"\"\"\n"
        )
        for line in c.arguments:
            add(f"    {line}\n")
        add("\n")
    if c.keys:
        add(
            "@_t.type_check_only\n"
            f"{c.keys}\n"
            f"    \"\"\"What `{c.name}.state_dict` returns.\"\"\"\n"
            "\n"
        )
    if c.is_final:
        add("@_t.final\n")
    add(
        f"class {c.name}{c.parameters}({c.bases}):{c.remark}\n"
        f"    {c.doc}\n"
    )
    for line in c.slots:
        add(f"    {line}\n")
    if c.init:
        add(f"    {c.init}\n")
    for line in c.members:
        add(f"    {line}\n")
    for call in c.calls:
        add(f"    {call}\n")
    for child in c.children:
        add(
            "    @_t.overload\n"
            f"    {child.lookup}\n"
        )
    if c.below:
        if c.children:
            add("    @_t.overload\n")
        add(f"    {c.below}\n")
    for line in c.lookups:
        add(f"    {line}\n")
    add(
        "    @_t.overload\n"
        f"    def state_dict(self, *, keep_vars: {c.builtin['bool']} = ...) -> {c.state}: ...\n"
        "    @_t.overload\n"
        f"    def state_dict(self, *, prefix: {c.builtin['str']}, keep_vars: {c.builtin['bool']} = ...) -> _OrderedDict[{c.builtin['str']}, _torch.Tensor]: ...\n"
        "    @_t.overload\n"
        "    def state_dict(\n"
        f"        self, *, destination: _Destination, prefix: {c.builtin['str']} = ..., keep_vars: {c.builtin['bool']} = ...\n"
        "    ) -> _Destination: ...\n"
    )
    if c.config:
        if c.has_config:
            add(f"    def config(self) -> {c.config}: ...\n")
        add(
            f"    @{c.builtin['classmethod']}\n"
            "    def from_config(\n"
            f"        cls, config: {c.taken}, *, device: _DeviceLike = ..., dtype: _torch.dtype | None = ...\n"
            "    ) -> _t.Self: ...\n"
        )
    return "".join(out)


def tensorclass_pyi(c: TensorClassStubView) -> str:
    """The text of tensorclass.pyi.j2."""
    out: list[str] = []
    add = out.append
    add(
        "@_t.type_check_only\n"
        f"class {c.typed['Dict']}{c.parameters}(_t.TypedDict{c.generic}):\n"
        f"    \"\"\"What `{c.name}.to_dict` returns.\"\"\"\n"
    )
    for line in c.as_dict:
        add(f"    {line}\n")
    add(
        "\n"
        "@_t.type_check_only\n"
        f"class {c.typed['Arrays']}{c.parameters}(_t.TypedDict{c.generic}):\n"
        f"    \"\"\"What `{c.name}.numpy` returns.\"\"\"\n"
    )
    for line in c.as_arrays:
        add(f"    {line}\n")
    add(
        "\n"
        "@_t.type_check_only\n"
        f"class {c.typed['Fields']}{c.parameters}(_t.TypedDict{c.generic}, total=False):\n"
        f"    \"\"\"Some fields of `{c.name}`, as `select` returns them.\"\"\"\n"
    )
    for line in c.chosen:
        add(f"    {line}\n")
    add(
        "\n"
        "@_t.type_check_only\n"
        f"class {c.typed['Input']}{c.parameters}(_t.TypedDict{c.generic}):\n"
        f"    \"\"\"What `{c.name}.from_dict` takes.\"\"\"\n"
    )
    for line in c.given:
        add(f"    {line}\n")
    add("\n")
    for line in c.key_types:
        add(f"{line}\n")
    add(
        "\n"
        "@_t.type_check_only\n"
        f"class {c.typed['Update']}{c.parameters}(_t.TypedDict{c.generic}, total=False):\n"
        f"    \"\"\"What `{c.name}.update` takes.\"\"\"\n"
    )
    for line in c.changed:
        add(f"    {line}\n")
    add("\n")
    if c.is_final:
        add("@_t.final\n")
    add(
        f"class {c.name}{c.parameters}({c.bases}):{c.remark}\n"
        f"    {c.doc}\n"
    )
    for line in c.slots:
        add(f"    {line}\n")
    if c.init:
        add(f"    {c.init}\n")
    for line in c.members:
        add(f"    {line}\n")
    for line in c.readers:
        add(f"    {line}\n")
    if c.frozen:
        add(
            f"    def set(self, key: _t.Never, value: _t.Never, inplace: {c.builtin['bool']} = ..., non_blocking: {c.builtin['bool']} = ...) -> _t.Never: ...\n"
            "    def update(\n"
            "        self,\n"
            "        values: None = ...,\n"
            f"        clone: {c.builtin['bool']} = ...,\n"
            f"        inplace: {c.builtin['bool']} = ...,\n"
            "        *,\n"
            f"        non_blocking: {c.builtin['bool']} = ...,\n"
            "        keys_to_update: _t.Sequence[_Key] | None = ...,\n"
            "        **fields: _t.Never,\n"
            "    ) -> _t.Never: ...\n"
        )
    else:
        for line in c.setters:
            add(f"    {line}\n")
        add(
            "    def update(\n"
            "        self,\n"
            f"        {c.updated_with}\n"
            f"        clone: {c.builtin['bool']} = ...,\n"
            f"        inplace: {c.builtin['bool']} = ...,\n"
            "        *,\n"
            f"        non_blocking: {c.builtin['bool']} = ...,\n"
            f"        keys_to_update: _t.Sequence[{c.chosen_keys}] | None = ...,\n"
            f"        **fields: _t.Unpack[{c.typed['Update']}{c.arguments}],\n"
            "    ) -> _t.Self: ...\n"
        )
    for line in c.writers:
        add(f"    {line}\n")
    for line in c.selections:
        add(f"    {line}\n")
    add(
        f"    {c.replace}\n"
        f"    {c.listed}\n"
        f"    @{c.builtin['classmethod']}\n"
        "    def from_dict(\n"
        "        cls,\n"
        f"        values: {c.typed['Input']}{c.arguments},\n"
        "        *,\n"
        "        batch_size: _BatchSize = ...,\n"
        "        device: _DeviceLike = ...,\n"
        "        names: _NamesLike = ...,\n"
        f"        auto_batch_size: {c.builtin['bool']} | None = ...,\n"
        f"        batch_dims: {c.builtin['int']} | None = ...,\n"
        "        **refused: _t.Never,\n"
        "    ) -> _t.Self: ...\n"
    )
    return "".join(out)
