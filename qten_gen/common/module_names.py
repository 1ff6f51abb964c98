"""Resolves relative imports to module names."""


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
