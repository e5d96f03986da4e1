"""The certificate and the key with which the server itself speaks TLS, where no proxy does so for it."""

from __future__ import annotations

import ssl

from codefathom.errors import SettingsError
from codefathom.server.server_config import TlsFiles

_NO_PASSWORD = "the key is protected by a password"


def tls_context(files: TlsFiles) -> ssl.SSLContext | None:
    """Return what connections are encrypted with, None where the settings name no certificate.

    Raises SettingsError, which names the file that cannot be used and never shows what stands in it.
    """
    certificate, key = files.certificate, files.key
    if not certificate and not key:
        return None
    if not certificate or not key:
        absent, present = ("tls_certificate", "tls_key") if key else ("tls_key", "tls_certificate")
        raise SettingsError(f"server.{present} is set without server.{absent}", hint="set both of them, or neither")
    _check_readable("server.tls_certificate", certificate)
    _check_readable("server.tls_key", key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, password=_refuse_password)
    except _PasswordError as error:
        raise SettingsError(
            f"server.tls_key: {_NO_PASSWORD}: {key}",
            hint="write a key without a password, which only the server can read: "
            "openssl pkey -in KEY -out NEW_KEY, then chmod 600 NEW_KEY",
        ) from error
    except ssl.SSLError as error:
        raise _unusable(certificate, key, error) from None
    return context


class _PasswordError(ValueError):
    """The key is encrypted. Without this, OpenSSL would ask for its password on the terminal."""


def _refuse_password() -> str:
    raise _PasswordError(_NO_PASSWORD)


def _check_readable(setting: str, path: str) -> None:
    try:
        with open(path, "rb") as file:
            file.read(1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a valid path").lower()
        raise SettingsError(
            f"{setting}: cannot read {path!r}: {reason}",
            hint="name a file in PEM format which the user that runs the server can read",
        ) from error


def _unusable(certificate: str, key: str, error: ssl.SSLError) -> SettingsError:
    if error.reason == "KEY_VALUES_MISMATCH":
        return SettingsError(
            f"the key in {key!r} (server.tls_key) does not belong to the certificate in {certificate!r} "
            "(server.tls_certificate)",
            hint="name the key with which this certificate was requested; the certificate of the server comes first "
            "in its file",
        )
    name, path = ("tls_key", key) if _is_certificate(certificate) else ("tls_certificate", certificate)
    what = "private key" if name == "tls_key" else "certificate"
    return SettingsError(
        f"server.{name}: there is no usable {what} in {path!r}",
        hint=f"name a file in PEM format that contains a {what}; its first line begins with -----BEGIN",
    )


def _is_certificate(path: str) -> bool:
    try:
        ssl.create_default_context(cafile=path)
    except (ssl.SSLError, OSError):
        return False
    return True
