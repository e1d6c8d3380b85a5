"""The flags that name a certificate and its key, the same for every command that serves."""

from pathlib import Path

import click

tls_cert_option = click.option(
    "--tls-cert",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Certificate chain, PEM. Read again when it changes.",
)
tls_key_option = click.option(
    "--tls-key", type=click.Path(path_type=Path), metavar="FILE", help="Key of the certificate, PEM."
)
