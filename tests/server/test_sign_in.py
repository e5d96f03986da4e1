"""Signing in with OpenID Connect, against a strict provider: the way, the session, and what attackers try."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from tests.openid import CLIENT, SECRET, Claims, Key, Provider, providing
from tests.server.conftest import Serve
from tests.waiting import LONG_S, comes

from codefathom.config.settings import ServerSettings
from codefathom.engine import Engine
from codefathom.errors import SettingsError
from codefathom.server.access.browser_sessions import BrowserSessions
from codefathom.server.access.credentials import SignInRules
from codefathom.server.access.openid_client import OpenIdClient, Person, person_of
from codefathom.server.access.sign_in_attempts import ATTEMPT_S, SignInAttempts
from codefathom.server.http import page
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.client_address import network_of
from codefathom.server.http.page import is_page_address
from codefathom.server.http.problem_json import SignInFailedError, SignInSettingsError
from codefathom.server.http.user_roles import rule_of
from codefathom.server.metrics.logs import LOGGERS, start_log
from codefathom.server.server_config import ServerConfig, config_of

ROOT = Token("root", hash_of("of-root"))
RULES = ("ada@example.org=admin", "@shops=reader:shop")
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
COOKIE = "fathom-session"


@dataclass
class Site:
    """A server, its provider, and a browser."""

    browser: httpx.Client
    provider: Provider

    @property
    def origin(self) -> str:
        return str(self.browser.base_url).rstrip("/")

    def begin(self, page: str = "/") -> str:
        """Return the address at the provider to which the browser is sent."""
        answer = self.browser.get("/sign-in", params={"next": page})
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def answer(self, address: str) -> str:
        """Return the address to which the provider sends the browser back."""
        answer = httpx.get(address)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def sign_in(self, page: str = "/") -> httpx.Response:
        return self.browser.get(self.answer(self.begin(page)))

    def other_browser(self, path: str, cookies: dict[str, str]) -> httpx.Response:
        """Return what another browser with these cookies gets."""
        text = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return httpx.get(httpx.URL(self.origin).join(path), headers={"cookie": text}, timeout=LONG_S)

    def refused(self) -> tuple[int, str, str]:
        """Sign in in vain; return status, code and sentence."""
        answer = self.sign_in()
        assert COOKIE not in self.browser.cookies
        assert self.browser.get("/session").status_code == 401
        return answer.status_code, answer.json()["code"], answer.json()["detail"]


def client_of(provider: Provider, **changes: object) -> OpenIdClient:
    return replace(OpenIdClient(provider.issuer, CLIENT, SECRET, ("openid", "email")), **changes)


Open = Callable[..., Site]


@pytest.fixture
def site(serve: Serve, config: ServerConfig) -> Iterator[Open]:
    """Start a server and its provider; `openid` changes what the settings say of it."""
    with ExitStack() as stack:

        def opened(roles: tuple[str, ...] = RULES, openid: Claims | None = None, **options: object) -> Site:
            provider = stack.enter_context(providing(**options))
            rules = SignInRules(roles=tuple(map(rule_of, roles)), openid=client_of(provider, **(openid or {})))
            browser = stack.enter_context(serve(replace(config, sign_in=rules, tokens=(ROOT,))))
            found = Site(browser, provider)
            provider.redirects.add(f"{found.origin}/sign-in/callback")
            return found

        yield opened


# ---- the way


def test_a_person_signs_in_works_and_signs_out(site: Open) -> None:
    at = site()
    before = at.browser.get("/session")
    assert (before.status_code, before.json()["code"]) == (401, "sign_in_required")
    done = at.sign_in("/search?q=price#hit-2")
    assert (done.status_code, done.headers["location"]) == (303, "/search?q=price#hit-2")
    session = at.browser.get("/session").json()
    told = [session[name] for name in ("name", "kind", "role", "may_manage", "may_sign_out")]
    assert told == ["ada@example.org", "person", "admin", True, True]
    kept = dict(at.browser.cookies)
    assert list(kept) == [COOKIE]  # that of the attempt is gone
    assert at.browser.post("/sign-out", headers={"origin": at.origin}).status_code == 204
    assert COOKIE not in at.browser.cookies
    assert at.other_browser("/session", kept).status_code == 401
    audit = at.browser.get("/audit", headers={"authorization": "Bearer of-root"}).json()["entries"]
    assert [(item["who"], item["kind"], item["action"]) for item in audit] == [
        ("ada@example.org", "person", "signed out"),
        ("ada@example.org", "person", "signed in"),
    ]


@pytest.mark.parametrize(
    ("options", "openid"),
    [
        ({"takes_basic": False}, {}),
        ({"names_itself": False}, {}),
        (
            {
                "person": {"sub": "1"},
                "in_userinfo": {"sub": "1", "email": "ada@example.org", "email_verified": True},
            },
            {},
        ),
        ({"person": {"sub": "1", "login": "ada@example.org"}}, {"name_claim": "login"}),
        (
            {"person": {"sub": "x", "name": "ben", "realm": {"groups": ["all", "shops"]}}},
            {"name_claim": "name", "groups_claim": "realm.groups"},
        ),
    ],
)
def test_providers_differ(site: Open, options: Claims, openid: Claims) -> None:
    at = site(openid=openid, **options)
    assert at.sign_in().status_code == 303
    assert at.browser.get("/session").json()["kind"] == "person"


def test_what_is_verified_of_one_address_is_not_said_of_another(site: Open) -> None:
    claims = {"sub": "1", "email": "ada@example.org"}
    at = site(person=claims, in_userinfo={"sub": "1", "email": "eve@example.org", "email_verified": True})
    at.sign_in()
    assert at.browser.get("/session").status_code == 401


def test_a_new_key_of_the_provider_is_read(site: Open) -> None:
    at = site()
    assert at.sign_in().status_code == 303
    at.provider.key = Key("second")
    assert at.sign_in().status_code == 303
    assert at.provider.log.count("/keys") == 2
    assert at.sign_in().status_code == 303
    assert at.provider.log.count("/keys") == 2
    assert at.provider.log.count("/.well-known/openid-configuration") == 1


def test_several_tabs_sign_in_at_the_same_time(site: Open) -> None:
    at = site()
    addresses = [at.begin(), at.begin()]
    for address in reversed(addresses):
        assert at.browser.get(at.answer(address)).status_code == 303
    assert at.browser.get("/session").status_code == 200


def test_the_cookies_are_kept_from_scripts_and_other_sites(site: Open) -> None:
    at = site()
    begun = at.browser.get("/sign-in")
    done = at.browser.get(at.answer(begun.headers["location"]))
    cookies = [begun.headers["set-cookie"], *done.headers.get_list("set-cookie")]
    assert all("; HttpOnly" in text and "; SameSite=Lax" in text and "Domain" not in text for text in cookies)
    assert cookies[1].startswith(f"{COOKIE}=") and f"Max-Age={12 * 3_600}" in cookies[1]
    assert "Max-Age=0" in cookies[2]


@pytest.mark.parametrize(("root", "prefix"), [("", "__Host-"), ("/code", "__Secure-")])
def test_behind_a_proxy_the_addresses_are_those_of_the_site(
    root: str, prefix: str, serve: Serve, config: ServerConfig
) -> None:
    sent = {"x-forwarded-proto": "https", "x-forwarded-host": "code.example.org"}
    with providing() as provider:
        provider.redirects.add(f"https://code.example.org{root}/sign-in/callback")
        # Beside this server, at another path of the same site.
        provider.described["authorization_endpoint"] = f"{provider.issuer}/authorize"
        rules = SignInRules(roles=tuple(map(rule_of, RULES)), openid=client_of(provider))
        trusting = replace(
            config,
            sign_in=rules,
            root_path=root,
            hosts=("code.example.org",),
            trusted_proxies=(network_of("127.0.0.1"),),
        )
        with serve(trusting) as client:
            begun = client.get("/sign-in?next=/projects", headers=sent)
            pair = begun.headers["set-cookie"].partition(";")[0]
            assert pair.startswith(prefix) and "; Secure" in begun.headers["set-cookie"]
            assert f"Path={root or '/'};" in begun.headers["set-cookie"]
            back = urlsplit(httpx.get(begun.headers["location"]).headers["location"])
            assert (back.scheme, back.netloc) == ("https", "code.example.org")
            done = client.get(f"{back.path}?{back.query}", headers={**sent, "cookie": pair})
            assert (done.status_code, done.headers["location"]) == (303, f"{root}/projects")
            session = done.headers.get_list("set-cookie")[0].partition(";")[0]
            name, _, value = session.partition("=")
            assert name == f"{prefix}{COOKIE}"
            assert client.get("/session", headers={**sent, "cookie": session}).status_code == 200
            # What a neighbour could plant: without the prefix, over HTTP, or twice.
            for planted in (f"{COOKIE}={value}", f"{session}; {session}"):
                assert client.get("/session", headers={**sent, "cookie": planted}).status_code == 401
            assert client.get("/session", headers={"cookie": session}).status_code == 401


def test_a_provider_at_another_path_of_the_same_site_is_reached(serve: Serve, config: ServerConfig) -> None:
    with providing() as provider:
        rules = SignInRules(roles=tuple(map(rule_of, RULES)), openid=client_of(provider))
        host = provider.issuer.partition("//")[2]
        trusting = replace(config, sign_in=rules, root_path="/code", trusted_proxies=(network_of("127.0.0.1"),))
        with serve(trusting) as client:
            begun = client.get("/code/sign-in", headers={"x-forwarded-host": host})
    assert begun.headers["location"].startswith(f"{provider.issuer}/authorize?")


# ---- attacks on the ID token


def with_secret(claims: Claims, key: Key) -> str:
    """Sign with HS256, with the public key as the secret."""
    pem = key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    parts = [{"alg": "HS256", "typ": "JWT", "kid": key.name}, claims]
    text = ".".join(jwt.utils.base64url_encode(json.dumps(part).encode()).decode() for part in parts)
    mark = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(text.encode(), pem)
    return f"{text}.{jwt.utils.base64url_encode(mark).decode()}"


FORGED: dict[str, Callable[[Claims, Key], str]] = {
    "none": lambda claims, _: jwt.encode(claims, "", "none"),
    "None": lambda claims, _: jwt.encode(claims, "", "none").replace(
        jwt.utils.base64url_encode(b'{"alg":"none","typ":"JWT"}').decode(),
        jwt.utils.base64url_encode(b'{"alg":"None","typ":"JWT"}').decode(),
    ),
    "HS256 with the public key": with_secret,
    "a key of its own": lambda claims, key: jwt.encode(claims, Key("x").private, "RS256", headers={"kid": key.name}),
    "a key in its head": lambda claims, _: jwt.encode(
        claims, (own := Key("own")).private, "RS256", headers={"kid": "own", "jwk": own.public}
    ),
    "without a signature": lambda claims, key: (
        jwt.encode(claims, key.private, "RS256", headers={"kid": key.name}).rpartition(".")[0] + "."
    ),
    "no token": lambda *_: "x",
    "nothing": lambda *_: "",
    "half a character": lambda *_: "\ud800.a.b",
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_token_is_refused(how: str, site: Open) -> None:
    at = site()
    at.provider.signs = lambda claims: FORGED[how](claims, at.provider.key)
    status, code, _ = at.refused()
    assert (status, code) == (403, "sign_in_failed")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": None}, "not a sound ID token"),
        ({"aud": "other"}, "another client"),
        ({"aud": ["other"]}, "another client"),
        ({"aud": [CLIENT, "other"]}, "another client"),
        ({"aud": [CLIENT, "other"], "azp": "other"}, "another client"),
        ({"azp": "other"}, "another client"),
        ({"nonce": "x" * 43}, "another sign-in"),
        ({"nonce": None}, "another sign-in"),
        ({"nonce": 1}, "another sign-in"),
        ({"exp": "never"}, "not a sound ID token"),
        ({"sub": 5}, "not a sound ID token"),
    ],
)
def test_a_token_for_something_else_is_refused(change: Claims, said: str, site: Open) -> None:
    at = site()
    at.provider.lies = lambda claims: {**claims, **change}
    status, code, sentence = at.refused()
    assert (status, code) == (403, "sign_in_failed")
    assert said in sentence


@pytest.mark.parametrize("missing", ["iss", "sub", "aud", "exp", "iat", "nonce"])
def test_a_token_without_a_claim_is_refused(missing: str, site: Open) -> None:
    at = site()
    at.provider.lies = lambda claims: {name: value for name, value in claims.items() if name != missing}
    assert at.refused()[:2] == (403, "sign_in_failed")


@pytest.mark.parametrize(("iat", "exp"), [(-900, -600), (900, 1_200)])
def test_clocks_that_differ_are_named(iat: int, exp: int, site: Open) -> None:
    at = site()
    at.provider.lies = lambda claims: {**claims, "iat": int(time.time()) + iat, "exp": int(time.time()) + exp}
    status, code, sentence = at.refused()
    assert (status, code) == (403, "sign_in_clock")
    assert "the clocks of the provider and of this server differ by about" in sentence


def test_clocks_may_differ_a_little(site: Open) -> None:
    at = site()
    at.provider.lies = lambda claims: {**claims, "iat": int(time.time()) + 20}
    assert at.sign_in().status_code == 303


# ---- attacks on the way


def test_an_answer_of_the_provider_is_taken_once(site: Open) -> None:
    at = site()
    kept = at.answer(at.begin())
    cookies = dict(at.browser.cookies)
    assert at.browser.get(kept).status_code == 303
    again = at.other_browser(kept, cookies)
    assert (again.status_code, again.json()["code"]) == (403, "sign_in_failed")
    assert "used before" in again.json()["detail"]


def test_a_code_is_of_use_once(site: Open) -> None:
    at = site()
    first, second = at.answer(at.begin()), at.answer(at.begin())
    code = parse_qs(urlsplit(first).query)["code"][0]
    other = parse_qs(urlsplit(second).query)["code"][0]
    assert at.browser.get(first).status_code == 303
    at.browser.cookies.delete(COOKIE)
    stolen = at.browser.get(second.replace(other, code))
    assert (stolen.status_code, stolen.json()["code"]) == (403, "sign_in_failed")
    assert "used before, or is too old" in stolen.json()["detail"]


def test_a_code_of_another_sign_in_is_refused(site: Open) -> None:
    """By PKCE: the code was given for another verifier."""
    at = site()
    first, second = at.answer(at.begin()), at.answer(at.begin())
    codes = [parse_qs(urlsplit(address).query)["code"][0] for address in (first, second)]
    assert at.browser.get(second.replace(codes[1], codes[0])).json()["code"] == "sign_in_failed"


def test_the_answer_of_another_browser_is_refused(site: Open) -> None:
    """Nobody can sign a person in as somebody else by a link."""
    at = site()
    of_attacker = at.answer(at.begin())
    at.browser.cookies.clear()
    for cookies in ({}, {"fathom-sign-in-x": "y"}):
        victim = at.other_browser(of_attacker, cookies)
        assert victim.status_code == 403
        assert COOKIE not in victim.cookies


def test_a_state_that_nobody_has_begun_is_refused(site: Open) -> None:
    at = site()
    for query in ("", "?state=x&code=y", "?code=y", "?state=x&error=access_denied", f"?state={'s' * 43}&code=y"):
        answer = at.browser.get(f"/sign-in/callback{query}")
        assert (answer.status_code, answer.json()["code"]) == (403, "sign_in_failed")


@pytest.mark.parametrize("issuer", ["https://evil.example", ""])
def test_the_answer_of_another_provider_is_refused(issuer: str, site: Open) -> None:
    at = site()
    address = httpx.URL(at.answer(at.begin()))
    answer = at.browser.get(address.copy_set_param("iss", issuer))
    assert (answer.status_code, answer.json()["code"]) == (403, "sign_in_failed")


def test_a_session_that_others_know_is_not_taken_over(site: Open) -> None:
    """What was planted, or belongs to somebody else, is neither used nor kept."""
    at = site()
    assert at.sign_in().status_code == 303
    first = at.browser.cookies[COOKIE]
    assert at.sign_in().status_code == 303
    second = at.browser.cookies[COOKIE]
    assert first != second
    at.browser.cookies.clear()
    assert at.other_browser("/session", {COOKIE: first}).status_code == 401
    assert at.other_browser("/session", {COOKIE: second}).status_code == 200
    at.browser.cookies.clear()
    at.browser.cookies.set(COOKIE, "planted")
    at.browser.cookies.set(COOKIE, "planted", domain="127.0.0.1")
    done = at.sign_in()
    assert done.status_code == 303
    assert done.cookies[COOKIE] != "planted"
    assert at.other_browser("/session", {COOKIE: "planted"}).status_code == 401


@pytest.mark.parametrize(
    "address",
    [
        *("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)"),
        *("/docs", "/sign-in", "/api/session", "//evil.example/search", "/search\n", "/search\\", "search", ""),
        *("/search/../../x", "/.//evil.example", "/%2f/evil.example", "/" + "a" * 3_000, "/search?" + "a" * 2_000),
    ],
)
def test_only_pages_of_this_server_are_shown_afterwards(address: str, site: Open) -> None:
    assert not is_page_address(address)
    if len(address) < 2_000:
        assert site().sign_in(address).headers["location"] == "/"


@pytest.mark.parametrize("address", ["/", "/search?q=a%20b", "/chat/5f0c", "/projects#x", "/?next=//evil.example"])
def test_pages_of_this_server_are_shown_afterwards(address: str) -> None:
    assert is_page_address(address)


def test_a_page_of_another_site_changes_nothing(site: Open, shop: Path) -> None:
    """A browser sends cookies with what other pages ask for, so it must say that ours has asked."""
    at = site()
    assert at.sign_in().status_code == 303
    body = {"path": str(shop)}
    other_scheme = at.origin.replace("http:", "https:")
    other_port = "http://127.0.0.1:1"
    for origin in (None, "null", "https://evil.example", other_scheme, other_port):
        headers = {"origin": origin} if origin else {}
        for path in ("/projects", "/api/projects", "/sign-out", "/mcp", "/v1/chat/completions"):
            answer = at.browser.post(path, json=body, headers=headers)
            assert answer.status_code == 403, (origin, path)
    assert at.browser.get("/session").status_code == 200
    assert at.browser.get("/projects").json()["projects"] == []
    added = at.browser.post("/projects", json=body, headers={"origin": at.origin})
    assert added.status_code == 201


def test_a_listed_page_changes_nothing_with_the_cookie(serve: Serve, config: ServerConfig) -> None:
    """`server.cors` is for pages with a token of their own."""
    with providing() as provider:
        rules = SignInRules(roles=tuple(map(rule_of, RULES)), openid=client_of(provider))
        with serve(replace(config, sign_in=rules, tokens=(ROOT,), cors=("https://other.example",))) as browser:
            at = Site(browser, provider)
            provider.redirects.add(f"{at.origin}/sign-in/callback")
            assert at.sign_in().status_code == 303
            headers = {"origin": "https://other.example"}
            assert browser.post("/conversations", json={}, headers=headers).status_code == 403
            seen = browser.get("/session", headers=headers)
            assert "access-control-allow-credentials" not in seen.headers
            browser.cookies.clear()
            headers["authorization"] = "Bearer of-root"
            assert browser.post("/conversations", json={}, headers=headers).status_code != 403


# ---- what goes wrong, in words


def test_a_provider_that_is_away_is_named(site: Open) -> None:
    at = site(openid={"issuer": "http://127.0.0.1:1"})
    answer = at.browser.get("/sign-in")
    assert (answer.status_code, answer.json()["code"]) == (503, "sign_in_away")
    assert "server.oidc_issuer = 'http://127.0.0.1:1' cannot be reached" in answer.json()["detail"]
    assert answer.json()["hint"]


@pytest.mark.parametrize(
    ("status", "code"), [(500, "sign_in_away"), (404, "sign_in_settings"), (302, "sign_in_settings")]
)
def test_a_provider_that_answers_with_an_error_is_named(status: int, code: str, site: Open) -> None:
    at = site(status=status)
    answer = at.browser.get("/sign-in")
    assert (answer.status_code, answer.json()["code"]) == (503, code)
    assert at.provider.issuer in answer.json()["detail"]


@pytest.mark.parametrize("takes_basic", [True, False])
def test_a_wrong_secret_is_named(takes_basic: bool, site: Open) -> None:
    at = site(openid={"secret": "other"}, takes_basic=takes_basic)
    answer = at.sign_in()
    assert (answer.status_code, answer.json()["code"]) == (503, "sign_in_settings")
    assert f"server.oidc_client_id = '{CLIENT}' or its secret is wrong" in answer.json()["detail"]
    assert "OIDC_CLIENT_SECRET" in answer.json()["hint"]
    assert "other" not in answer.text


def test_refused_consent_is_named(site: Open) -> None:
    at = site(consents=False)
    assert at.refused()[:2] == (403, "sign_in_refused")


def test_a_person_whom_no_rule_fits_is_not_let_in(site: Open) -> None:
    at = site(person={"sub": "2", "email": "eve@example.org", "email_verified": True})
    status, code, sentence = at.refused()
    assert (status, code) == (403, "sign_in_unknown")
    assert "'eve@example.org' may not use this server: no line of server.roles" in sentence


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ({"issuer": "https://evil.example"}, "calls itself 'https://evil.example'"),
        ({"token_endpoint": "http://code.example.org/token"}, "token_endpoint"),
        ({"jwks_uri": "file:///etc/passwd"}, "jwks_uri"),
        ({"jwks_uri": None}, "jwks_uri"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
        ({"authorization_endpoint": "http://127.0.0.1/\r\nx: y"}, "authorization_endpoint"),
    ],
)
def test_a_provider_that_describes_itself_wrongly_is_not_used(described: Claims, said: str, site: Open) -> None:
    at = site(described=described)
    answer = at.browser.get("/sign-in")
    assert (answer.status_code, answer.json()["code"]) == (503, "sign_in_settings")
    assert said in answer.json()["detail"]


def test_an_answer_of_the_provider_has_limits(site: Open) -> None:
    at = site(described={"padding": "x" * 2_000_000})
    answer = at.browser.get("/sign-in")
    assert (answer.status_code, answer.json()["code"]) == (503, "sign_in_away")
    assert "larger than 1,000,000 bytes" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"host": "10.1.2.3"}, "'10.1.2.3': it is not a name of this server in server.hosts"),
        ({"x-forwarded-host": "10.1.2.3"}, "'10.1.2.3': it is not a name"),
        ({"host": "code.example.org"}, "'code.example.org' over HTTP"),
    ],
)
def test_people_sign_in_at_names_of_this_server_only(
    headers: dict[str, str], said: str, serve: Serve, config: ServerConfig
) -> None:
    with providing() as provider:
        rules = SignInRules(openid=client_of(provider))
        changed = replace(
            config, sign_in=rules, hosts=("code.example.org",), trusted_proxies=(network_of("127.0.0.1"),)
        )
        with serve(changed) as client:
            answer = client.get("/sign-in", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (503, "sign_in_settings")
    assert said in answer.json()["detail"]


def test_a_browser_gets_the_page_with_the_problem(site: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "static").mkdir()
    index = '<meta name="root-path" content="" /><meta name="problem" content="" />'
    (tmp_path / "static" / "index.html").write_text(index, encoding="utf-8")
    monkeypatch.setattr(page, "STATIC", tmp_path / "static")
    at = site(person={"sub": "2", "email": '"><script>alert(1)</script>', "email_verified": True})
    answer = at.browser.get(at.answer(at.begin()), headers=BROWSER)
    assert (answer.status_code, answer.headers["cache-control"]) == (403, "no-store")
    assert "<script>" not in answer.text
    assert "sign_in_unknown" in answer.text


def test_the_log_holds_no_code(capsys: pytest.CaptureFixture[str]) -> None:
    start_log("text")
    logger = logging.getLogger("uvicorn.access")
    try:
        path = "/code/sign-in/callback?state=s&code=secret"
        logger.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:1", "GET", path, "1.1", 303)
        logger.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:1", "GET", "/search?q=price", "1.1", 200)
    finally:
        for name in LOGGERS:
            logging.getLogger(name).handlers = []
            logging.getLogger(name).propagate = True
    said = capsys.readouterr().err
    assert "/code/sign-in/callback HTTP" in said and "secret" not in said
    assert "/search?q=price" in said


# ---- the session


def test_a_session_ends_by_itself_and_only_its_hash_is_stored(tmp_path: Path) -> None:
    now = [1_000_000.0]
    sessions = BrowserSessions(str(tmp_path), lambda: now[0])
    client = OpenIdClient("https://id.example.org", CLIENT, SECRET, session_hours=2)
    ada = Person("ada", ("shops",))
    secret = sessions.start(ada, client)
    assert sessions.find(secret, client) == ada
    assert sessions.find(secret, replace(client, issuer="https://other.example")) is None
    assert sessions.find(secret, replace(client, client_id="other")) is None
    assert sessions.find(hash_of(secret), client) is sessions.find("", client) is None
    assert sessions.find(secret, replace(client, session_hours=1)) == ada
    now[0] += 3_601
    assert sessions.find(secret, replace(client, session_hours=1)) is None  # a changed setting holds at once
    assert sessions.find(secret, client) == ada
    now[0] += 3_600
    assert sessions.find(secret, client) is None
    sessions.forget_old(2)
    assert not sessions.end(secret)
    many = [sessions.start(ada, client) for _ in range(30)]
    assert sum(sessions.find(one, client) is not None for one in many) == 20
    assert sessions.find(many[-1], client) == ada
    sessions.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert many[-1].encode() not in stored
    assert hash_of(many[-1]).encode() in stored


def test_a_session_outlives_the_server(serve: Serve, config: ServerConfig) -> None:
    with providing() as provider:
        rules = SignInRules(roles=tuple(map(rule_of, RULES)), openid=client_of(provider))
        with serve(replace(config, sign_in=rules)) as browser:
            at = Site(browser, provider)
            provider.redirects.add(f"{at.origin}/sign-in/callback")
            assert at.sign_in().status_code == 303
            kept = {COOKIE: browser.cookies[COOKIE]}
        with serve(replace(config, sign_in=rules)) as browser:
            assert Site(browser, provider).other_browser("/session", kept).json()["name"] == "ada@example.org"
        with serve(replace(config, sign_in=replace(rules, roles=()))) as browser:
            assert Site(browser, provider).other_browser("/session", kept).json()["role"] == "none"


def test_a_stream_ends_when_its_person_signs_out(site: Open, shop: Path) -> None:
    at = site()
    assert at.sign_in().status_code == 303
    own = {"origin": at.origin, "accept": "application/json"}
    with Engine.open(str(shop)) as engine:
        writing = engine.index_events()
        next(writing)  # holds the lock of the index, so that the job waits, and its stream goes on
        at.browser.post("/projects", json={"path": str(shop)}, headers=own).raise_for_status()
        job = at.browser.post("/projects/shop/index", headers=own).json()["id"]
        with at.browser.stream("GET", f"/jobs/{job}/events") as stream:
            lines = stream.iter_lines()
            assert any('"phase": "waiting"' in line for line in lines)
            assert at.browser.post("/sign-out", headers=own).status_code == 204
            assert not any("cancelled" in line for line in lines)  # ends
        root = {"authorization": "Bearer of-root"}
        at.browser.post(f"/jobs/{job}/cancel", headers=root)
        assert comes(lambda: at.browser.get(f"/jobs/{job}", headers=root).json()["state"] == "cancelled")
        writing.close()


def test_an_attempt_is_for_ten_minutes_and_one_browser() -> None:
    now = [0.0]
    attempts = SignInAttempts(lambda: now[0])
    attempt, secret = attempts.begin("https://id.example.org", "https://code.example.org/sign-in/callback", "/")
    now[0] = ATTEMPT_S + 1
    with pytest.raises(SignInFailedError, match="older than 10 minutes"):
        attempts.take(attempt.state, secret)
    attempt, secret = attempts.begin("https://id.example.org", "https://code.example.org/sign-in/callback", "/")
    with pytest.raises(SignInFailedError, match="did not begin in this browser"):
        attempts.take(attempt.state, secret + "x")


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"email": "ada@example.org"}, "verified"),
        ({"email": "ada@example.org", "email_verified": False}, "verified"),
        ({"email": "ada@example.org", "email_verified": "false"}, "verified"),
        ({}, "no claim 'email'"),
        ({"email": ["ada"]}, "no claim 'email'"),
        ({"email": " "}, "no claim 'email'"),
        ({"email": "a\nb", "email_verified": True}, "no usable name"),
        ({"email": "a" * 201, "email_verified": True}, "no usable name"),
    ],
)
def test_a_name_that_is_not_sure_is_refused(claims: Claims, said: str) -> None:
    with pytest.raises(SignInSettingsError, match=said):
        person_of(claims, OpenIdClient("https://id.example.org", CLIENT, SECRET))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [(["a", "b"], ("a", "b")), ("a", ("a",)), (None, ()), ([1, {}, "", " a "], ("a",)), ({"a": 1}, ()), (["a\nb"], ())],
)
def test_groups_are_texts(groups: object, expected: tuple[str, ...]) -> None:
    client = OpenIdClient("https://id.example.org", CLIENT, SECRET, name_claim="sub", groups_claim="groups")
    assert person_of({"sub": "1", "groups": groups}, client) == Person("1", expected)


# ---- the settings


GOOD = {"oidc_issuer": "https://id.example.org", "oidc_client_id": CLIENT}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"oidc_client_id": ""}, "server.oidc_client_id is empty"),
        ({"oidc_issuer": "http://id.example.org"}, "server.oidc_issuer cannot be 'http://id.example.org'"),
        ({"oidc_issuer": "id.example.org"}, "server.oidc_issuer cannot be"),
        ({"oidc_issuer": "https://me:pass@id.example.org"}, "server.oidc_issuer cannot be"),
        ({"oidc_issuer": "https://id.example.org/?x=1"}, "server.oidc_issuer cannot be"),
    ],
)
def test_settings_that_cannot_be_are_named(settings: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=said.replace("?", r"\?")):
        config_of(ServerSettings(data_dir=str(tmp_path), **(GOOD | settings)), {"OIDC_CLIENT_SECRET": "x"})


def test_the_secret_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    settings = ServerSettings(data_dir=str(tmp_path), host="0.0.0.0", **GOOD)
    with pytest.raises(SettingsError, match="no client secret in OIDC_CLIENT_SECRET") as caught:
        config_of(settings, {})
    assert "keyring set" in caught.value.hint
    client = config_of(settings, {"OIDC_CLIENT_SECRET": "of client"}).sign_in.openid
    assert client is not None
    assert (client.secret, client.scopes) == ("of client", ("openid", "profile", "email"))
    assert "of client" not in repr(client)
