"""What a command's help looks like: what it takes by the names it is told with, and below the text examples."""

from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command whose epilog is examples, one a line; they are written as they are, to be copied."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words after the command's name: brackets are only around what may be left out."""
        return [piece.removeprefix("{").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options; an argument is told by its name, and not also by its type in Python."""
        records: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                is_argument = param.param_type_name == "argument"
                records[param.param_type_name].append((_name(param), record[1]) if is_argument else record)
        for kind, told in records.items():
            if told:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(told)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The examples, broken nowhere."""
        del ctx
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"  {line}\n")


def _name(param: Any) -> str:
    return str(param.metavar or param.name.upper())
