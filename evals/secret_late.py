"""The parts that were held out: kinds and surroundings that were written after the rules.

The first two parts showed what was missing, and rules were added then; their first figures are in
docs/benchmarks-secrets.md. The third part was written after that, and nothing was changed for it.
"""

from __future__ import annotations

from dataclasses import replace

from evals.secret_kinds import Kind, place
from evals.secret_surroundings import Surrounding


def _late(name: str, kind: str, form: str, names: str) -> Kind:
    return Kind(name, "format" if kind == "format" else "name", form, tuple(names.split()), late=True)


LATE_FORMATS = (
    _late("Adobe client secret", "format", "p8e-<az09:32>", "ADOBE adobe"),
    _late("Authress key", "format", "sc_<az09:12>.<az09:5>.acc_<az09:12>.<b64:60>", "AUTHRESS authress"),
    _late("ClickHouse Cloud key", "format", "4b1d<b62:38>", "CLICKHOUSE clickhouse"),
    _late("Defined Networking key", "format", "dnkey-<AZ09:26>-<AZ09:52>", "DN dn"),
    _late("Duffel token", "format", "duffel_live_<b64u:43>", "DUFFEL duffel"),
    _late("EasyPost key", "format", "EZAK<hex:22><b62:32>", "EASYPOST easypost"),
    _late("Frame.io token", "format", "fio-u-<b64u:64>", "FRAMEIO frameio"),
    _late("Lob key", "format", "live_<hex:35>", "LOB lob"),
    _late("MaxMind key", "format", "<b62:6>_<b62:29>_mmk", "MAXMIND maxmind"),
    _late("OpenShift token", "format", "sha256~<b64u:43>", "OPENSHIFT openshift"),
    _late("Octopus Deploy key", "format", "API-<AZ09:26>", "OCTOPUS octopus"),
    _late("Prefect key", "format", "pnu_<b62:36>", "PREFECT prefect"),
    _late("ReadMe key", "format", "rdme_<az09:70>", "README_KEY readme"),
    _late("Scalingo token", "format", "tk-us-<b64u:48>", "SCALINGO scalingo"),
    _late("Mailgun signing key", "format", "<hex:32>-<hex:8>-<hex:8>", "MAILGUN_SIGN mailgun_sign"),
    _late("Shippo token", "format", "shippo_live_<hex:40>", "SHIPPO shippo"),
    _late("Sourcegraph token", "format", "sgp_<hex:40>", "SG sg"),
    _late("Infracost key", "format", "ico-<b62:32>", "INFRACOST infracost"),
    _late("Harness token", "format", "pat.<b62:22>.<hex:24>.<b62:20>", "HARNESS harness"),
    _late("42 secret", "format", "s-s4t2ud-<hex:64>", "INTRA intra"),
    _late("Typeform token", "format", "tfp_<b62:44>_<b62:14>", "TYPEFORM typeform"),
    _late("WakaTime key", "format", "waka_<:uuid>", "WAKA waka"),
    _late("ElevenLabs key", "format", "sk_<hex:48>", "ELEVEN eleven"),
    _late("Voyage key", "format", "pa-<b64u:43>", "VOYAGE voyage"),
    _late("Deno Deploy token", "format", "ddp_<b62:36>", "DENO deno"),
    _late("Neon key", "format", "napi_<az09:64>", "NEON neon"),
    _late("Tailscale key", "format", "tskey-auth-<b62:16>-<b62:32>", "TAILSCALE tailscale"),
    _late("Stytch secret", "format", "secret-live-<b64u:36>=", "STYTCH stytch"),
    _late("Render key", "format", "rnd_<b62:32>", "RENDER render"),
    _late("Mollie key", "format", "live_<b62:30>", "MOLLIE mollie"),
    _late("Fireworks key", "format", "fw_<b62:24>", "FIREWORKS fireworks"),
    _late("Apify token", "format", "apify_api_<b62:36>", "APIFY apify"),
    _late("Weaviate address", "format", "amqps://svc:<:simple>@mq.internal/vhost", "BROKER_URL broker_url"),
)
LATE_NAMES = (
    _late("Weights & Biases key", "name", "<hex:40>", "WANDB_API_KEY wandb_key"),
    _late("KuCoin secret", "name", "<:uuid>", "KUCOIN_SECRET_KEY kucoin_secret"),
    _late("LinkedIn secret", "name", "<az09:16>", "LINKEDIN_CLIENT_SECRET linkedinSecret"),
    _late("Mattermost token", "name", "<az09:26>", "MATTERMOST_TOKEN mattermostToken"),
    _late("RapidAPI key", "name", "<b64u:50>", "RAPIDAPI_KEY rapidApiKey"),
    _late("Plaid secret", "name", "<hex:30>", "PLAID_SECRET plaid_secret"),
    _late("Finnhub token", "name", "<az09:20>", "FINNHUB_TOKEN finnhub_api_key"),
    _late("Dropbox app secret", "name", "<az09:15>", "DROPBOX_APP_SECRET dropbox_secret"),
    _late("Drone token", "name", "<b62:32>", "DRONE_TOKEN droneToken"),
    _late("vault pass", "name", "<:password>", "VAULT_PASS vault_pass adminPwd"),
    _late("password in Turkish", "name", "<:password>", "şifre kullanici_sifre"),
    _late("password in Vietnamese", "name", "<:password>", "mat_khau"),
    _late("password in Italian", "name", "<:password>", "parola_chiave"),
    _late("password in Greek", "name", "<:password>", "κωδικός"),
)
LATE_PLACES = tuple(
    replace(kind, late=True)
    for kind in (
        place("NuGet source", ("nuget.config", '<add key="ClearTextPassword" value="⟦<:password>⟧" />\n')),
        place("PowerShell", ("a.ps1", 'ConvertTo-SecureString "⟦<:password>⟧" -AsPlainText -Force\n')),
        place(
            "chpasswd",
            ("u.sh", 'echo "root:⟦<:password>⟧" | chpasswd\n'),
            ("u.sh", "net user bob ⟦<:password>⟧ /add\n"),
        ),
        place("mongo", ("m.sh", "mongosh -u root -p ⟦<:simple>⟧ --authenticationDatabase admin\n")),
        place("clone", ("g.sh", "git clone https://oauth2:⟦<b62:40>⟧@git.acme.io/a/b.git\n")),
        place("svn", ("s.sh", "svn checkout --username me --password ⟦<:weak>⟧ https://a.io\n")),
        place("aws configure", ("c.sh", "aws configure set aws_secret_access_key ⟦<b64:40>⟧\n")),
        place("kubectl", ("k.sh", "kubectl create secret generic a --from-literal=password=⟦<:weak>⟧\n")),
        place("helm", ("h.sh", "helm install a b --set auth.password=⟦<:password>⟧ --set replicas=1\n")),
        place("docker run", ("r.sh", "docker run -d -e POSTGRES_PASSWORD=⟦<:simple>⟧ -p 1:1 postgres\n")),
        place("systemd", ("a.service", '[Service]\nEnvironment="DB_PASSWORD=⟦<:password>⟧" "PORT=1"\n')),
        place("cloud-init", ("user-data", "#cloud-config\npassword: ⟦<:password>⟧\nchpasswd: {expire: false}\n")),
        place("nginx", ("n.conf", 'proxy_set_header Authorization "Basic ⟦<:b64login>⟧";\n')),
        place("database.yml", ("config/database.yml", "production:\n  adapter: mysql2\n  password: ⟦<:simple>⟧\n")),
        place("Postman collection", ("c.json", '{"key": "token", "value": "⟦<b62:32>⟧", "type": "string"}\n')),
        place("credentials as CSV", ("keys.csv", "Access key ID,Secret access key\nAKIA<b32:16>,⟦<b64:40>⟧\n")),
        place("Elixir", ("config.exs", 'config :app, App.Endpoint, secret_key_base: "⟦<b64:64>⟧"\n')),
        place("Nix", ("a.nix", 'users.users.bob.password = "⟦<:password>⟧";\n')),
        place("log line", ("a.log", "DEBUG login user=bob password=⟦<:password>⟧ ok=true\n")),
        place(
            "JavaScript client",
            ("a.js", "createConnection({ host: 'h', user: 'u', password: '⟦<:password>⟧' })\n"),
        ),
        place("signing call", ("a.js", "jwt.sign(payload, '⟦<b62:32>⟧', { expiresIn: '1h' })\n")),
        place("HMAC call", ("a.py", 'hmac.new(b"⟦<b62:32>⟧", data, "sha256")\n')),
        place("form field", ("a.html", '<input type="hidden" name="api_key" value="⟦<hex:32>⟧">\n')),
        place("Ruby on Rails secrets", ("config/secrets.yml", "production:\n  secret_key_base: ⟦<hex:128>⟧\n")),
        place("tnsnames", ("a.sql", "CONNECT scott/⟦<:simple>⟧@orcl\n")),
        place("expect", ("a.exp", 'send "⟦<:password>⟧\\r"\n')),
    )
)
LATE_SURROUNDINGS = tuple(
    Surrounding(title, path, text, late=True)
    for title, path, text in (
        ("Kotlin", "A.kt", 'private const val {name} = "{value}"\n'),
        ("Rust", "a.rs", 'const {name}: &str = "{value}";\n'),
        ("Swift", "A.swift", 'let {name}: String = "{value}"\n'),
        ("PowerShell", "a.ps1", '$env:{name} = "{value}"\n'),
        ("Makefile", "Makefile", "{name} := {value}\nall:\n"),
        ("R", "a.R", '{name} <- "{value}"\n'),
        ("C", "a.h", '#define {name} "{value}"\n'),
        ("C++", "a.cc", 'const char* {name} = "{value}";\n'),
        ("Perl", "a.pl", "my ${name} = '{value}';\n"),
        ("Jenkinsfile", "Jenkinsfile", "environment {{\n  {name} = '{value}'\n}}\n"),
        ("Compose list", "docker-compose.yml", "environment:\n  - {name}={value}\n"),
        ("docker run", "a.sh", "docker run -e {name}={value} image\n"),
        ("diff", "a.diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{name}=old\n+{name}={value}\n"),
        ("YAML, folded", "a.yaml", "{name}: >-\n  {value}\n"),
        ("cmd", "a.bat", "set {name}={value}\r\n"),
        ("JSON in a string", "a.py", 'body = "{{\\"{name}\\": \\"{value}\\"}}"\n'),
        ("table in Markdown", "README.md", "| {name} | {value} |\n"),
        ("Chinese prose", "说明.md", "令牌是{value}。\n"),
        ("path of an address", "a.md", "https://api.acme.io/{value}/items\n"),
        ("HTML", "a.html", "<code>{value}</code>\n"),
        ("after a line end in a string", "a.py", 'x = "first\\n{value}\\nlast"\n'),
        ("in brackets", "a.txt", "[{value}] (done)\n"),
    )
)

SECOND_FORMATS = (
    _late("Inngest signing key", "format", "signkey-prod-<hex:64>", "INNGEST inngest"),
    _late("Trigger.dev key", "format", "tr_prod_<b62:20>", "TRIGGER trigger"),
    _late("Cloudinary address", "format", "cloudinary://<d:15>:<b64u:27>@acme", "CLOUDINARY_URL cloudinary"),
    _late("PostHog key", "format", "phx_<b62:43>", "POSTHOG posthog"),
    _late("Polar token", "format", "polar_oat_<b62:43>", "POLAR polar"),
    _late("Val Town token", "format", "vtwn_<b62:27>", "VALTOWN valtown"),
    _late("E2B key", "format", "e2b_<hex:40>", "E2B e2b"),
    _late("Browserbase key", "format", "bb_live_<b64u:27>", "BROWSERBASE browserbase"),
    _late("Axiom token", "format", "xaat-<:uuid>", "AXIOM axiom"),
    _late("Statsig secret", "format", "secret-<b62:43>", "STATSIG statsig"),
    _late("Novu key", "format", "nv-<hex:32>", "NOVU novu"),
    _late("Aiven token", "format", "aivenv1<b64:120>==", "AIVEN aiven"),
)
SECOND_NAMES = (
    _late("Loops key", "name", "<hex:32>", "LOOPS_API_KEY loopsApiKey"),
    _late("Nango secret", "name", "<:uuid>", "NANGO_SECRET_KEY nangoSecret"),
    _late("Zendesk token", "name", "<b62:40>", "ZENDESK_API_TOKEN zendesk_token"),
    _late("Unsplash key", "name", "<b64u:43>", "UNSPLASH_ACCESS_KEY unsplashAccessKey"),
    _late("admin password", "name", "<:password>", "ADMIN_PASSWORD adminPassword"),
    _late("mail password", "name", "<:simple>", "MAIL_PASS mail.smtp.password"),
)
SECOND_SURROUNDINGS = tuple(
    Surrounding(title, path, text, late=True)
    for title, path, text in (
        ("Haskell", "A.hs", '{name} :: String\n{name} = "{value}"\n'),
        ("Erlang", "a.config", '[{{app, [{{{name}, "{value}"}}]}}].\n'),
        ("Clojure", "a.edn", '{{:{name} "{value}" :port 1}}\n'),
        ("Groovy", "a.groovy", "def conf = [{name}: '{value}', port: 1]\n"),
        ("Visual Basic", "A.vb", 'Dim {name} As String = "{value}"\n'),
        ("Objective-C", "A.m", 'static NSString *{name} = @"{value}";\n'),
        ("Dart", "a.dart", "final {name} = '{value}';\n"),
        ("subscript", "a.py", 'os.environ["{name}"] = "{value}"\n'),
        ("setter by name", "a.py", 'config.set("app", "{name}", "{value}")\n'),
        ("comment", "a.c", "// {name}: {value}\n"),
        ("Helm values", "values.yaml", "env:\n  - name: {name}\n    value: {value}\n"),
        ("quotation in mail", "a.txt", "> {value}\n"),
        ("end of a sentence", "a.md", "The value is {value}.\n"),
    )
)

THIRD_FORMATS = (
    _late("Modal token", "format", "as-<b62:22>", "MODAL modal"),
    _late("RunPod key", "format", "rpa_<b62:43>", "RUNPOD runpod"),
    _late("ngrok token", "format", "2<b62:26>_<b62:21>", "NGROK ngrok"),
    _late("Bitwarden token", "format", "0.<:uuid>.<b62:30>:<b64:22>==", "BWS bws"),
    _late("Courier key", "format", "pk_prod_<AZ09:28>", "COURIER courier"),
    _late("Paddle key", "format", "pdl_live_apikey_<az09:26>_<b62:22>_<b62:3>", "PADDLE paddle"),
    _late("Honeycomb key", "format", "hcaik_<az09:58>", "HONEY honey"),
    _late("Liveblocks key", "format", "sk_prod_<b64u:64>", "LIVEBLOCKS liveblocks"),
    _late("Unkey key", "format", "unkey_<b62:22>", "UNKEY unkey"),
    _late("Cal.com key", "format", "cal_live_<hex:32>", "CAL cal"),
    _late("Flagsmith key", "format", "ser.<b62:22>", "FLAGSMITH flagsmith"),
    _late("ConfigCat key", "format", "configcat-sdk-1/<b62:22>/<b62:22>", "CONFIGCAT configcat"),
)
