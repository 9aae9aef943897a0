"""One of several widgets at a time, e.g. the explorers of two test sets; its reader chooses among their names."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import ipywidgets
import traitlets

from .. import checks
from ..errors import DataError
from .base import Shown, Widget, module, styles, without_kernel

__all__ = ["Either", "either"]


def either(widgets: Mapping[str, Widget], label: str = "Show", choice: str | None = None) -> Either:
    """Several widgets, of which one is seen: radio buttons above it name them all.

    Where no script runs, all are seen, each below its name.

    Parameters
    ----------
    widgets : name -> widget, at least one.
    label : what is chosen, before the buttons. choice : the name of the one that is seen first, by default the first.

    Returns
    -------
    Either; its `choice` follows the page and can be set. Where the environment has ANX_MODE=static it shows itself as
    HTML that works without a kernel.

    Raises
    ------
    DataError without a widget; UnknownName for a choice that is no name.
    """
    if not widgets:
        raise DataError("there is no widget to choose; give at least one.")
    names = list(widgets)
    return Either(
        label, widgets, names[0] if choice is None else checks.one_of(choice, names, "choice")
    )


class Switch(Widget):
    """The radio buttons."""

    _esm = module("switch.js")
    _css = styles("switch.css")
    choice = traitlets.Unicode().tag(sync=True)

    def static_html(self) -> str:
        return ""


class Either(Shown, ipywidgets.VBox):
    """The widgets that `either` shows, as `widgets`; `choice` follows the page and can be set to one of their names."""

    choice = traitlets.Unicode()

    def __init__(self, label: str, widgets: Mapping[str, Widget], choice: str) -> None:
        self.widgets = dict(widgets)
        self.data = {
            "label": label,
            "names": list(widgets),
            "title": widgets[choice].data.get("title", ""),
        }
        self.switch = Switch(data=self.data, choice=choice, **without_kernel())
        super().__init__([self.switch, *widgets.values()], **without_kernel())
        self.layout.overflow = "visible"  # so that the slider of a part stays in sight
        traitlets.link((self.switch, "choice"), (self, "choice"))
        self.observe(self._lay, "choice")
        self._lay()

    @traitlets.validate("choice")
    def _valid_choice(self, proposal: Any) -> Any:
        return checks.one_of(proposal["value"], self.data["names"], "choice")

    def _lay(self, _: Any = None) -> None:
        for name, widget in self.widgets.items():
            widget.layout.display = None if name == self.choice else "none"

    def __repr__(self) -> str:
        return f"Either({self.data['label']}: {', '.join(self.widgets)}; {self.choice} is seen)"

    def fragment(self) -> str:
        """The names and fragments of all, and last the script that hides all but one."""
        label = html.escape(self.data["label"])
        parts = "".join(
            f'<div class="anx-part"><p><b>{label}: {html.escape(name)}</b></p>{widget.fragment()}</div>'
            for name, widget in self.widgets.items()
        )
        return f'<div class="anx-parts">{parts}{self.switch.fragment()}</div>'
