"""The JSON schema of the settings, for editors.

python -m templates.settings_schema > docs/settings.schema.json
"""

from __future__ import annotations

import json

from qten_gen.common.diagnostic_codes import WARNINGS
from qten_gen.project.config import SETTINGS, SEVERITIES, Setting


def schema() -> dict[str, object]:
    """The JSON schema of the section, for editors."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "[tool.qten-gen] of pyproject.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {item.name: {"description": item.meaning, **_schema_of(item)} for item in SETTINGS},
    }


def _schema_of(setting: Setting) -> dict[str, object]:
    """The schema of one value."""
    text = {"type": "string", "minLength": 1}
    match setting.value:
        case "names":
            return {"type": "object", "additionalProperties": text}
        case "strings":
            return {"anyOf": [text, {"type": "array", "items": text}]}
        case "severities":
            values = {"enum": list(SEVERITIES)}
            return {
                "type": "object",
                "propertyNames": {"enum": sorted(WARNINGS)},
                "additionalProperties": values,
            }
    code = {"enum": sorted(WARNINGS)}
    return {"type": "object", "additionalProperties": {"anyOf": [code, {"type": "array", "items": code}]}}


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2))
