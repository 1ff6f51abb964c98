"""Made from templates/*.j2. Do not edit; run: python -m templates.compile"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..emit.file import PythonFileView
    from ..emit.module import ModuleView
    from ..emit.tensorclass import TensorClassView


def file_py(file: PythonFileView, classes: Iterable[str]) -> str:
    """The text of file.py.j2."""
    out: list[str] = []
    add = out.append
    for line in file.directives:
        add(f"{line}\n")
    add(f"\"\"\"{file.summary}\"\"\"\n")
    for group in file.imports:
        add("\n")
        for line in group:
            add(f"{line}\n")
    add(
        "\n"
        "if _t.TYPE_CHECKING:\n"
    )
    for line in file.checking:
        add(f"    {line}\n")
    if file.short_names:
        add("\n")
        for line in file.short_names:
            add(f"{line}\n")
    add(
        "\n"
        "\n"
        "def __getattr__(name: str) -> object:\n"
        f"    return {file.lookup}\n"
    )
    for text in classes:
        add(
            "\n"
            "\n"
            f"{text}"
        )
    return "".join(out)


def module_py(c: ModuleView) -> str:
    """The text of module.py.j2."""
    out: list[str] = []
    add = out.append
    add(
        f"class {c.name}(_rt.ModuleBase):\n"
        f"    {c.doc}\n"
        "\n"
    )
    for line in c.attributes:
        add(f"    {line}\n")
    if c.constructs:
        add(
            "\n"
            "    def __init__(\n"
            "        self,\n"
        )
        for parameter in c.parameters:
            add(f"        {parameter},\n")
        add(
            "    ) -> None:\n"
            f"        {c.init_doc}\n"
            "        _rt.init_module(self)\n"
        )
        for field in c.defaults:
            add(
                f"        if {field.argument} is _rt.DEFAULT:\n"
                f"            {field.argument} = _rt.default(self, \"{field.name}\")\n"
            )
        for field in c.renamed:
            add(f"        {field.name} = {field.argument}\n")
        for line in c.registrations:
            add(f"        {line}\n")
        if c.guarded:
            add(f"        {c.guarded}\n")
        if c.resets:
            add("        self.reset_parameters()\n")
        if c.computes:
            add("        _features.forget_fresh(self)\n")
        if c.post_init:
            add("        self.__post_init__()\n")
        if c.guarded:
            add("        _rt.check_filled(self, _unfilled)\n")
        add(
            "\n"
            "    def reset_parameters(self) -> None:\n"
        )
        if (c.super_reset or c.initializers):
            add("        \"\"\"Initialise the parameters and buffers of this module; submodules initialise themselves.\"\"\"\n")
        else:
            add("        \"\"\"Nothing to initialise here; submodules initialise themselves.\"\"\"\n")
        if c.super_reset:
            add("        super().reset_parameters()\n")
        if c.initializers:
            add("        with _torch.no_grad():\n")
            for line in c.initializers:
                add(f"            {line}\n")
    for p in c.registered:
        add(
            "\n"
            "    @_rt.registered\n"
            f"    def {p.name}(self) -> {p.type}:\n"
            f"        {p.doc}\n"
        )
        if p.home == '_parameters':
            add(
                "        if _rt.symbolic_trace._is_fx_tracing_flag:\n"
                f"            return _rt.unregistered(self, \"{p.name}\")\n"
            )
        add(
            "        try:\n"
            f"            return self.{p.home}[\"{p.name}\"]\n"
            "        except KeyError:\n"
            f"            return _rt.unregistered(self, \"{p.name}\")\n"
        )
    for v in c.virtuals:
        add(
            "\n"
            f"    @{c.builtin['property']}\n"
            f"    def {v.name}(self) -> {v.type}:\n"
            f"        {v.doc}\n"
            f"        return {v.read}\n"
        )
    return "".join(out)


def tensorclass_py(c: TensorClassView) -> str:
    """The text of tensorclass.py.j2."""
    out: list[str] = []
    add = out.append
    add(
        f"class {c.name}(_rt.Stored):\n"
        f"    {c.doc}\n"
        "\n"
        "    if not _t.TYPE_CHECKING:\n"
        "        __slots__ = ()\n"
    )
    for line in c.attributes:
        add(f"    {line}\n")
    add(
        "\n"
        "    def __init__(\n"
        "        self,\n"
    )
    for parameter in c.parameters:
        add(f"        {parameter},\n")
    add(
        "    ) -> None:\n"
        f"        if {c.builtin['type']}(batch_size) is not _Size or device is not None or names is not None:\n"
        "            batch_size, device, names = _rt.batch_arguments(self, batch_size, device, names)\n"
    )
    if c.has_tensors:
        add(f"        {c.n} = {c.builtin['len']}(batch_size)\n")
    for name in c.defaults:
        add(
            f"        if {name} is _rt.DEFAULT:\n"
            f"            {name} = _rt.default(self, \"{name}\")\n"
        )
    for f in c.fields:
        if f.lines.fit_if:
            if f.lines.fit_if == 'True':
                add(f"        {f.name} = {f.lines.fit}\n")
            else:
                add(
                    f"        if {f.lines.fit_if}:\n"
                    f"            {f.name} = {f.lines.fit}\n"
                )
    for line in c.shape_checks:
        add(f"        {line}\n")
    add(f"        {c.fill}\n")
    if c.post_init:
        add("        self.__post_init__()\n")
    if not c.frozen:
        add(
            "        if lock:\n"
            "            _rt.lock(self)\n"
        )
    add(
        "\n"
        f"    {c.fill_signature}\n"
    )
    for line in c.stores:
        add(f"        {line}\n")
    add(
        "        self._batch_size = batch_size\n"
        "        self._device = device\n"
        "        self._names = names\n"
        f"        self._lock = {c.lock}\n"
        "        return self\n"
        "\n"
        "    def _map(self, fn: _t.Callable[[_Tensor], _Tensor]) -> _t.Self:\n"
        f"        {c.map}\n"
        "\n"
        "    def _map_with(\n"
        "        self, fn: _t.Callable[[_Tensor, _t.Any], _Tensor], argument: _t.Any, device: _torch.device | None\n"
        "    ) -> _t.Self:\n"
        f"        {c.map_with}\n"
        "\n"
    )
    if not c.plain:
        add("    def _rearrange(self, fn: _t.Callable[[_Tensor, _t.Any], _Tensor], argument: _t.Any, batch_size: _Size) -> _t.Self:\n")
        if c.has_nested:
            add("        n = len(self._batch_size)\n")
        add(
            f"        {c.rearrange}\n"
            "\n"
        )
    add(
        "    def _zip(self, fn: _t.Callable[[_Tensor, _Tensor], _Tensor], other: _t.Self) -> _t.Self:\n"
        f"        {c.zip}\n"
        "\n"
        "    def _index_put(self, index: _t.Any, value: _t.Self) -> None:\n"
    )
    for line in c.puts:
        add(f"        {line}\n")
    if not c.puts:
        add("        pass\n")
    add("\n")
    if c.matches:
        add("    def _check_compatible(self, other: _t.Self) -> None:\n")
        for line in c.matches:
            add(f"        {line}\n")
        add("\n")
    add(
        "    def _join(\n"
        f"        self, fn: _t.Callable[[{c.builtin['list']}[_Tensor]], _Tensor], items: _t.Sequence[_t.Self], batch_size: _Size\n"
        "    ) -> _t.Self:\n"
        f"        {c.join}\n"
        "\n"
    )
    if not c.plain:
        add(
            f"    def _split(self, fn: _rt.Splitting, argument: _t.Any, batch_sizes: _t.Sequence[_Size]) -> {c.builtin['list']}[_t.Self]:\n"
            f"        {c.pieces}\n"
            "        return [object.__new__(type(self))._fill(*values) for values in pieces]\n"
            "\n"
        )
    add(f"    def _leaves(self) -> {c.builtin['list']}[_Tensor]:\n")
    if c.leaves_if:
        add(f"        {c.leaves}\n")
        for f in c.leaves_if:
            add(
                f"        if self.{f.storage} is not None:\n"
                f"            {f.lines.leaf_if}\n"
            )
        add("        return leaves\n")
    else:
        add(f"        {c.leaves}\n")
    add(
        "\n"
        f"    def _requires_grad(self) -> {c.builtin['bool']}:\n"
        f"        {c.requires_grad}\n"
        "\n"
        f"    def _field_values(self) -> {c.builtin['tuple']}[{c.builtin['tuple']}[_t.Any, ...], {c.builtin['tuple']}[_t.Any, ...]]:\n"
        f"        {c.contents}\n"
        "\n"
        f"    def _to_dict(self) -> {c.builtin['dict']}[{c.builtin['str']}, {c.builtin['object']}]:\n"
        f"        {c.to_dict}\n"
    )
    for f in c.fields:
        if f.own:
            add(
                "\n"
                f"    @{c.builtin['property']}\n"
                f"    def {f.name}(self) -> {f.type}:\n"
                f"        {f.doc}\n"
                f"        return self.{f.storage}\n"
                "\n"
                f"    @{f.name}.setter\n"
                f"    def {f.name}(self, value: {f.type}) -> None:\n"
            )
            if c.frozen:
                add(f"        raise _rt.frozen(self, \"{f.name}\", value)\n")
            else:
                if f.lines.set_checked:
                    add(f"        self.{f.storage} = {f.lines.set_checked}\n")
                else:
                    add(
                        "        if self._lock is not None:\n"
                        f"            _rt.refuse_other(self, \"{f.name}\", value)\n"
                        f"        self.{f.storage} = {f.lines.set}\n"
                    )
    return "".join(out)
