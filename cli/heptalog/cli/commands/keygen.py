"""`heptalog keygen`: a new key to sign checkpoints with."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Of the log, or of the witness: an address without a scheme, as example.org/season.",
        show_default=False,
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Where the private key goes; nothing is written over.", show_default=False
    ),
]
PublicOption = Annotated[
    Path | None,
    typer.Option("--public", metavar="FILE", help="Write the public key there too.", show_default=False),
]
CosignerOption = Annotated[bool, typer.Option("--cosigner", help="The key of a witness, which only cosigns.")]


@guarded
def keygen(
    name: NameArgument,
    out: OutOption,
    public: PublicOption = None,
    cosigner: CosignerOption = False,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Make a key that signs checkpoints.

    Prints the public key: give it to everybody who is to check what is signed. A log's key has two lines, one for each
    manner in which it signs; a verifier that takes only one line is given the first. The name of a log stays the same
    when its key changes.
    """
    from heptalog.cli.connections import shown
    from heptalog.cli.output import Objects, write_text
    from heptalog.service.evidence.keys import SigningKey, save, write_new

    for path in (out, public):
        # Before anything is written; whoever comes in between is met by the writing itself.
        if path is not None and (path.exists() or path.is_symlink()):
            raise WrongUse(f"{shown(path)}: there is a file already, and a key is never written over")
    if public == out:
        raise WrongUse(f"--public {shown(out)}: the private key goes there")
    key = SigningKey.generate(name, is_witness=cosigner)
    lines = [verifier.format() for verifier in key.verifiers]
    save(out, key)
    if public is not None:
        try:
            write_new(public, "".join(f"{line}\n" for line in lines))
        except BaseException:
            # Nobody has seen its public half, so it is of no use, and would stand in the way of the next try.
            out.unlink(missing_ok=True)
            raise
    with Objects(is_list=format_ is Format.JSON, is_silent=format_ is Format.TEXT) as objects:
        for verifier, line in zip(key.verifiers, lines, strict=True):
            if format_ is Format.TEXT:
                write_text(line)
            else:
                item = {"name": name, "kind": verifier.kind, "keyId": verifier.key_id.hex(), "key": line}
                objects.write(item)
    return Exit.FINE
