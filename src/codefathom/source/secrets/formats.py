"""Secrets that are recognised by their form alone: a fixed piece, then random signs. One row for each form.

Sources of the forms: the documentation of the providers, and keys that they issue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from codefathom.source.secrets.scanned import BEGINNING, ScannedText, SecretSpan, compiled, words_of
from codefathom.source.secrets.values import entropy, is_cased, is_dense, is_irregular, is_mixed, is_placeholder


class _Led(NamedTuple):
    """A form that begins with fixed signs; its first group is the secret, without a group all of it is."""

    kind: str
    literals: tuple[str, ...]
    pattern: str
    accept: Callable[[str], bool]


class _Free(NamedTuple):
    """A form whose fixed signs stand inside, or that has none."""

    kind: str
    piece: bytes  # stands in the joined words of every such text
    inside: str  # stands in every such text
    lengths: range  # of a word of letters and digits that every such secret has; empty: of none
    pattern: str
    accept: Callable[[str], bool]


# A secret begins where a word begins, "task-…" holds no "sk-…", or behind a line end that is written "\n".
_BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9])"
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


def _led(kind: str, literals: str, body: str, accept: Callable[[str], bool] = is_cased) -> _Led:
    begins = tuple(literals.split())
    any_of_them = "|".join(map(re.escape, sorted(begins, key=len, reverse=True)))
    return _Led(kind, begins, rf"{_BEGIN}(?:{any_of_them})(?:{body})", accept)


def _free(
    kind: str,
    pattern: str,
    accept: Callable[[str], bool] = is_cased,
    *,
    piece: bytes = b"",
    inside: str = "",
    lengths: range = range(0),
) -> _Free:
    return _Free(kind, piece, inside, lengths, pattern, accept)


# The seed of one-time passwords, in base32.
_SEED = r"(?:totp|hotp)/[^\s\"'<>]{0,300}?[?&]secret=([A-Za-z2-7]{8,200})(?![\w{])"


def _is_seed(value: str) -> bool:
    return value.isupper() or value.islower() or is_mixed(value)


_LED = (
    # Clouds and hosts
    _led("AWS key", "AKIA ASIA ABIA ACCA", rf"[A-Z2-7]{{16}}{_END}", bool),
    _led("AWS key", "ABSK", r"[A-Za-z0-9+/]{90,}={0,2}"),
    _led("AWS token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9+/%]{80,}={0,2}"),
    _led("Amazon token", "amzn.mws. amzn1.oa2-cs.v1.", r"[\w-]{32,}"),
    _led("Google key", "AIza", r"[\w-]{35}(?![\w-])"),
    _led("Google key", "GOCSPX-", r"[\w-]{20,}"),
    _led("Google key", "ya29.", r"[\w.-]{20,}"),
    _led("Google key", "1//0", r"[\w-]{40,}"),
    _led("Azure key", "AccountKey=", r"([A-Za-z0-9+/]{60,}={0,2})", bool),
    _led("Azure key", "SharedAccessKey= AccessKey=", r"([A-Za-z0-9+/]{40,}={0,2})", bool),
    _led("Azure key", "logic.azure.com", r"[^\s\"'<>]{0,400}?[?&]sig=([\w-]{43})(?![\w-])", is_mixed),
    _led("Azure key", "sig=", r"((?:[A-Za-z0-9+/-]|%[0-9A-Fa-f]{2}){40,}(?:%3[Dd]|=))", is_mixed),
    _led("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}", bool),
    _led("Heroku token", "HRKU-", r"[\w-]{36,}"),
    _led("Netlify token", "nfp_ nfc_ nfo_ nfu_", r"[A-Za-z0-9]{32,}"),
    _led("Fly.io token", "fm1r_ fm1a_ fm2_ fo1_", r"[\w+/-]{40,}={0,2}"),
    _led("Supabase key", "sbp_ sbp_v0_ sb_secret_", r"[\w-]{20,}"),
    _led("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{30,}"),
    _led("Cloudflare key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{140,}", bool),
    _led("Alibaba key", "LTAI", rf"[A-Za-z0-9]{{12,26}}{_END}"),
    _led("Tencent key", "AKID", rf"[A-Za-z0-9]{{32,50}}{_END}"),
    _led("Volcengine key", "AKLT AKTP", r"[A-Za-z0-9]{40,60}={0,2}"),
    _led("Baidu key", "bce-v3/ALTAK- ALTAK-", r"[A-Za-z0-9]{15,40}(?:/[0-9a-f]{32,64})?"),
    _led("Yandex key", "AQVN t1. y0_ y3_", r"[\w-]{36,}(?:\.[\w-]{60,})?={0,2}"),
    # Code, packages and builds
    _led("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,}"),
    _led("GitHub token", "github_pat_", r"[A-Za-z0-9_]{22,}", is_mixed),
    _led(
        "GitLab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- GR1348941",
        r"[\w-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    _led("npm token", "npm_", rf"[A-Za-z0-9]{{36}}{_END}"),
    _led("PyPI token", "pypi-A", r"[\w-]{50,}"),
    _led("Docker token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}"),
    _led("RubyGems key", "rubygems_", r"[0-9a-f]{48}", bool),
    _led("NuGet key", "oy2", rf"[a-z0-9]{{43}}{_END}", is_mixed),
    _led("crates.io token", "cio", rf"[A-Za-z0-9]{{32}}{_END}", is_mixed),
    _led("Clojars token", "CLOJARS_ clojars_", r"[A-Za-z0-9]{60}", bool),
    _led("JFrog key", "AKCp", r"[A-Za-z0-9]{65,}"),
    _led("JFrog key", "cmVmd", r"[A-Za-z0-9]{59}={0,2}"),
    _led("CircleCI token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{20,}_[0-9a-f]{40}"),
    _led("Buildkite token", "bkua_ bkct_ bkaj_", r"[0-9a-f]{40}", is_mixed),
    _led("Sonar token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}", is_mixed),
    _led("Jenkins secret", "{AQAAABAAAA", r"[A-Za-z0-9+/]{30,}={0,2}\}", bool),
    _led("Atlassian token", "ATATT3", r"[\w=-]{60,}"),
    _led("Bitbucket token", "ATBB ATCTT3", r"[\w=-]{24,}"),
    _led("Databricks token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![0-9a-f])", bool),
    _led("Postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}", bool),
    _led("Vault token", "hvs. hvb. hvr.", r"[\w-]{24,}"),
    _led("Pulumi token", "pul-", r"[0-9a-f]{40}", is_mixed),
    _led("Doppler token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9]{40,44}"),
    _led("Doppler token", "dp.st.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _led("Infisical token", "st.", r"[0-9a-f]{24}\.[0-9a-f]{32,}\.[0-9a-f]{32,}"),
    _led("1Password token", "ops_eyJ", r"[A-Za-z0-9+/_-]{100,}={0,3}"),
    _led(
        "1Password key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-(?:[A-Z0-9]{5}-){2}[A-Z0-9]{5}"
    ),
    _led("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}", bool),
    _led("Octopus Deploy key", "API-", rf"[A-Z0-9]{{26}}{_END}", is_mixed),
    _led("OpenShift token", "sha256~", r"[\w-]{43}(?![\w-])"),
    _led("Scalingo token", "tk-us-", r"[\w-]{48}"),
    _led("Harness token", "pat.", r"[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _led("Sourcegraph token", "sgp_ slk_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}", is_mixed),
    _led("Tailscale key", "tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{10,}-[A-Za-z0-9]{24,}"),
    _led("ClickHouse key", "4b1d", rf"[A-Za-z0-9]{{38}}{_END}"),
    _led("WakaTime key", "waka_", _UUID, bool),
    _led("Neon key", "napi_", r"[a-z0-9]{64}"),
    _led(
        "Authress key",
        "sc_ ext_ authress_",
        r"[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,120}",
    ),
    _led("Defined Networking key", "dnkey-", r"[A-Z0-9]{26}-[A-Z0-9]{52}"),
    _led("42 secret", "s-s4t2ud- s-s4t2af-", r"[0-9a-f]{64}", is_mixed),
    _led("Inngest key", "signkey-", r"(?:[a-z]{1,12}-)?[0-9a-f]{64}", is_mixed),
    _led("E2B key", "e2b_", r"[0-9a-f]{40}", is_mixed),
    _led("Novu key", "nv-", r"[0-9a-f]{32}(?![0-9a-f])", is_mixed),
    _led("Aiven token", "aivenv1", r"[A-Za-z0-9+/]{80,}={0,2}"),
    _led("Browserbase key", "bb_live_ bb_test_", r"[\w-]{27,}", is_mixed),
    _led("Adobe secret", "p8e-", rf"[A-Za-z0-9_-]{{32}}{_END}", is_mixed),
    # Messages and webhooks
    _led(
        "Slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxd- xoxc- xoxe.xoxb- xoxe.xoxp-",
        r"[\w%-]{10,}",
        is_mixed,
    ),
    _led("Slack token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    _led(
        "Slack webhook",
        "hooks.slack.com/ hooks.slack-gov.com/",
        r"(?:services|workflows|triggers)/([\w/-]{20,})",
        is_mixed,
    ),
    _led("Discord webhook", "discord.com/api/ discordapp.com/api/", r"(?:v\d+/)?webhooks/(\d{15,}/[\w-]{40,})"),
    _led("Telegram token", "api.telegram.org/", r"(?:file/)?bot(\d{6,12}:[\w-]{30,50})(?![\w-])", is_mixed),
    _led(
        "Teams webhook", "outlook.office.com/ outlook.office365.com/", rf"(webhook/{_UUID}@{_UUID}/[\w/-]{{30,}})", bool
    ),
    _led("Zapier webhook", "hooks.zapier.com/", r"hooks/catch/(\d{4,}/[A-Za-z0-9]{5,})", bool),
    _led("IFTTT key", "maker.ifttt.com/", r"trigger/[^\s\"'<>]{1,100}?/key/([\w-]{15,})", is_mixed),
    _led("one-time password seed", "otpauth://", _SEED, _is_seed),
    _led("one-time password seed", "otpauth-migration://", r"offline\?data=([\w+/%-]{20,}={0,2})", bool),
    _led("Teams webhook", "webhook.office.com/", rf"(webhookb2/{_UUID}@{_UUID}/[\w/-]{{30,}})"),
    _led("DingTalk webhook", "oapi.dingtalk.com/", r"robot/send\?access_token=([0-9a-f]{40,})"),
    _led("DingTalk secret", "SEC", r"[0-9a-f]{60,64}(?![0-9a-f])", bool),
    _led("Feishu webhook", "open.feishu.cn/ open.larksuite.com/", r"open-apis/bot/(?:v2/)?hook/([\w-]{16,})"),
    _led("WeCom webhook", "qyapi.weixin.qq.com/", r"[\w/-]{1,60}\?key=([\w-]{20,})"),
    _led("Twilio key", "SK", r"[0-9a-f]{32}(?![0-9a-f])", bool),
    _led("SendGrid key", "SG.", r"[\w-]{16,}\.[\w-]{32,}"),
    _led("Mailgun key", "key-", r"[0-9a-f]{32}(?![0-9a-f])", is_mixed),
    _led("Brevo key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", bool),
    _led("Resend key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    _led("Frame.io token", "fio-u-", r"[\w=-]{64}"),
    _led("Typeform token", "tfp_", r"[\w=.-]{40,}"),
    _led("ReadMe key", "rdme_", r"[a-z0-9]{70}"),
    # Money and shops
    _led("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_", r"[A-Za-z0-9]{16,}"),
    _led("Stripe key", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    _led("Square token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22,}"),
    _led("Square token", "EAAA", r"[\w-]{60}(?![\w-])", is_mixed),
    _led("Braintree token", "access_token$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", bool),
    _led("Plaid token", "access-", rf"(?:production|sandbox|development)-{_UUID}", bool),
    _led("Razorpay key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,}"),
    _led("Flutterwave key", "FLWSECK- FLWSECK_TEST-", r"[0-9a-zA-Z]{12,}(?:-X)?", is_mixed),
    _led("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}", bool),
    _led("Lob key", "live_ test_", r"(?:pub_)?[0-9a-f]{31,35}(?![0-9a-z])", is_mixed),
    _led("Shippo token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}", is_mixed),
    _led("EasyPost key", "EZAK EZTK", rf"[A-Za-z0-9]{{54}}{_END}"),
    _led("Duffel token", "duffel_live_ duffel_test_", r"[\w=-]{43}"),
    _led("Stytch secret", "secret-live- secret-test-", r"[\w-]{36}=?"),
    # Language models
    _led("Anthropic key", "sk-ant-", r"[\w-]{20,}", is_mixed),
    _led(
        "OpenAI key",
        "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1- sk-lf- sk-kimi- sk-live-",
        r"[\w-]{20,}",
        is_mixed,
    ),
    _led("OpenAI key", "sk-", r"[A-Za-z0-9]{32,}"),
    _led("model provider key", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    _led("model provider key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _led("model provider key", "r8_", r"[A-Za-z0-9]{37}"),
    _led("model provider key", "xai- pplx- nvapi- csk- tvly- jina_", r"[\w-]{32,}", is_mixed),
    _led("model provider key", "fw_", rf"[A-Za-z0-9]{{22,}}{_END}", is_dense),
    _led("model provider key", "pcsk_", r"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}"),
    _led("model provider key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}", bool),
    _led("model provider key", "sk_", r"[0-9a-f]{48}(?![0-9a-f])", is_mixed),
    _led("model provider key", "pa-", r"[\w-]{43}(?![\w-])", is_irregular),
    # Offices and teams
    _led("Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}"),
    _led("Notion token", "secret_", rf"[A-Za-z0-9]{{43}}{_END}"),
    _led("Notion token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _led("Figma token", "figd_ figu_ figo_", r"[\w-]{36,}", is_mixed),
    _led("HubSpot token", "pat-na1- pat-na2- pat-eu1-", _UUID, bool),
    _led("Contentful token", "CFPAT-", r"[\w-]{40,}"),
    _led("Dropbox token", "sl.", r"[\w-]{100,}"),
    _led("Mapbox token", "sk.eyJ", r"[\w-]{40,}\.[\w-]{18,}"),
    _led("Facebook token", "EAA", r"(?<![+/]EAA)[A-Za-z0-9]{80,}"),
    _led("X token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{50,}", is_mixed),
    # Watching over servers
    _led("Grafana token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _led("Grafana token", "glc_eyJ", r"[A-Za-z0-9+/]{40,}={0,2}"),
    _led("New Relic key", "NRAK- NRRA- NRJS- NRII-", r"[A-Za-z0-9_-]{19,}"),
    _led("Sentry token", "sntryu_", r"[0-9a-f]{64}", bool),
    _led("Sentry token", "sntrys_eyJ", r"[A-Za-z0-9+/=_-]{80,}"),
    _led("Dynatrace token", "dt0c01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", bool),
    _led("LaunchDarkly key", "sdk- api- mob-", _UUID, bool),
    _led("Axiom token", "xaat- xapt-", _UUID, bool),
    _led("Okta token", "00", r"[\w-]{40}(?![\w-])", is_dense),
    # Of no provider
    _led("JWT", "eyJ", r"[\w-]{8,}\.[\w-]{8,}\.[\w-]{10,}(?:\.[\w-]+)*"),
    _led("Fernet token", "gAAAAAB", r"[\w-]{60,}={0,2}"),
)
_FREE = (
    # Mattermost, Rocket.Chat
    _free(
        "chat webhook",
        r"(?<=/hooks/)(?:[a-z0-9]{26}|[A-Za-z0-9]{15,26}/[A-Za-z0-9]{40,70})(?![\w-])",
        is_mixed,
        inside="/hooks/",
    ),
    _free("password hash", r"\$2[aby]\$\d\d\$[A-Za-z0-9./]{53}", bool, inside="$2"),
    _free(
        "password hash",
        r"\$(?:[1567y]|apr1)\$(?:rounds=\d{1,9}\$)?(?:[\w./+-]{1,40}\$){1,3}[A-Za-z0-9./]{22,}",
        is_mixed,
        inside="$",
    ),
    _free(
        "password hash",
        r"\$(?:argon2(?:id|i|d)|scrypt|pbkdf2-sha256)\$(?:[\w=,.]{1,60}\$){1,3}[A-Za-z0-9+/.]{16,}\$?[A-Za-z0-9+/.]{22,}",
        is_mixed,
        inside="$",
    ),
    _free("OpenAI key", r"sk-[\w-]{10,120}T3BlbkFJ[\w-]{20,}", piece=b" sk ", inside="T3BlbkFJ"),
    _free(
        "Telegram token",
        rf"(?:{_BEGIN}|(?<=/bot))\d{{8,10}}:AA[\w-]{{32,34}}(?![\w-])",
        is_mixed,
        piece=b" aa",
        inside=":AA",
    ),
    _free(
        "Discord token",
        rf"{_BEGIN}[MNO][A-Za-z0-9]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,40}}(?![\w-])",
        is_mixed,
        lengths=range(24, 29),
    ),
    _free("Terraform token", rf"{_BEGIN}[A-Za-z0-9]{{14}}\.atlasv1\.[\w-]{{60,}}", piece=b" atlasv1 "),
    _free(
        "Azure secret", r"(?<![\w~.-])[\w~.]{3}[0-9a-zA-Z]Q~[\w~.-]{31,34}(?![\w~])", is_mixed, piece=b"q ", inside="Q~"
    ),
    _free("Azure DevOps token", rf"{_BEGIN}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{_END}", lengths=range(84, 85)),
    _free("Mailchimp key", rf"{_BEGIN}[0-9a-f]{{32}}-us\d{{1,2}}{_END}", is_mixed, lengths=range(32, 33), inside="-us"),
    _free("New Relic key", rf"{_BEGIN}[0-9a-fA-F]{{36}}NRAL{_END}", bool, lengths=range(40, 41), inside="NRAL"),
    _free(
        "Sentry address",
        r"(?<=://)([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.-]{1,80}/\d",
        bool,
        inside="@",
        lengths=range(32, 33),
    ),
    _free("Zhipu key", r"(?<![\w.])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![\w.])", is_mixed, lengths=range(32, 33)),
    _free("MaxMind key", rf"{_BEGIN}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk{_END}", piece=b" mmk ", inside="_mmk"),
    _free(
        "Mailgun key",
        rf"{_BEGIN}[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}(?![\w-])",
        is_mixed,
        lengths=range(32, 33),
    ),
    _free("Airtable token", rf"{_BEGIN}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_END}", bool, lengths=range(64, 65)),
    _free(
        "Bitcoin key",
        rf"{_BEGIN}(?:5[HJK]{_BASE58}{{49}}|[KL]{_BASE58}{{51}}){_END}",
        is_mixed,
        lengths=range(51, 53),
    ),
)

_Looked: TypeAlias = dict[bytes, list[tuple[str, _Led]]]
# By the first word of each literal: where the word ends in it, where it goes on, and where it is too short to tell
# much, so that a long word must be there too.
_COMMON = frozenset({"1//0", "re_", "key-"})
_WHOLE: _Looked = {}
_BEGUN: _Looked = {}
_SHORT: _Looked = {}
for _rule in _LED:
    for _literal in _rule.literals:
        _word = words_of(_literal)[0]
        if _literal in _COMMON:
            _SHORT.setdefault(b" " + _word + b" ", []).append((_literal, _rule))
        elif not _literal.lower().encode().endswith(_word):
            _WHOLE.setdefault(_word, []).append((_literal, _rule))
        elif len(_word) >= BEGINNING:
            _BEGUN.setdefault(_word[:BEGINNING], []).append((_literal, _rule))
        else:
            _SHORT.setdefault(b" " + _word, []).append((_literal, _rule))
_WHOLE_WORDS, _BEGINNINGS = frozenset(_WHOLE), frozenset(_BEGUN)


def formats(scanned: ScannedText) -> Iterator[SecretSpan]:
    """Yield the secrets of a known form, then values that are built like one."""
    for literal, rule in _looked_for(scanned):
        yield from _behind(literal, rule, scanned.text, scanned.path)
    for free in _FREE:
        if _may_hold(scanned, free):
            yield from _matches(free, scanned.text)
    if scanned.lengths:
        yield from _of_no_known_provider(scanned.text)


def _may_hold(scanned: ScannedText, rule: _Free) -> bool:
    if rule.lengths and scanned.lengths.isdisjoint(rule.lengths):
        return False
    return rule.inside in scanned.text and (not rule.piece or rule.piece in scanned.joined)


def _looked_for(scanned: ScannedText) -> Iterator[tuple[str, _Led]]:
    """Yield the literals whose first word is there."""
    for word in scanned.words & _WHOLE_WORDS:
        yield from _WHOLE[word]
    for begin in scanned.beginnings & _BEGINNINGS:
        yield from _BEGUN[begin]
    for short, pairs in _SHORT.items() if scanned.lengths else ():
        if short in scanned.joined:
            yield from pairs


def _behind(literal: str, rule: _Led, text: str, path: str) -> Iterator[SecretSpan]:
    place = text.find(literal)
    if place < 0:
        return
    pattern = compiled(rule.pattern)
    group = min(pattern.groups, 1)
    while place >= 0:
        match = pattern.match(text, place)
        if match is not None and rule.accept(match[group][len(literal) :] if not group else match[group]):
            yield SecretSpan(*match.span(group), rule.kind)
            yield from _rest(match.end(), rule.kind, text)
        elif not group:
            yield from _in_pieces(place, rule, text, may_fold=path.lower().endswith(_FOLDED))
        place = text.find(literal, match.end() if match else place + len(literal))


def _matches(rule: _Free, text: str) -> Iterator[SecretSpan]:
    pattern = compiled(rule.pattern)
    group = min(pattern.groups, 1)
    for match in pattern.finditer(text):
        if rule.accept(match[group]):
            yield SecretSpan(*match.span(group), rule.kind)


# A string that goes on in the next line, as languages and shells write it.
_JOINT = re.compile(
    r"[\"'`][ \t]*(?:[+.\\&]?[ \t]*(?:(?:#|//)[^\r\n]{0,200})?\r?\n[ \t]*[+.&]?|[+.&]?)[ \t]*[bfruBFRU]{0,2}[\"'`]"
    r"|\\\r?\n[ \t]*"
)
# A text of YAML that goes on in the next line.
_FOLD = re.compile(r"[ \t]*\r?\n[ \t]+(?=[\w.=+/-]+[ \t]*(?:\r?\n|\Z))")
_FOLDED = (".yml", ".yaml")
_PIECE = re.compile(r"[\w.=+/-]{1,300}")
_MAX_PIECES, _LEAST_REST = 6, 8


def _rest(end: int, kind: str, text: str) -> Iterator[SecretSpan]:
    """Yield the further pieces of a secret whose first one is long enough to be known by itself."""
    for _ in range(_MAX_PIECES):
        joint = _JOINT.match(text, end)
        piece = None if joint is None else _PIECE.match(text, joint.end())
        if piece is None or len(piece[0]) < _LEAST_REST or not is_mixed(piece[0]):
            return
        yield SecretSpan(*piece.span(), kind)
        end = piece.end()


def _in_pieces(place: int, rule: _Led, text: str, *, may_fold: bool) -> Iterator[SecretSpan]:
    """Yield the pieces of a secret that is written over several lines."""
    pieces: list[tuple[int, int]] = []
    end = place
    while len(pieces) < _MAX_PIECES and (piece := _PIECE.match(text, end)):
        pieces.append(piece.span())
        joint = _JOINT.match(text, piece.end()) or (_FOLD.match(text, piece.end()) if may_fold else None)
        if joint is None:
            break
        end = joint.end()
    before = text[max(place - 2, 0) : place]
    whole = "".join(text[start:end] for start, end in pieces)
    match = compiled(rule.pattern).match(before + whole, len(before)) if len(pieces) > 1 else None
    if match is not None and rule.accept(match[0]):
        yield from (SecretSpan(start, end, rule.kind) for start, end in pieces)


# Most providers of today give out keys of this build: a short name, perhaps what it is for, and signs without sense, of
# both cases with digits, or many small letters or hexadecimal digits.
_BUILD = (
    r"(?<![A-Za-z0-9_~-])(?P<head>[A-Za-z][A-Za-z0-9]{1,11}(?:[_-][A-Za-z]{1,10}){0,2})[_~-]"
    r"(?:(?P<mixed>[A-Za-z0-9][A-Za-z0-9_-]{23,299})={0,2}|(?P<small>[a-z0-9]{32,128}))(?![A-Za-z0-9/+=_~-]|\.\w)"
)
_NO_KEY = (
    *(
        "sha",
        "md5",
        "blake",
        "crc",
        "chunk",
        "diff",
        "commit",
        "hash",
        "pack",
        "index",
        "test",
        "build",
        "cache",
        "uuid",
    ),
)
_RUN = re.compile(r"[A-Za-z0-9]+")


def _of_no_known_provider(text: str) -> Iterator[SecretSpan]:
    for match in compiled(_BUILD).finditer(text):
        head, value = match["head"], match["mixed"] or match["small"]
        if value.islower() and value.isalnum():
            is_key = match[0][len(head)] == "_" and head.replace("_", "").isalpha() and _is_small_key(head, value)
        else:
            is_key = is_dense(value) and is_dense(max(_RUN.findall(value), key=len), least=12)
        if is_key and not head.lower().startswith(_NO_KEY):
            yield SecretSpan(*match.span(), "token")


def _is_small_key(head: str, value: str) -> bool:
    """Return True if small letters and digits follow a name of small letters, mixed as in no word."""
    return (
        len(value) >= 32 and head.islower() and is_mixed(value) and entropy(value) >= 3.3 and not is_placeholder(value)
    )
