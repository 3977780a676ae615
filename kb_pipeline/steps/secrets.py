"""What must not be told: keys, tokens and signatures are starred out of what is said.

Not here: keys that are known, which whoever knows them stars out (``services.Service``).
"""

import re
from urllib.parse import urlsplit

_SECRET = re.compile(
    r"""
    (?P<name>
        (?:account|shared[ ]?access|api|subscription|master|admin)[-_ ]?key["'\\]*\s*[=:]\s*["'\\]*
      | \b(?:sig|sharedaccesssignature|password|client_secret|(?:access|refresh|id)_token)["'\\]*\s*[=:]\s*["'\\]*
    )
    [^\s"'\\&;,<>]{6,}
  | \b(?:bearer|basic)\s+[\w.~+/=-]{20,}               # RFC 6750, RFC 7617
  | (?<![\w-])eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?     # a token (RFC 7519)
  | \bsk-[\w*-]{6,}                                    # a key of OpenAI
  | \b[A-Za-z0-9+]{44,}={0,2}                          # what is that long and no word: keys of Azure
    """,
    re.VERBOSE | re.IGNORECASE,
)
HIDDEN = "***"


def without_secrets(text: str) -> str:
    """The text with everything starred out that looks like a key, a token or a signature."""
    return _SECRET.sub(lambda found: f"{found['name'] or ''}{HIDDEN}", text)


def without_credentials(endpoint: str) -> str:
    """A URL without password, query and fragment; nothing of what is no URL."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        return HIDDEN
    user, at, host = parts.netloc.rpartition("@")  # of abfs:// URLs, the user is the container
    return parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}", query="", fragment="").geturl()
