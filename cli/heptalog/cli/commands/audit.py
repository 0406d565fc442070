"""`heptalog audit`: whether a whole log is what it was, to the last byte."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, JobsOption, LogArgument

CheckpointOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--checkpoint",
        "-c",
        metavar="FILE",
        help="A signed checkpoint from elsewhere, or a bundle for the one in it. May be given several times.",
        show_default=False,
    ),
]
KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        "-k",
        metavar="KEY",
        help="A public key, or a file of them. Every checkpoint must be signed by one of all that are given.",
        show_default=False,
    ),
]
StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="FILE",
        help="Where is kept how far it is. By default below ~/.local/state/heptalog; for a server nowhere.",
        show_default=False,
    ),
]
NoStateOption = Annotated[bool, typer.Option("--no-state", help="Keep it nowhere, and begin at the beginning.")]


@guarded
def audit(
    log: LogArgument,
    checkpoint: CheckpointOption = None,
    key: KeyOption = None,
    jobs: JobsOption = 0,
    state: StateOption = None,
    no_state: NoStateOption = False,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Audit a whole log: every stored byte is read again.

    Positions, hashes, chains, seals, the rules of every game, what is kept beside the records, the Merkle tree, the
    head record, and every checkpoint that is kept or given. It does not stop at a fault: every bad place is told.
    Only where the engine can read no further it ends there. Stopped, it goes on where it was when it is started again.
    What was signed once and is in it no more, it cannot know: give it a --checkpoint from elsewhere.
    Exit code 1: something is wrong; 3: it cannot be read.
    """
    from heptalog.cli.auditing import Auditor, place_of
    from heptalog.cli.backups import keys_of
    from heptalog.cli.findings import Telling
    from heptalog.cli.output import counting
    from heptalog.replay.errors import Malformed
    from heptalog.replay.sentences import sentence
    from heptalog.replay.words import printable

    if state is not None and no_state:
        raise WrongUse("--state and --no-state exclude each other")
    place = place_of(log)
    where = None if no_state else state or place.state_path
    keys = keys_of(key)
    try:
        opened = Auditor(place, checkpoint or (), keys, state=where, has_own_state=state is None)
    except Malformed as error:
        raise WrongUse(printable(f"--checkpoint: {sentence(error)} [{error.code}]")) from error
    with opened as auditor:
        telling = Telling(auditor.name, format_, has_keys=bool(key))
        for remark in auditor.remarks():
            complain(remark)
        read = auditor.events_done
        with (
            counting("events read", total=auditor.events, begun=read) as counter,
            closing(auditor.findings(jobs=jobs)) as findings,
        ):
            for finding in findings:
                if finding is not None:
                    telling.finding(finding)
                else:
                    counter.add(auditor.events_done - read)
                    read = auditor.events_done
        return telling.summary(auditor.summary())
