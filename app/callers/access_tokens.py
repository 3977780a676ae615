"""Who calls, by an access token: a JSON Web Token (RFC 9068) of an OpenID Connect issuer such as Entra ID.

A token is either a person's, which a program got for somebody who signed in to it, or a program's own. Which of them it
is, and what it allows, Entra ID writes into the claims ``scp`` and ``roles``:
https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference.
"""

import asyncio
import logging
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import httpx
import jwt

from app.callers.principal import Principal, principal_of, principal_with
from app.errors import NotPermittedError, NotSignedInError, UpstreamBusyError

_log = logging.getLogger(__name__)

SCOPE = "Knowledge.Ask"
"""The scope that a person's token needs."""
ROLE = "Knowledge.Ask.All"
"""The application role of a program that asks for itself."""
FOR_OTHERS = "Knowledge.Ask.ForOthers"
"""The application role of the page, which says in the headers of Easy Auth for whom it asks."""

_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Those with a public key; with a shared one, whoever knows the public key could sign."""
_CLOCKS_DIFFER_BY = 60.0
"""Seconds: RFC 7519 allows "no more than a few minutes"."""
_ISSUER_SECONDS = 10.0
"""Seconds to read the issuer's keys, which callers wait for once."""


class AccessTokens:
    """Reads the tokens of one issuer.

    Its keys are fetched when the first token comes, and again after five minutes, or when a token names one that is
    not among them. A token that was revoked is accepted until it expires, as everywhere with such tokens.
    """

    def __init__(self, issuer: str, audience: str, access_claims: Collection[str]) -> None:
        """``audience``: whom tokens must be made for. The values of ``access_claims`` are names in access lists."""
        self._issuer = issuer
        self._audience = audience
        self._access_claims = access_claims
        self._keys: jwt.PyJWKClient | None = None
        self._lock = threading.Lock()

    async def caller(self, headers: Mapping[str, str]) -> Principal:
        """The caller of a request.

        Raises:
            NotSignedInError: there is no token, or none that is valid here and now.
            NotPermittedError: the token is valid, but does not allow to ask.
            UpstreamBusyError: the issuer's keys cannot be fetched.
        """
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotSignedInError("nobody is signed in: send an access token in the header Authorization: Bearer")
        claims = await asyncio.to_thread(self._verified, token.strip())
        scopes, roles = str(claims.get("scp", claims.get("scope", ""))).split(), _texts(claims.get("roles"))
        if FOR_OTHERS in roles and not scopes:
            who = principal_of(headers, easy_auth=True, access_claims=self._access_claims)
        elif SCOPE in scopes or (ROLE in roles and not scopes):
            who = self._principal(claims)
        else:
            raise NotPermittedError(
                f"the access token does not allow to ask: a person's needs the scope {SCOPE}, "
                f"a program's the role {ROLE}"
            )
        if who is None:
            raise NotSignedInError("the access token does not say who asks, nor do the headers of who sent it")
        return who

    def _verified(self, token: str) -> Mapping[str, Any]:
        try:
            key = self._issuers_keys().get_signing_key_from_jwt(token)
            return jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._audience,
                issuer=self._issuer,
                leeway=_CLOCKS_DIFFER_BY,
                options={"require": ["exp", "sub"]},
            )
        except jwt.PyJWKClientConnectionError as exc:
            raise self._silent(exc) from exc
        except jwt.ExpiredSignatureError as exc:
            raise NotSignedInError("the access token has expired; get a new one") from exc
        except jwt.InvalidAudienceError as exc:
            raise NotSignedInError(f"the access token is for another service; get one for {self._audience}") from exc
        except jwt.InvalidIssuerError as exc:
            raise NotSignedInError(f"the access token is of another issuer than {self._issuer}") from exc
        except (jwt.PyJWTError, ValueError, RecursionError) as exc:
            raise NotSignedInError(f"the access token is not one that {self._issuer} has signed") from exc

    def _issuers_keys(self) -> jwt.PyJWKClient:
        """The issuer's keys, found by OpenID Connect Discovery 1.0."""
        with self._lock:
            if self._keys is None:
                try:
                    reply = httpx.get(f"{self._issuer}/.well-known/openid-configuration", timeout=_ISSUER_SECONDS)
                    keys_url = reply.raise_for_status().json()["jwks_uri"]
                    self._keys = jwt.PyJWKClient(keys_url, timeout=_ISSUER_SECONDS)
                except (httpx.HTTPError, ValueError, LookupError, TypeError, AttributeError, jwt.PyJWTError) as exc:
                    raise self._silent(exc) from exc
            return self._keys

    def _silent(self, cause: Exception) -> UpstreamBusyError:
        _log.warning("%s does not tell its keys: %s", self._issuer, cause)
        return UpstreamBusyError(
            f"access tokens cannot be checked now, because {self._issuer} does not tell its keys; try again"
        )

    def _principal(self, claims: Mapping[str, Any]) -> Principal | None:
        user_id = str(claims.get("oid", claims["sub"]))
        name = str(claims.get("upn", claims.get("preferred_username", "")))
        return principal_with(user_id, name, tuple(self._pairs(claims)), self._access_claims)

    def _pairs(self, claims: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for kind in self._access_claims:
            yield from ((kind, value) for value in _texts(claims.get(kind)))


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(each for each in values if isinstance(each, str))
