"""Relative imports → module names. Standard library only, and little of it: every run needs this."""


def absolute(module: str, importer: str, is_package: bool) -> str:
    """A module name as an import statement in `importer` spells it, without leading dots; empty where it leads out of everything.

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
