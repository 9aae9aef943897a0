"""The reference: a page for each room of `import anhelpers as an`, from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from html import escape
from types import ModuleType
from typing import Any


def reference(address: str, room: ModuleType) -> dict[str, str]:
    """Address -> page, of this room and of the rooms within it."""
    rooms, things, names = {}, [], []
    for name in sorted(names_of(room)):
        value = getattr(room, name)
        if inspect.ismodule(value):
            rooms |= reference(f"{address}.{name}", value)
        else:
            things.append(entry(f"{address}.{name}", name, value))
            names.append(f'<a href="#{name}">{name}</a>')
    inside = [one for one in rooms if one.count(".") == address.count(".") + 1]
    links = ", ".join(f'<a href="{one}.html"><code>{one}</code></a>' for one in inside)
    head = f"<h1>{address}</h1>{described(room.__doc__)}" + (
        f"<p>Rooms: {links}</p>" if links else ""
    )
    return {address: head + f"<p>Names: {', '.join(names)}</p>" + "".join(things), **rooms}


def names_of(room: ModuleType) -> list[str]:
    """The public names of a room; of a plain module, what it defines."""
    own = [n for n, v in vars(room).items() if getattr(v, "__module__", "") == room.__name__]
    return getattr(room, "__all__", None) or [name for name in own if name[0] != "_"]


def entry(address: str, name: str, value: Any) -> str:
    """A name with its signature and docstring; a class with its methods."""
    head = f'<h2 id="{name}"><code>{escape(address)}</code></h2>'
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        shown = type(value).__name__
        return f"{head}<p>A constant, <code>{escape(shown)}</code>.</p>"
    own = vars(value).items() if inspect.isclass(value) else ()
    methods = [(m, v) for m, v in own if m[0] != "_" and inspect.getdoc(v) and _is_method(v)]
    return (
        head
        + signature(name, value)
        + described(value.__doc__)
        + "".join(
            f'<h3 id="{name}.{m}"><code>{name}.{m}</code></h3>{signature(m, v)}{described(v.__doc__)}'
            for m, v in methods
        )
    )


def _is_method(value: Any) -> bool:
    return inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod))


def signature(name: str, value: Any) -> str:
    """The signature as HTML, or "" if it is unknown."""
    if isinstance(value, property):
        return ""
    try:
        text = str(inspect.signature(getattr(value, "__func__", value)))
    except (TypeError, ValueError):
        return ""
    plain = re.sub(r"<(?:function|class|factory)[^>]*>", "…", text.replace("'", ""))
    return f'<pre class="signature"><code>{escape(name + plain)}</code></pre>'


def described(doc: str | None) -> str:
    """A docstring as HTML: paragraphs, headed lists, examples."""
    parts, heading = [], ""
    text = re.sub(
        r"^( *)(\w[\w ]*)\n\1-{3,}$", r"\n\1§\2\n", inspect.cleandoc(doc or ""), flags=re.M
    )
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("§"):
            heading = block[1:]
            parts.append(f"<p><b>{escape(heading)}</b></p>")
        elif block.lstrip().startswith(">>>"):
            parts.append(f"<pre><code>{escape(inspect.cleandoc(block))}</code></pre>")
        elif heading and " : " in block.partition("\n")[0]:
            parts.append(items(block, named=True))
        elif re.search(r"^\w[^\n.]*\n {4}\S", block):
            parts.append(items(block, named=False))
        else:
            parts.append(f"<p>{inline(block)}</p>")
    return "".join(parts)


def items(block: str, named: bool) -> str:
    """A list of terms, each with the indented lines below it."""
    shown = []
    for lines in re.split(r"\n(?=\S)", block):
        name, colon, rest = lines.partition(" : " if named else "\n")
        text = inline(" ".join(rest.split()))
        term = f"<b>{inline(name)}</b>" if colon else inline(" ".join(lines.split()))
        shown.append(f"<li>{term}{': ' * bool(colon)}{text}</li>")
    return f"<ul>{''.join(shown)}</ul>"


def inline(text: str) -> str:
    return re.sub(r"``?([^`]+)``?", r"<code>\1</code>", escape(text))
