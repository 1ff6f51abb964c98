"""Names of modules: of relative imports, and of the modules that generated ones are made from."""


def absolute(module: str, importer: str, is_package: bool) -> str:
    """The absolute name of a module that `importer` imports as `module`; empty if the dots lead above the top level.

    >>> absolute(".base", "shop.model", is_package=False), absolute("..base", "shop.sub", is_package=True)
    ('shop.base', 'shop.base')
    """
    name = module.lstrip(".")
    level = len(module) - len(name)
    if level == 0:
        return name
    parts = importer.split(".") if importer else []
    kept = parts[: max(0, len(parts) - level + is_package)]
    return ".".join([*kept, *([name] if name else [])])


def source_module(name: str) -> str:
    """The module that a generated module is made from, by its name; empty for any other name.

    >>> source_module("shop.model_qten"), source_module("shop._qten"), source_module("shop.model")
    ('shop.model', 'shop', '')
    """
    return name.removesuffix("_qten").removesuffix(".") if name.endswith("_qten") else ""
