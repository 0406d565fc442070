"""How the findings of an audit are told: as they come, of each kind so many, and at the end what it came to."""

from typing import Any, Final

from msgspec import to_builtins

from heptalog.cli.exits import Exit, exit_of_code, worst
from heptalog.cli.options import Format
from heptalog.cli.output import Objects, write_json, write_text
from heptalog.cli.render import counted
from heptalog.replay.errors import Code
from heptalog.replay.evidence.texts import to_base64
from heptalog.replay.words import printable
from heptalog.service.auditing.audit import Summary
from heptalog.service.auditing.findings import Finding
from heptalog.service.auditing.progress import FINDINGS_MAX

# Of each kind, in text; a program is told of all.
TOLD_MAX: Final = 20


class Telling:
    """Tells of one audit in one form."""

    def __init__(self, source: str, form: Format, *, has_keys: bool) -> None:
        self._source = source
        self._signed = "" if has_keys else ", its signatures not checked"
        self._form = form
        self._told: dict[Code, int] = {}
        self._findings: list[Finding] = []
        self._lines = Objects(is_list=False, is_silent=form is not Format.JSONL)

    def finding(self, finding: Finding) -> None:
        """Tell of a finding."""
        count = self._told[finding.code] = self._told.get(finding.code, 0) + 1
        match self._form:
            case Format.TEXT if count <= TOLD_MAX:
                write_text(f"BAD  {finding_text(self._source, finding)}")
            case Format.JSONL:
                self._lines.write({"source": self._source, **to_builtins(finding)})
            case Format.JSON if len(self._findings) < FINDINGS_MAX:
                self._findings.append(finding)

    def summary(self, summary: Summary) -> Exit:
        """Tell what it came to, and give the exit code: that something is wrong outweighs that it could not be read."""
        match self._form:
            case Format.TEXT:
                self._in_words(summary)
            case Format.JSONL:
                self._lines.write(self._whole(summary))
            case Format.JSON:
                write_json({**self._whole(summary), "findings": self._findings})
        exits = {exit_of_code(Code(code)) for code in summary.counts}
        return worst(exits)

    def _whole(self, summary: Summary) -> dict[str, Any]:
        return {"source": self._source, **to_builtins(summary)}

    def _in_words(self, summary: Summary) -> None:
        for code, count in summary.counts.items():
            if count > TOLD_MAX:
                write_text(printable(f"BAD  {self._source}: {count - TOLD_MAX:,} more [{code}]"))
        parts = [counted(summary.events, "event"), counted(summary.games, "game")]
        if summary.refusals is not None:
            parts.append(counted(summary.refusals, "refusal"))
        parts.append(counted(summary.checkpoints, "checkpoint"))
        if not summary.ok:
            parts.insert(0, counted(sum(summary.counts.values()), "finding"))
        write_text(printable(f"{'ok  ' if summary.ok else 'BAD '} {self._source}  {', '.join(parts)}"))
        if summary.root is not None:
            write_text(f"root {to_base64(summary.root)}  size {summary.size}")
        if summary.checkpoint_size:
            write_text(f"latest checkpoint that holds: over {counted(summary.checkpoint_size, 'event')}{self._signed}")
        for incident in summary.incidents:
            goes_on = f"the log goes on with {counted(incident.size, 'event')} after {incident.finding}"
            write_text(printable(f"accepted {incident.accepted_at or 'at no time'}: {goes_on}"))
        if summary.from_state:
            rest = "rest on what an earlier run has written down"
            write_text(f"{summary.from_state:,} of {counted(summary.readings, 'reading')} of events {rest}")


def finding_text(source: str, finding: Finding) -> str:
    """A finding in one line: where, what and by which code."""
    places = []
    if finding.position is not None:
        if finding.last in (None, finding.position):
            places.append(f"position {finding.position:,}")
        else:
            places.append(f"positions {finding.position:,} to {finding.last:,}")
    if finding.game is not None:
        places.append(f"game {finding.game}")
    if finding.sequence is not None:
        places.append(f"sequence {finding.sequence}")
    if finding.table is not None:
        places.append(f"log.{finding.table}{f'.{finding.column}' if finding.column else ''}")
    if finding.number is not None:
        places.append(f"number {finding.number}")
    if finding.path is not None:
        places.append(finding.path)
    rule = f" ({finding.rule})" if finding.rule else ""
    where = ": ".join([source, *([", ".join(places)] if places else [])])
    return printable(f"{where}: {finding.message}{rule} [{finding.code}]")
