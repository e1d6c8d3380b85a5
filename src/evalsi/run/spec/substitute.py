"""`${NAME}` in the texts of a spec becomes the value of an environment variable. Never a secret.

Its own module because it decides where variables may stand. A spec is stored, shown in reports and sent to servers, so a
key must not get into it: where a name of a variable is wanted, or a name looks like a secret, `${…}` is refused. Records
that are written in place are data and left alone. `$${` is a plain `${`; `${NAME:-text}` has a default.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

from evalsi.core.errors import suggestion
from evalsi.documents.placed_tree import PlacedTree, below

__all__ = ["looks_secret", "substitute"]

_VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_SECRET_WORDS = frozenset(
    {"apikey", "auth", "cookie", "credential", "credentials", "key", "keys", "passwd", "password", "pass", "pat"}
    | {"private", "pwd", "secret", "secrets", "token", "dsn", "bearer", "passphrase", "signature"}
)
_HARMLESS = frozenset({"PWD", "OLDPWD"})
_NAMES_VARIABLES = re.compile(r"(^|\.)(\w+(_env|Env)|headers_env|headersEnv|env_from|envFrom)(\.|\[|\Z)")


def looks_secret(name: str) -> bool:
    """Whether an environment variable of this name probably holds a secret."""
    words = re.split(r"[_\W]+", name.lower())
    return name not in _HARMLESS and any(word in _SECRET_WORDS or word.endswith("password") for word in words)


def substitute(tree: PlacedTree, environment: Mapping[str, str]) -> None:
    """Replaces variables in all texts of the tree; what cannot be replaced becomes a problem of it."""
    tree.value = _value(tree, tree.value, "", environment)


def _value(tree: PlacedTree, value: Any, path: str, environment: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _text(tree, value, path, environment) if "${" in value else value
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        if path == "spec.dataset":
            return {
                key: item if key == "inline" else _value(tree, item, below(path, key), environment)
                for key, item in entries.items()
            }
        return {key: _value(tree, item, below(path, key), environment) for key, item in entries.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_value(tree, item, below(path, index), environment) for index, item in enumerate(items)]
    return value


def _text(tree: PlacedTree, text: str, path: str, environment: Mapping[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "${"
        before = len(tree.problems)
        value = _value_of(tree, path, name, match[2], environment)
        if len(tree.problems) > before:
            tree.unresolved.add(path)
        return value

    replaced = _VARIABLE.sub(replace, text)
    spot = tree.spots.get(path)
    if replaced != text and spot is not None:
        tree.spots[path] = spot._replace(start=-1)
    if replaced != text:
        tree.substituted.add(path)
    return replaced


def _value_of(tree: PlacedTree, path: str, name: str, default: str | None, environment: Mapping[str, str]) -> str:
    """What takes the place of a variable. Where it may not or cannot be replaced, its name, and a problem."""
    if _NAMES_VARIABLES.search(path):
        tree.add(path, f"{path} names environment variables, so it holds no ${{{name}}}", hint=f"write {name} itself")
    elif looks_secret(name):
        tree.add(
            path,
            f"${{{name}}} looks like a secret, and a spec never holds one",
            hint=f"name the variable where it is asked for, for example api_key_env: {name}",
        )
    elif name in environment:
        return environment[name]
    elif default is not None:
        return default
    else:
        near = suggestion(name, [known for known in environment if not looks_secret(known)]) or ""
        advice = f"export {name}=…, write ${{{name}:-default}}, or $${{ for a plain ${{"
        tree.add(
            path,
            f"the environment variable {name} in {path} is not set",
            hint=near if near.startswith("did") else advice,
        )
    return name
