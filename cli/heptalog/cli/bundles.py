"""Bundles on the command line: which files are, whose keys they are held against, and what is shown of them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from msgspec import Struct

from heptalog.cli.connections import shown
from heptalog.cli.files import FileGame, Missing, first_line, lines_in
from heptalog.cli.sources import Game
from heptalog.cli.verdicts import Proved, SignedBy
from heptalog.cli.viewers import viewer_text
from heptalog.replay.errors import Code, Corrupt, Malformed
from heptalog.replay.evidence.bundles import Examined, events_in, examine, is_bundle, parse_header
from heptalog.replay.evidence.notes import COSIGNATURE, ED25519, Signed, VerifierKey
from heptalog.replay.evidence.reveals import Reveal, Revealed, Revealing, decode_reveal, reveals_in
from heptalog.replay.evidence.texts import to_base64
from heptalog.replay.gamefile import read_events
from heptalog.replay.times import SECOND, TIME_END, rfc3339

_REVEAL_MARK: Final = b'"part"'
_RULE: Final = "evidence"


class Trusted(Struct, frozen=True):
    """What one `--key` names: a key, or the keys of a file, of which one must have signed."""

    name: str
    keys: tuple[VerifierKey, ...]


class BundleGame(FileGame, frozen=True):
    """A bundle in a file, the keys that it must be signed by, and what is shown of what it leaves out."""

    trusted: tuple[Trusted, ...] = ()
    reveals: tuple[Reveal, ...] = ()

    def looked_at(self) -> "Look":
        """What comes of it under these keys. Raises what is wrong with it as a whole."""
        from heptalog.service.evidence.keys import verify

        lines = lines_in(self.path)
        revealing = Revealing(self.reveals)
        first = next(lines, b"")
        if not is_bundle(first):
            # Whoever takes the first line off a bundle makes a good game file of it, which nobody has signed.
            raise Malformed(Code.BUNDLE_INVALID, rule=_RULE, problem="a game file has no proof")
        bundle = parse_header(first)
        keys = [key for trusted in self.trusted for key in trusted.keys]
        examined = examine(bundle, revealing.passing(events_in(lines)), keys, verify)
        if examined.report.ok:
            _check_trusted(self.trusted, examined.signed)
        return Look(examined, tuple(revealing.revealed))


class Look(Struct, frozen=True):
    """What came of a bundle, and the parts that were revealed."""

    examined: Examined
    revealed: tuple[Revealed, ...]

    @property
    def proved(self) -> Proved:
        """What is said of it where it is good."""
        examined, log = self.examined, self.examined.log
        return Proved(
            is_proved=bool(examined.signed),
            game_id=examined.bundle.game_id,
            viewer=viewer_text(examined.bundle.viewer),
            hidden_parts=examined.hidden,
            rules_checked_to=examined.report.events - 1,
            log=log.origin,
            size=log.size,
            position=examined.position,
            root=to_base64(log.root),
            signatures=tuple(_signed_by(examined.signed)),
            revealed=self.revealed,
        )


def held_against(
    games: Iterable[Game | Missing], trusted: Sequence[Trusted], reveals: Sequence[Reveal]
) -> Iterator[Game | Missing]:
    """The games, every bundle among them held against these keys; where there are keys, nothing else is proved."""
    for game in games:
        if isinstance(game, FileGame) and (trusted or reveals or is_bundle(first_line(game.path))):
            yield BundleGame(game.path, game.size, trusted=tuple(trusted), reveals=tuple(reveals))
        else:
            yield game


def trusted_by(texts: Iterable[str]) -> tuple[Trusted, ...]:
    """What the keys on the command line name: a file of public keys, or a key itself. Raises Malformed, Unavailable."""
    from heptalog.service.evidence.keys import load_public

    trusted = []
    for text in texts:
        path = Path(text)
        is_key = text.count("+") >= 2 and not path.exists()
        given = (VerifierKey.parse(text),) if is_key else load_public([path])
        # Whoever holds the key of a log signs with it both ways, and only the other one says when.
        also = (VerifierKey(key.name, COSIGNATURE, key.public) for key in given if key.kind == ED25519)
        trusted.append(Trusted(given[0].name if is_key else shown(path), tuple(dict.fromkeys((*given, *also)))))
    return tuple(trusted)


def reveals_from(path: Path) -> list[Reveal]:
    """What a file shows: lines of `heptalog reveal`, or a fuller copy of the game. Raises Malformed, Unavailable."""
    lines = lines_in(path)
    first = next(lines, b"")
    if _REVEAL_MARK in first:
        return [decode_reveal(line) for line in chain([first], lines) if line.strip()]
    events = events_in(lines) if is_bundle(first) else read_events(chain([first], lines))
    return [reveal for event in events for reveal in reveals_in(event)]


def _check_trusted(trusted: Iterable[Trusted], signed: Iterable[Signed]) -> None:
    """Raise Corrupt unless all have signed that were named: who names a witness wants its word."""
    keys = {item.key for item in signed}
    for one in trusted:
        if keys.isdisjoint(one.keys):
            raise Corrupt(Code.SIGNATURE_MISSING, rule=_RULE, key=one.name)


def _signed_by(signed: Iterable[Signed]) -> Iterator[SignedBy]:
    """Each key once, however it signed: as a log's does, plainly and with the time."""
    made: dict[tuple[str, bytes], list[Signed]] = {}
    for item in signed:
        made.setdefault((item.key.name, item.key.public), []).append(item)
    for (name, _), items in made.items():
        time = next((_time_text(item.time) for item in items if item.time is not None), None)
        yield SignedBy(name, tuple(item.key.key_id.hex() for item in items), time)


def _time_text(seconds: int) -> str:
    # Whoever signs may say what time they like.
    return rfc3339(seconds * SECOND) if seconds < TIME_END else str(seconds)
