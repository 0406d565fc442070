"""How the findings of an audit are told: as they come, of each kind so many, and at the end what it came to."""

from collections import Counter
from typing import Any, Final

from msgspec import to_builtins

from heptalog.cli.exits import Exit, exit_of_code, worst
from heptalog.cli.options import Format
from heptalog.cli.output import Objects, write_json, write_text
from heptalog.cli.render import accepted_text, counted, mark
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
        self._has_keys = has_keys
        self._form = form
        self._told: Counter[str] = Counter()
        self._missing: set[str] = set()
        self._findings: list[Finding] = []
        self._lines = Objects(is_list=False, is_silent=form is not Format.JSONL)

    def finding(self, finding: Finding) -> None:
        """Tell of a finding."""
        match self._form:
            case Format.TEXT if self._is_told(finding):
                write_text(f"{mark(exit_of_code(finding.code))} {finding_text(self._source, finding)}")
            case Format.JSONL:
                self._lines.write({"source": self._source, **to_builtins(finding)})
            case Format.JSON if len(self._findings) < FINDINGS_MAX:
                self._findings.append(finding)

    def _is_told(self, finding: Finding) -> bool:
        """Whether there is room for it; that nobody of those asked for has signed is one thing, however often."""
        if finding.code is Code.SIGNATURE_MISSING and finding.message in self._missing:
            return False
        self._missing.add(finding.message)
        self._told[finding.code] += 1
        return self._told[finding.code] <= TOLD_MAX

    def summary(self, summary: Summary) -> Exit:
        """Tell what it came to, and give the exit code: that something is wrong outweighs that it could not be read."""
        match self._form:
            case Format.TEXT:
                self._in_words(summary)
            case Format.JSONL:
                self._lines.write(self._whole(summary))
            case Format.JSON:
                write_json({**self._whole(summary), "findings": self._findings})
        return self._exit(summary)

    def _exit(self, summary: Summary) -> Exit:
        return worst({exit_of_code(Code(code)) for code in summary.counts})

    def _signed(self, summary: Summary) -> str:
        """By whom the latest checkpoint is signed, of those who were asked for."""
        if not self._has_keys:
            return ", its signatures not checked"
        told = [f"{one.name}{f' at {one.time}' if one.time else ''}" for one in summary.signed_by]
        if not told and Code.SIGNATURE_MISSING in summary.counts:
            return ", signed by none of the given keys"
        return f", signed by {', '.join(told)}" if told else ""

    def _whole(self, summary: Summary) -> dict[str, Any]:
        return {"source": self._source, **to_builtins(summary)}

    def _in_words(self, summary: Summary) -> None:
        for code, count in summary.counts.items():
            told = min(self._told[code], TOLD_MAX)
            if count > told and told:
                more = f"{self._source}: {count - told:,} more [{code}]"
                write_text(printable(f"{mark(exit_of_code(Code(code)))} {more}"))
        parts = [counted(summary.events, "event"), counted(summary.games, "game")]
        if summary.refusals is not None:
            parts.append(counted(summary.refusals, "refusal"))
        parts.append(counted(summary.checkpoints, "checkpoint"))
        if not summary.ok:
            parts.insert(0, counted(sum(summary.counts.values()), "finding"))
        write_text(printable(f"{mark(self._exit(summary))} {self._source}  {', '.join(parts)}"))
        if summary.root is not None:
            write_text(f"root {to_base64(summary.root)}  size {summary.size}")
        if summary.checkpoint_size:
            size = counted(summary.checkpoint_size, "event")
            write_text(printable(f"latest checkpoint that holds: over {size}{self._signed(summary)}"))
        for incident in summary.incidents:
            goes_on = (
                f"the log goes on with {counted(incident.size, 'event')} after this: {accepted_text(incident.finding)}"
            )
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
    if finding.game_id is not None:
        places.append(f"game {finding.game_id}")
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
