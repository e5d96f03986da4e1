"""Kinds of secrets as their providers describe them: how a value is made, and the names that stand before it.

Nothing here is a secret, and nothing has the shape of one: a form such as `ghp_<b62:36>` is filled from a seed when it
is measured. A kind is one of three classes:

- format: the value can be told by itself, wherever it stands;
- place: a file, a command, a header or a call says that a secret stands there, whatever it looks like;
- name: a random value that only a telling name before it gives away.
"""

from __future__ import annotations

import base64
import json
import random
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Class: TypeAlias = Literal["format", "place", "name"]

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
ALPHABETS = {
    "b62": _LOWER + _LOWER.upper() + _DIGITS,
    "b64": _LOWER + _LOWER.upper() + _DIGITS + "+/",
    "b64u": _LOWER + _LOWER.upper() + _DIGITS + "-_",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b32": _LOWER.upper() + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "hex": _DIGITS + "abcdef",
    "HEX": _DIGITS + "ABCDEF",
    "d": _DIGITS,
    "AZ09": _LOWER.upper() + _DIGITS,
    "az09": _LOWER + _DIGITS,
    "AZ": _LOWER.upper(),
    "az": _LOWER,
}
_FIELD = re.compile(r"<(?::(\w+)|(\w+):(\d+)(?:-(\d+))?)>")
_WORDS = ("river", "copper", "stone", "Winter", "Maple", "tiger", "rocket", "Harbor", "silver", "Canyon", "pepper")


@dataclass(frozen=True, slots=True)
class Instance:
    """One text with secrets in it."""

    path: str
    text: str
    values: tuple[str, ...]  # none of them may be seen afterwards
    known: str = ""  # what of them stands elsewhere in the text, or is in every such value


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of secret. `names` stand before its value; a kind of the class "place" makes whole texts instead."""

    name: str
    kind: Class
    form: str = ""
    names: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()  # (path, text); a form between "⟦" and "⟧" is a secret
    late: bool = False  # written after the rules


def fill(form: str, rng: random.Random) -> str:
    """Return a form with every field filled: `<hex:32>`, `<b62:20-30>`, `<:uuid>`, `<:password>` and so on."""
    return _FIELD.sub(lambda match: _field(match, rng), form)


def fixed(form: str) -> str:
    """Return the pieces of a form that are the same in every value, parted by line ends."""
    return "\n".join(_FIELD.split(form)[:: _FIELD.groups + 1])


def _field(match: re.Match[str], rng: random.Random) -> str:
    made, name, low, high = match.groups()
    if made:
        return _MADE[made](rng)
    n = rng.randint(int(low), int(high)) if high else int(low)
    return "".join(rng.choices(ALPHABETS[name], k=n))


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _password(rng: random.Random) -> str:
    """Letters of both cases, digits and a sign, as password managers and rules make people do."""
    n = rng.randint(9, 16)
    signs = [rng.choice(ALPHABETS["b62"]) for _ in range(n)]
    signs += [rng.choice(_LOWER), rng.choice(_LOWER.upper()), rng.choice(_DIGITS), rng.choice("!#%*+-=?@^_~.")]
    rng.shuffle(signs)
    # It begins with a letter, as no option and no variable does.
    return rng.choice(_LOWER) + "".join(signs)


def _simple(rng: random.Random) -> str:
    """A password of letters and digits only."""
    return fill("<az:1><b62:4><d:1><b62:4-8><d:1>", rng)


def _weak(rng: random.Random) -> str:
    """A word and a number."""
    return f"{rng.choice(_WORDS)}{rng.randint(10, 9999)}"


def _jwt(rng: random.Random) -> str:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")

    claims = {"sub": fill("<d:10>", rng), "name": rng.choice(_WORDS), "iat": rng.randint(10**9, 2 * 10**9)}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{fill('<b64u:43>', rng)}"


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_MADE: dict[str, Callable[[random.Random], str]] = {
    "uuid": _uuid,
    "UUID": lambda rng: _uuid(rng).upper(),
    "password": _password,
    "simple": _simple,
    "weak": _weak,
    "jwt": _jwt,
    "b64password": lambda rng: _encoded(_password(rng)),
    "b64login": lambda rng: _encoded(f"{rng.choice(_WORDS)}:{_password(rng)}"),
    "b64jwt": lambda rng: _encoded(_jwt(rng)),
    "pem": lambda rng: "\n".join(fill("<b64:64>", rng) for _ in range(6)) + "\n" + fill("<b64:30>==", rng),
    "pem1": lambda rng: "\\n".join(fill("<b64:64>", rng) for _ in range(6)) + "\\n" + fill("<b64:30>==", rng),
    "blocks": lambda rng: "\n".join(fill("<hex:80>", rng) for _ in range(5)),
    "yblocks": lambda rng: "\n".join("          " + fill("<d:80>", rng) for _ in range(4)),
    "mnemonic": lambda rng: " ".join(rng.choices(_WORDS, k=12)).lower(),
}


def _format(name: str, form: str, names: str) -> Kind:
    return Kind(name, "format", form, tuple(names.split()))


def _named(name: str, form: str, names: str) -> Kind:
    return Kind(name, "name", form, tuple(names.split()))


def place(name: str, *places: tuple[str, str], late: bool = False) -> Kind:
    """Return a kind that is known by where it stands; see `Kind.places`."""
    return Kind(name, "place", places=places, late=late)


# With a shape of their own --------------------------------------------------------------------------------------------

FORMATS = (
    _format("AWS access key id", "AKIA<b32:16>", "AWS_ACCESS_KEY_ID aws_access_key_id"),
    _format("AWS temporary key id", "ASIA<b32:16>", "AWS_ACCESS_KEY_ID accessKeyId"),
    _format("AWS session token", "IQoJb3JpZ2luX2Vj<b64:300-400>", "AWS_SESSION_TOKEN aws_session_token"),
    _format("AWS Bedrock key", "ABSKQmVkcm9ja0FQSUtleS<b64:100>=", "AWS_BEARER_TOKEN_BEDROCK bedrock_key"),
    _format("Amazon MWS token", "amzn.mws.<:uuid>", "MWS_AUTH_TOKEN mws_token"),
    _format("GitHub personal token", "ghp_<b62:36>", "GITHUB_TOKEN gh_token"),
    _format("GitHub OAuth token", "gho_<b62:36>", "GITHUB_OAUTH oauth_token"),
    _format("GitHub app token", "ghs_<b62:36>", "GH_APP_TOKEN app_token"),
    _format("GitHub refresh token", "ghr_<b62:76>", "GH_REFRESH refresh_token"),
    _format("GitHub fine-grained token", "github_pat_<b62:22>_<b62:59>", "GITHUB_PAT github_pat"),
    _format("GitLab personal token", "glpat-<b64u:20>", "GITLAB_TOKEN gitlab_token"),
    _format("GitLab runner token", "glrt-<b64u:20>", "RUNNER_TOKEN runner_token"),
    _format("GitLab trigger token", "glptt-<hex:40>", "TRIGGER_TOKEN trigger_token"),
    _format("GitLab registration token", "GR1348941<b64u:20>", "REGISTRATION_TOKEN registration_token"),
    _format("Slack bot token", "xoxb-<d:12>-<d:12>-<b62:24>", "SLACK_BOT_TOKEN slack_token"),
    _format("Slack user token", "xoxp-<d:12>-<d:12>-<d:13>-<hex:32>", "SLACK_USER_TOKEN slack_user"),
    _format("Slack app token", "xapp-1-A<AZ09:10>-<d:13>-<hex:64>", "SLACK_APP_TOKEN slack_app"),
    _format("Slack webhook", "https://hooks.slack.com/services/T<AZ09:8>/B<AZ09:8>/<b62:24>", "SLACK_URL slack_url"),
    _format("Discord bot token", "M<b62:23>.<b64u:6>.<b64u:38>", "DISCORD_TOKEN discord_token"),
    _format("Discord webhook", "https://discord.com/api/webhooks/<d:18>/<b64u:68>", "DISCORD_URL discord_url"),
    _format("Telegram bot token", "<d:10>:AA<b64u:33>", "TELEGRAM_TOKEN bot_token"),
    _format("Telegram bot address", "https://api.telegram.org/bot<d:9>:AA<b64u:33>/getMe", "BOT_URL bot_url"),
    _format("DingTalk webhook", "https://oapi.dingtalk.com/robot/send?access_token=<hex:64>", "DING_URL ding_url"),
    _format("DingTalk signing secret", "SEC<hex:64>", "DING_SECRET ding_secret"),
    _format("Feishu webhook", "https://open.feishu.cn/open-apis/bot/v2/hook/<:uuid>", "FEISHU_URL feishu_url"),
    _format("WeCom webhook", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=<:uuid>", "WECOM_URL wecom_url"),
    _format(
        "Teams webhook",
        "https://acme.webhook.office.com/webhookb2/<:uuid>@<:uuid>/IncomingWebhook/<hex:32>/<:uuid>",
        "TEAMS_URL teams_url",
    ),
    _format("Stripe secret key", "sk_live_<b62:24>", "STRIPE_KEY stripe_key"),
    _format("Stripe long key", "sk_live_51<b62:97>", "STRIPE_SECRET_KEY stripe_secret"),
    _format("Stripe restricted key", "rk_live_<b62:24>", "STRIPE_RK stripe_rk"),
    _format("Stripe webhook secret", "whsec_<b62:32>", "STRIPE_WEBHOOK webhook_secret"),
    _format("Square access token", "sq0atp-<b64u:22>", "SQUARE_TOKEN square_token"),
    _format("Square OAuth secret", "sq0csp-<b64u:43>", "SQUARE_SECRET square_secret"),
    _format("Square production token", "EAAA<b64u:60>", "SQUARE_ACCESS_TOKEN square_access"),
    _format("PayPal Braintree token", "access_token$production$<az09:16>$<hex:32>", "BRAINTREE_TOKEN braintree"),
    _format("Plaid access token", "access-production-<:uuid>", "PLAID_TOKEN plaid_token"),
    _format("Razorpay key", "rzp_live_<b62:14>", "RAZORPAY_KEY razorpay_key"),
    _format("Flutterwave key", "FLWSECK-<hex:32>-X", "FLW_SECRET flw_secret"),
    _format("Shopify access token", "shpat_<hex:32>", "SHOPIFY_TOKEN shopify_token"),
    _format("Google API key", "AIza<b64u:35>", "GOOGLE_API_KEY google_key"),
    _format("Google OAuth secret", "GOCSPX-<b64u:28>", "GOOGLE_CLIENT_SECRET google_secret"),
    _format("Google access token", "ya29.<b64u:120>", "GOOGLE_TOKEN google_token"),
    _format("Google refresh token", "1//0<b64u:98>", "GOOGLE_REFRESH google_refresh"),
    _format("OpenAI old key", "sk-<b62:20>T3BlbkFJ<b62:20>", "OPENAI_API_KEY openai_key"),
    _format("OpenAI project key", "sk-proj-<b64u:74>T3BlbkFJ<b64u:74>", "OPENAI_API_KEY openai_key"),
    _format("Anthropic key", "sk-ant-api03-<b64u:93>AA", "ANTHROPIC_API_KEY anthropic_key"),
    _format("OpenRouter key", "sk-or-v1-<hex:64>", "OPENROUTER_KEY openrouter_key"),
    _format("DeepSeek key", "sk-<hex:32>", "DEEPSEEK_KEY deepseek_key"),
    _format("Langfuse key", "sk-lf-<:uuid>", "LANGFUSE_KEY langfuse_key"),
    _format("LangSmith key", "lsv2_pt_<hex:32>_<hex:10>", "LANGCHAIN_API_KEY langsmith_key"),
    _format("Hugging Face token", "hf_<b62:34>", "HF_TOKEN hf_token"),
    _format("Groq key", "gsk_<b62:52>", "GROQ_KEY groq_key"),
    _format("Replicate token", "r8_<b62:37>", "REPLICATE_TOKEN replicate_token"),
    _format("xAI key", "xai-<b62:80>", "XAI_KEY xai_key"),
    _format("Perplexity key", "pplx-<b62:48>", "PPLX_KEY pplx_key"),
    _format("NVIDIA key", "nvapi-<b64u:64>", "NVIDIA_KEY nvidia_key"),
    _format("Pinecone key", "pcsk_<b62:6>_<b62:62>", "PINECONE_KEY pinecone_key"),
    _format("Zhipu key", "<hex:32>.<b62:16>", "ZHIPUAI_API_KEY zhipu_api_key"),
    _format("JWT", "<:jwt>", "JWT id_token"),
    _format("npm token", "npm_<b62:36>", "NPM_TOKEN npm_token"),
    _format("PyPI token", "pypi-AgEIcHlwaS5vcmc<b64u:150>", "TWINE_PASSWORD pypi_token"),
    _format("RubyGems key", "rubygems_<hex:48>", "GEM_KEY gem_key"),
    _format("NuGet key", "oy2<az09:43>", "NUGET_API_KEY nuget_key"),
    _format("crates.io token", "cio<b62:32>", "CARGO_TOKEN cargo_token"),
    _format("Clojars token", "CLOJARS_<hex:60>", "CLOJARS clojars"),
    _format("Docker Hub token", "dckr_pat_<b64u:27>", "DOCKER_PAT docker_pat"),
    _format(
        "Azure storage key",
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=<b64:86>==;EndpointSuffix=core.windows.net",
        "AZURE_STORAGE azure_storage",
    ),
    _format("Azure SAS", "https://acme.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=<b62:43>%3D", "SAS_URL sas_url"),
    _format(
        "Azure service bus",
        "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=<b64:43>=",
        "BUS bus",
    ),
    _format("Entra client secret", "<b62:3>8Q~<b64u:34>", "AZURE_CLIENT_SECRET azure_secret"),
    _format("Azure DevOps token", "<b62:76>AZDO<b62:4>", "AZDO azdo"),
    _format("Twilio key", "SK<hex:32>", "TWILIO_KEY twilio_key"),
    _format("SendGrid key", "SG.<b64u:22>.<b64u:43>", "SENDGRID_KEY sendgrid_key"),
    _format("Mailgun key", "key-<hex:32>", "MAILGUN_KEY mailgun_key"),
    _format("Mailchimp key", "<hex:32>-us21", "MAILCHIMP_KEY mailchimp_key"),
    _format("Brevo key", "xkeysib-<hex:64>-<b62:16>", "BREVO_KEY brevo_key"),
    _format("Resend key", "re_<b62:8>_<b62:24>", "RESEND_KEY resend_key"),
    _format("DigitalOcean token", "dop_v1_<hex:64>", "DO_TOKEN do_token"),
    _format("Heroku token", "HRKU-AA<b64u:58>", "HEROKU heroku"),
    _format("Netlify token", "nfp_<b62:36>", "NETLIFY netlify"),
    _format("Fly.io token", "FlyV1 fm2_<b64:200>", "FLY_API_TOKEN fly_token"),
    _format("Supabase token", "sbp_<hex:40>", "SUPABASE supabase"),
    _format("Supabase secret key", "sb_secret_<b64u:22>_<b64u:8>", "SUPABASE_SECRET supabase_secret"),
    _format("PlanetScale password", "pscale_pw_<b64u:43>", "PSCALE pscale"),
    _format("PlanetScale token", "pscale_tkn_<b64u:43>", "PSCALE_TOKEN pscale_token"),
    _format("Cloudflare origin key", "v1.0-<hex:24>-<hex:146>", "CF_ORIGIN cf_origin"),
    _format("Vault token", "hvs.<b64u:90>", "VAULT_TOKEN vault_token"),
    _format("Vault batch token", "hvb.<b64u:140>", "VAULT_BATCH vault_batch"),
    _format("Terraform Cloud token", "<b62:14>.atlasv1.<b64u:67>", "TF_TOKEN tf_token"),
    _format("Pulumi token", "pul-<hex:40>", "PULUMI_ACCESS_TOKEN pulumi"),
    _format("Doppler token", "dp.pt.<b62:43>", "DOPPLER_TOKEN doppler"),
    _format("Doppler service token", "dp.st.prd.<b62:43>", "DOPPLER_ST doppler_st"),
    _format("1Password service token", "ops_eyJ<b64:250>", "OP_TOKEN op_token"),
    _format("age key", "AGE-SECRET-KEY-1<bech:58>", "AGE age"),
    _format("Databricks token", "dapi<hex:32>", "DATABRICKS databricks"),
    _format("Atlassian token", "ATATT3xFfGF0<b64u:180>=<HEX:8>", "JIRA_TOKEN jira"),
    _format("Bitbucket app password", "ATBB<b62:32>", "BITBUCKET bitbucket"),
    _format("Linear key", "lin_api_<b62:40>", "LINEAR linear"),
    _format("Notion secret", "secret_<b62:43>", "NOTION notion"),
    _format("Notion token", "ntn_<d:11><b62:35>", "NOTION_TOKEN notion_token"),
    _format("Figma token", "figd_<b64u:40>", "FIGMA figma"),
    _format("Airtable token", "pat<b62:14>.<hex:64>", "AIRTABLE airtable"),
    _format("Postman key", "PMAK-<hex:24>-<hex:34>", "POSTMAN postman"),
    _format("HubSpot token", "pat-na1-<:uuid>", "HUBSPOT hubspot"),
    _format("Contentful token", "CFPAT-<b64u:43>", "CONTENTFUL contentful"),
    _format("Grafana service token", "glsa_<b62:32>_<hex:8>", "GRAFANA grafana"),
    _format("Grafana Cloud token", "glc_eyJ<b64:110>==", "GRAFANA_CLOUD grafana_cloud"),
    _format("New Relic user key", "NRAK-<AZ09:27>", "NEW_RELIC new_relic"),
    _format("New Relic license key", "<hex:36>NRAL", "NEW_RELIC_LICENSE nr_license"),
    _format("Sentry DSN", "https://<hex:32>:<hex:32>@o123.ingest.sentry.io/45", "SENTRY_DSN sentry"),
    _format("Sentry user token", "sntryu_<hex:64>", "SENTRY_AUTH sentry_auth"),
    _format("Sentry org token", "sntrys_eyJ<b64:120>=_<b64:43>", "SENTRY_ORG sentry_org"),
    _format("Dynatrace token", "dt0c01.<AZ09:24>.<AZ09:64>", "DYNATRACE dynatrace"),
    _format("LaunchDarkly key", "sdk-<:uuid>", "LD_SDK ld_sdk"),
    _format("Sonar token", "sqp_<hex:40>", "SONAR sonar"),
    _format("Buildkite token", "bkua_<hex:40>", "BUILDKITE buildkite"),
    _format("CircleCI token", "CCIPAT_<b62:22>_<hex:40>", "CIRCLE circle"),
    _format("JFrog key", "AKCp8<b62:68>", "JFROG jfrog"),
    _format("Okta token", "00<b64u:40>", "OKTA_TOKEN okta_token"),
    _format("Alibaba key id", "LTAI5t<b62:18>", "ALIBABA_KEY_ID alibaba_id"),
    _format("Tencent key id", "AKID<b62:32>", "TENCENT_ID tencent_id"),
    _format("Volcengine key id", "AKLT<b62:43>", "VOLC_ID volc_id"),
    _format("Baidu key", "bce-v3/ALTAK-<b62:21>/<hex:40>", "QIANFAN qianfan"),
    _format("Yandex key", "AQVN<b64u:36>", "YANDEX yandex"),
    _format("Facebook token", "EAA<b62:100-150>", "FB_TOKEN fb_token"),
    _format("Twitter bearer", "AAAAAAAAAAAAAAAAAAAAA<b62:30>%3D<b62:50>", "TWITTER_BEARER twitter"),
    _format("Dropbox token", "sl.<b64u:136>", "DROPBOX dropbox"),
    _format("Mapbox secret token", "sk.eyJ<b64u:80>.<b64u:22>", "MAPBOX mapbox"),
    _format("Bitcoin WIF", "5K<b58:49>", "WIF wif"),
    _format("Fernet token", "gAAAAAB<b64u:113>==", "FERNET_TOKEN fernet"),
    _format("bcrypt hash", "$2y$10$<b62:53>", "HASH hash"),
    _format("crypt hash", "$6$<b62:16>$<b62:86>", "ROOT_HASH root_hash"),
    _format("address with password", "postgres://app:<:simple>@db.internal:5432/main", "DATABASE_URL database_url"),
    _format("Mongo address", "mongodb+srv://root:<:simple>@c0.abcde.mongodb.net/x", "MONGO_URI mongo_uri"),
    _format("Redis address", "redis://:<:simple>@cache.internal:6379/0", "REDIS_URL redis_url"),
)

# Random, and known by a name only -------------------------------------------------------------------------------------

NAMES = (
    _named("AWS secret key", "<b64:40>", "AWS_SECRET_ACCESS_KEY aws_secret_key secretAccessKey AWS_SK"),
    _named("Datadog key", "<hex:32>", "DD_API_KEY datadog_api_key"),
    _named("Datadog app key", "<hex:40>", "DD_APP_KEY datadog_app_key"),
    _named("Heroku key", "<:uuid>", "HEROKU_API_KEY heroku_api_key"),
    _named("Cloudflare token", "<b64u:40>", "CLOUDFLARE_API_TOKEN cf_api_token"),
    _named("Cloudflare global key", "<hex:37>", "CLOUDFLARE_API_KEY cf_auth_key"),
    _named("Fastly key", "<b64u:32>", "FASTLY_API_TOKEN fastly_key"),
    _named("Twilio auth token", "<hex:32>", "TWILIO_AUTH_TOKEN twilio_token"),
    _named("Auth0 secret", "<b64u:64>", "AUTH0_CLIENT_SECRET auth0_secret"),
    _named("Okta client secret", "<b62:40>", "OKTA_CLIENT_SECRET okta_secret"),
    _named("Alibaba secret", "<b62:30>", "ALIBABA_CLOUD_ACCESS_KEY_SECRET accessKeySecret"),
    _named("Tencent secret", "<b62:32>", "TENCENTCLOUD_SECRET_KEY secretKey"),
    _named("Huawei secret", "<b62:40>", "HW_SECRET_KEY huawei_sk"),
    _named("Baidu secret", "<hex:32>", "BAIDU_SK baidu_secret_key"),
    _named("WeChat app secret", "<hex:32>", "WX_APP_SECRET appsecret AppSecret"),
    _named("app key", "<az09:24>", "appkey appKey APP_KEY"),
    _named("Cohere key", "<b62:40>", "COHERE_API_KEY CO_API_KEY"),
    _named("Mistral key", "<b62:32>", "MISTRAL_API_KEY mistral_key"),
    _named("Together key", "<hex:64>", "TOGETHER_API_KEY together_key"),
    _named("Codecov token", "<:uuid>", "CODECOV_TOKEN codecov_token"),
    _named("Snyk token", "<:uuid>", "SNYK_TOKEN snyk_token"),
    _named("Postmark token", "<:uuid>", "POSTMARK_SERVER_TOKEN postmark_token"),
    _named("Algolia key", "<hex:32>", "ALGOLIA_ADMIN_KEY algolia_admin_key"),
    _named("Trello token", "<hex:64>", "TRELLO_TOKEN trello_token"),
    _named("PagerDuty key", "<b64u:20>", "PAGERDUTY_API_KEY pagerduty_key"),
    _named("session secret", "<hex:64>", "SESSION_SECRET session_secret cookieSecret"),
    _named("Django secret key", "<b62:50>", "SECRET_KEY DJANGO_SECRET_KEY"),
    _named("Rails secret key base", "<hex:128>", "SECRET_KEY_BASE secret_key_base"),
    _named("Laravel key", "base64:<b64:43>=", "APP_KEY LARAVEL_APP_KEY"),
    _named("JWT secret", "<b62:32>", "JWT_SECRET jwtSecret jwt_signing_key"),
    _named("encryption key", "<b64:43>=", "ENCRYPTION_KEY encryption_key aesKey"),
    _named("Fernet key", "<b64u:43>=", "FERNET_KEY fernet_key AIRFLOW__CORE__FERNET_KEY"),
    _named("client secret", "<b62:36>", "CLIENT_SECRET client_secret clientSecret oauth_consumer_secret"),
    _named("webhook secret", "<hex:40>", "WEBHOOK_SECRET webhook_secret"),
    _named("private token", "<b64u:24>", "PRIVATE_TOKEN private_token"),
    _named("access token", "<b62:40>", "ACCESS_TOKEN access_token accessToken"),
    _named("refresh token", "<b64u:64>", "REFRESH_TOKEN refreshToken"),
    _named("Ethereum private key", "0x<hex:64>", "PRIVATE_KEY DEPLOYER_PRIVATE_KEY privateKey"),
    _named("Docker password", "<:uuid>", "DOCKER_PASSWORD docker_password"),
    _named("database password", "<:password>", "DB_PASSWORD db_password MYSQL_ROOT_PASSWORD dbPassword"),
    _named("simple password", "<:simple>", "PASSWORD password PGPASSWORD smtp_pass"),
    _named("passphrase", "<:password>", "PASSPHRASE passphrase key_passphrase"),
    _named("passwd", "<:password>", "passwd userPasswd ROOT_PWD pwd"),
    _named("password in Chinese", "<:password>", "密码 数据库密码 口令"),
    _named("key in Chinese", "<b62:32>", "密钥 访问令牌"),
    _named("password in Japanese", "<:password>", "パスワード"),
    _named("password in Korean", "<:password>", "비밀번호"),
    _named("password in Russian", "<:password>", "пароль"),
    _named("password in Spanish", "<:password>", "contraseña CONTRASENA"),
    _named("password in Portuguese", "<:password>", "senha SENHA_BANCO"),
    _named("password in German", "<:password>", "passwort KENNWORT"),
    _named("password in French", "<:password>", "mot_de_passe motDePasse"),
    _named("password in Polish", "<:password>", "hasło"),
    _named("credential", "<b62:32>", "CREDENTIAL db_credential"),
    _named("salt", "<b62:40>", "PASSWORD_SALT hash_salt"),
    _named("license key", "<AZ09:5>-<AZ09:5>-<AZ09:5>-<AZ09:5>-<AZ09:5>", "LICENSE_KEY license_key"),
    _named("SSH password", "<:simple>", "SSH_PASS ssh_password"),
    _named("basic login", "<:b64login>", "BASIC_AUTH basic_auth"),
)
