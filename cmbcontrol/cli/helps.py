"""Helps of the commands: plain text, so that they come at once (to load and draw boxes takes as long as all the rest).

What is imported here and by the modules of the commands is imported before a help is shown.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .common import tell
from .tables import bold, described, wrapped

__all__ = ["Command", "Group"]

_WIDEST = 100  # columns of a text that is read with ease


class _Helpful:
    """Mixin of commands that lays out their help and names what they take as people do."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters, with nothing in the place of the type of flags."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Words of the line of usage behind the name: PLANT, [NAME]."""
        given = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        words = [p.metavar if p.required else f"[{p.metavar}]" for p in given]
        return ["[OPTIONS]", *words, *(["COMMAND ..."] if isinstance(self, TyperGroup) else [])]

    def get_help(self, ctx: Any) -> str:
        """Text of the help."""
        return "\n".join(self._lines(ctx, min(shutil.get_terminal_size().columns, _WIDEST)))

    def _lines(self, ctx: Any, columns: int) -> Iterator[str]:
        usage = f"{ctx.command_path} {' '.join(self.collect_usage_pieces(ctx))}"
        yield f"{bold('Usage:')} {usage}"
        for paragraph in (self.help or "").split("\n\n"):  # type: ignore[attr-defined]
            yield ""
            yield from wrapped(" ".join(paragraph.split()), columns, 0)
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            text = re.sub(r"\[default: \((.*)\)\]", r"[default: \1]", record[1])  # said in words
            if param.param_type_name == "argument":
                sections["Arguments"].append((param.metavar, text.replace("  [required]", "")))
            else:
                heading = getattr(param, "rich_help_panel", None) or "Options"
                sections.setdefault(heading, []).append((record[0], text))
        if isinstance(self, TyperGroup):
            commands = (self.get_command(ctx, name) for name in self.list_commands(ctx))
            sections["Commands"] = [(c.name or "", (c.help or "").partition("\n\n")[0]) for c in commands if c]
        sections["Options"] = sections.pop("Options")  # as the last ones: those that every command has
        for heading, rows in sections.items():
            if rows:
                yield ""
                yield bold(f"{heading}:")
                yield from described(rows, columns)


class Command(_Helpful, TyperCommand):
    """Command with a help of this package's style."""


class Group(_Helpful, TyperGroup):
    """All commands, with a help of this package's style, and errors of wrong calls in that of all others."""

    def main(self, *args: Any, **more: Any) -> Any:
        """Run the command that the arguments name, and end the process with its exit code."""
        alone = more.get("standalone_mode", True)
        try:
            code = super().main(*args, **(more | {"standalone_mode": False}))
        except Exception as error:
            if not alone or not hasattr(error, "format_message"):  # the base of typer's is not public
                raise
            if type(error).__name__ == "NoArgsIsHelpError":
                typer.echo(error.format_message(), err=True)
            else:
                ctx = getattr(error, "ctx", None)
                if ctx is not None:
                    tell(ctx.get_usage())
                    tell(f"Try '{ctx.command_path} -h' for help.")
                near = sorted(getattr(error, "possibilities", None) or ())
                text = f"{error.message} (did you mean {', '.join(near)}?)" if near else error.format_message()
                tell(f"error: {text}")
            sys.exit(error.exit_code)  # type: ignore[attr-defined]
        if not alone:
            return code
        sys.exit(code if isinstance(code, int) else 0)
