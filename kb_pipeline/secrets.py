"""Removes secrets from text: keys, tokens, signatures, and passwords in addresses.

Secrets are recognised by their form. Known keys are removed by :class:`kb_pipeline.services.service.Service`.
"""

import re
from urllib.parse import unquote, urlsplit

HIDDEN = "***"

_CREDENTIAL = re.compile(
    r"""
    (?P<name>
        (?:account|shared[ ]?access|api|subscription|master|admin)[-_ ]?key["'\\]*\s*(?:[=:]|%3d)\s*["'\\]*
      | (?:\b|%3f|%26)(?:sig|sharedaccesssignature|password|client_secret|(?:access|refresh|id)_token)["'\\]*
        \s*(?:[=:]|%3d)\s*["'\\]*
    )
    [^\s"'\\&;,<>]{6,}
  | (?P<user>(?://|%2f%2f)[^\s/:"'<>]{0,256}?(?::|%3a))[^\s"'<>]{1,1024}(?=@|%40)  # http://user:password@host
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOOKS_SECRET = re.compile(
    r"""
    \b(?:bearer|basic)\s+[\w.~+/=-]{20,}               # RFC 6750, RFC 7617
  | (?<![\w-])eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?     # a token (RFC 7519)
  | \bsk-[\w*-]{6,}                                    # a key of OpenAI
  | \b[A-Za-z0-9+]{44,}={0,2}                          # too long for a word: a key of Azure
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WELL_FORMED = re.compile(
    r"(?:[^\s:/?#@]+://)?(?:[^\s:/?#@]*(?::[^\s:/?#@]*)?@)?[^\s/?#@]*(?:/[^\s?#@]*)?(?:\?[^\s@]*)?"
)
"""An address whose user and password are percent-encoded (RFC 3986, section 3.2.1)."""
_PARAMETERS = frozenset({"api-version", "ddbtablename"})
"""Allowed query parameters: the version of an API of Azure, and the lock table of LanceDB on S3."""


def without_credentials(text: str) -> str:
    """The text without passwords in addresses, and without values that are named as a key, token or signature."""
    return _CREDENTIAL.sub(lambda match: f"{match['name'] or match['user']}{HIDDEN}", text)


def without_secrets(text: str) -> str:
    """The text without credentials, and without anything else that looks like a key or a token."""
    return _LOOKS_SECRET.sub(HIDDEN, without_credentials(text))


def without_sign_in(address: str) -> str:
    """An address without password, query and fragment; ``***`` if it cannot be parsed."""
    if "://" not in address and "@" in address:
        return HIDDEN
    try:
        parts = urlsplit(without_credentials(address))
    except ValueError:
        return HIDDEN
    user, at, host = parts.netloc.rpartition("@")  # the user is kept: in abfs:// addresses it is the container
    return parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}", query="", fragment="").geturl()


def credentials_in(address: str) -> str:
    """A description of the credentials in an address; "" if there are none."""
    decoded = address
    while (once_more := unquote(decoded)) != decoded:
        decoded = once_more
    scheme, mark, rest = decoded.partition("://")
    if without_credentials(decoded) != decoded:
        return "a password or a signature"
    user, at, _ = (rest if mark else decoded).rpartition("@")
    if at and not user.startswith(("/", ".", "~")) and (":" in user or scheme.lower() in ("http", "https")):
        return "a user name or a password"
    query = rest.partition("?")[2].partition("#")[0]
    if any(pair.partition("=")[0].lower() not in _PARAMETERS for pair in query.split("&") if pair):
        return "a query (what follows its '?')"
    return "a fragment (what follows its '#')" if "#" in rest else ""


def is_unambiguous(address: str) -> bool:
    """Whether all programs find the same password in an address; if not, some would take a part of it for the host."""
    return _WELL_FORMED.fullmatch(address) is not None
