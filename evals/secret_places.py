"""Secrets that are known by where they stand: files, commands, headers, calls. Forms as in `evals.secret_kinds`."""

from __future__ import annotations

from evals.secret_kinds import place

PLACES = (
    place(
        "private key RSA",
        ("id.pem", "-----BEGIN RSA PRIVATE KEY-----\n⟦<:pem>⟧\n-----END RSA PRIVATE KEY-----\n"),
        ("deploy.py", 'KEY = """-----BEGIN RSA PRIVATE KEY-----\n⟦<:pem>⟧\n-----END RSA PRIVATE KEY-----\n"""\n'),
        (
            "sa.json",
            '{\n  "private_key": "-----BEGIN PRIVATE KEY-----\\n⟦<:pem1>⟧\\n-----END PRIVATE KEY-----\\n"\n}\n',
        ),
    ),
    place(
        "private key OpenSSH",
        (
            "id_ed25519",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ"
            "AAAAAAAAABAAAAMwAA\n⟦<:pem>⟧\n-----END OPENSSH PRIVATE KEY-----\n",
        ),
    ),
    place(
        "private key PGP",
        (
            "key.asc",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n⟦<:pem>⟧\n=<b64:4>\n"
            "-----END PGP PRIVATE KEY BLOCK-----\n",
        ),
    ),
    place(
        "private key PuTTY",
        (
            "key.ppk",
            "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: imported\n"
            "Public-Lines: 2\n<b64:64>\n<b64:64>\nPrivate-Lines: 7\n⟦<:pem>⟧\nPrivate-MAC: <hex:64>\n",
        ),
    ),
    place(
        "private key JWK",
        ("jwk.json", '{"kty":"EC","crv":"P-256","x":"<b64u:43>","y":"<b64u:43>","d":"⟦<b64u:43>⟧"}\n'),
        (
            "jwks.json",
            '{\n  "kty": "RSA",\n  "e": "AQAB",\n  "n": "<b64u:342>",\n  "d": "⟦<b64u:342>⟧",\n'
            '  "p": "⟦<b64u:171>⟧"\n}\n',
        ),
    ),
    place(
        "WireGuard",
        (
            "wg0.conf",
            "[Interface]\nAddress = 10.0.0.2/32\nPrivateKey = ⟦<b64:43>=⟧\n\n[Peer]\nPublicKey = <b64:43>=\n"
            "PresharedKey = ⟦<b64:43>=⟧\nEndpoint = vpn.acme.io:51820\n",
        ),
    ),
    place(
        "netrc",
        (".netrc", "machine api.acme.io\n  login deploy\n  password ⟦<:password>⟧\n"),
        ("ci/.netrc", "machine github.com login bot password ⟦<b62:40>⟧\n"),
        ("_netrc", "default login me password ⟦<:weak>⟧\n"),
    ),
    place("pgpass", (".pgpass", "db.internal:5432:main:app:⟦<:password>⟧\nlocalhost:*:*:postgres:⟦<:weak>⟧\n")),
    place("htpasswd", (".htpasswd", "admin:⟦$apr1$<b62:8>$<b62:22>⟧\nbob:⟦{SHA}<b64:27>=⟧\n")),
    place("shadow", ("rootfs/etc/shadow", "root:⟦$6$<b62:16>$<b62:86>⟧:19000:0:99999:7:::\n")),
    place("git credentials", (".git-credentials", "https://bot:⟦<b62:32>⟧@git.acme.io\n")),
    place(
        "env file",
        (
            ".env",
            "PORT=8080\nDB_PASSWORD=⟦<:weak>⟧\nANYTHING=⟦<az:9>⟧\nexport QUOTED='⟦<words9>⟧'\n".replace(
                "<words9>", "<b62:9>"
            ),
        ),
        (".env.local", 'HOST_CODE="⟦<az:7>⟧"\n'),
        ("config/prod.env", "A_B=⟦<d:7>⟧\n"),
        (".envrc", "export FOO=⟦<az:8>⟧\n"),
    ),
    place(
        "npmrc",
        (".npmrc", "//registry.npmjs.org/:_authToken=⟦<:uuid>⟧\n"),
        (".npmrc", "_auth=⟦<:b64login>⟧\nemail=a@b.io\n"),
        (".npmrc", "//npm.acme.io/:_password=⟦<:b64password>⟧\n"),
        (".yarnrc.yml", 'npmAuthToken: "⟦<:uuid>⟧"\n'),
    ),
    place(
        "pip.conf",
        ("pip.conf", "[global]\nindex-url = https://build:⟦<:simple>⟧@pypi.acme.io/simple\n"),
        (".pypirc", "[pypi]\nusername = me\npassword = ⟦<:password>⟧\n"),
    ),
    place(
        "docker config",
        (
            ".docker/config.json",
            '{\n\t"auths": {\n\t\t"https://index.docker.io/v1/": {\n\t\t\t"auth": "⟦<:b64login>⟧"\n\t\t}\n\t}\n}\n',
        ),
        (
            ".dockerconfigjson",
            '{"auths":{"ghcr.io":{"username":"bot","password":"⟦<:simple>⟧","auth":"⟦<:b64login>⟧"}}}\n',
        ),
    ),
    place(
        "kubeconfig",
        (
            "kubeconfig",
            "users:\n- name: admin\n  user:\n    client-certificate-data: LS0t<b64:60>\n"
            "    client-key-data: ⟦LS0tLS1CRUdJTi<b64:200>=⟧\n",
        ),
        (".kube/config", "users:\n- name: ci\n  user:\n    token: ⟦<b64u:60>⟧\n"),
    ),
    place(
        "Kubernetes secret",
        (
            "secret.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n"
            "  username: ⟦<:b64login>⟧\n  host: ⟦<:b64password>⟧\n",
        ),
        ("k8s/s.yml", 'kind: Secret\napiVersion: v1\nstringData:\n  anything: ⟦<:password>⟧\n  other: "⟦<:weak>⟧"\n'),
        ("sealed.json", '{"kind": "Secret", "data": {"db": "⟦<:b64login>⟧"}}\n'),
    ),
    place(
        "Kubernetes env",
        (
            "deploy.yaml",
            "        env:\n        - name: DB_PASSWORD\n          value: ⟦<:password>⟧\n"
            '        - name: API_KEY\n          value: "⟦<b62:32>⟧"\n',
        ),
        ("task.json", '{"environment": [{"name": "API_TOKEN", "value": "⟦<b62:40>⟧"}]}\n'),
    ),
    place(
        "Terraform variable",
        ("main.tf", 'variable "db_password" {\n  type    = string\n  default = "⟦<:password>⟧"\n}\n'),
        (
            "vars.tf",
            'variable "api_token" {\n  description = "Token of the API"\n  type        = string\n'
            '  default     = "⟦<b62:32>⟧"\n}\n',
        ),
    ),
    place(
        "Terraform state",
        (
            "terraform.tfstate",
            '{"outputs": {"db_password": {"sensitive": true, "type": "string", "value": "⟦<:simple>⟧"}}}\n',
        ),
        (
            "prod.tfstate",
            '      "attributes": {\n        "password": "⟦<:password>⟧",\n        "secret": "⟦<b64:40>⟧"\n      }\n',
        ),
        ("terraform.tfvars", 'db_password = "⟦<:password>⟧"\n'),
    ),
    place(
        "Ansible vault",
        ("vault.yml", "$ANSIBLE_VAULT;1.1;AES256\n⟦<:blocks>⟧\n"),
        ("group_vars/all.yml", "db_password: !vault |\n          $ANSIBLE_VAULT;1.1;AES256\n⟦<:yblocks>⟧\nnext: 1\n"),
    ),
    place(
        "Ansible variable",
        ("hosts.ini", "web1 ansible_user=root ansible_password=⟦<:password>⟧\n"),
        ("hosts.yml", "ansible_become_pass: ⟦<:password>⟧\n"),
    ),
    place(
        "Maven settings",
        (
            "settings.xml",
            "<server>\n  <id>nexus</id>\n  <username>ci</username>\n  <password>⟦<:password>⟧</password>\n</server>\n",
        ),
    ),
    place(
        "ASP.NET connection",
        (
            "appsettings.json",
            '{"ConnectionStrings": {"Default": "Server=db;Database=a;User Id=sa;Password=⟦<:password>⟧;"}}\n',
        ),
        ("web.config", '<add name="Main" connectionString="Data Source=db;User ID=sa;Pwd=⟦<:simple>⟧" />\n'),
    ),
    place(
        "ASP.NET machine key",
        ("web.config", '<machineKey validationKey="⟦<HEX:128>⟧" decryptionKey="⟦<HEX:64>⟧" validation="SHA1" />\n'),
    ),
    place(
        "JDBC address",
        ("app.properties", "url=jdbc:mysql://db:3306/a?user=app&password=⟦<:simple>⟧&useSSL=false\n"),
        ("Db.java", 'String u = "jdbc:sqlserver://db;user=sa;password=⟦<:simple>⟧;";\n'),
        ("o.properties", "db.url=jdbc:oracle:thin:scott/⟦<:simple>⟧@db:1521:XE\n"),
    ),
    place("ODBC string", ("odbc.py", 'c = "DRIVER={ODBC Driver 17};SERVER=db;UID=sa;PWD=⟦<:password>⟧"\n')),
    place("libpq string", ("pg.go", 'dsn := "host=db user=app password=⟦<:simple>⟧ dbname=main sslmode=disable"\n')),
    place("MySQL DSN", ("my.go", 'db, err := sql.Open("mysql", "app:⟦<:simple>⟧@tcp(db:3306)/main")\n')),
    place(
        "LDAP bind", ("ldap.conf", "bindpw ⟦<:password>⟧\n"), ("sssd.conf", "ldap_default_authtok = ⟦<:password>⟧\n")
    ),
    place("my.cnf", (".my.cnf", "[client]\nuser=root\npassword=⟦<:weak>⟧\n")),
    place(
        "curl -u",
        ("get.sh", "curl -u admin:⟦<:password>⟧ https://api.acme.io/v1\n"),
        ("get.sh", "curl -s --user 'me:⟦<:simple>⟧' -X POST https://a.io\n"),
        ("README.md", "```\ncurl -XGET -u elastic:⟦<:weak>⟧ localhost:9200\n```\n"),
    ),
    place(
        "curl header",
        ("a.sh", 'curl -H "X-Auth-Key: ⟦<hex:37>⟧" https://api.cloudflare.com\n'),
        ("a.md", "curl -H 'Authorization: Bearer ⟦<b62:40>⟧' https://a.io\n"),
        ("b.sh", 'curl --header "PRIVATE-TOKEN: ⟦<b64u:20>⟧" https://g.io\n'),
    ),
    place(
        "wget password",
        ("d.sh", "wget --user=me --password=⟦<:weak>⟧ https://a.io/f\n"),
        ("d.sh", "wget --http-password '⟦<:password>⟧' https://a\n"),
    ),
    place(
        "mysql -p",
        ("dump.sh", "mysqldump -uroot -p⟦<:weak>⟧ main > a.sql\n"),
        ("x.sh", "mysql -h db -u app -p'⟦<:password>⟧' main\n"),
        ("Dockerfile", "RUN mysql --user=root --password=⟦<:weak>⟧ -e 'select 1'\n"),
    ),
    place(
        "sshpass",
        ("push.sh", "sshpass -p ⟦<:weak>⟧ scp a root@h:/\n"),
        ("push.sh", "sshpass -p '⟦<:password>⟧' ssh root@10.0.0.1\n"),
    ),
    place(
        "PGPASSWORD",
        ("q.sh", "PGPASSWORD=⟦<:weak>⟧ psql -h db -U app\n"),
        ("q.sh", 'export MYSQL_PWD="⟦<:password>⟧"\n'),
    ),
    place(
        "redis-cli",
        ("r.sh", "redis-cli -h cache -a ⟦<:simple>⟧ ping\n"),
        ("redis.conf", "requirepass ⟦<:password>⟧\nmasterauth ⟦<:simple>⟧\n"),
    ),
    place(
        "docker login",
        ("ci.sh", "docker login -u bot -p ⟦<:password>⟧ registry.acme.io\n"),
        ("ci.sh", "echo ⟦<:simple>⟧ | docker login --password-stdin\n"),
    ),
    place(
        "openssl",
        ("e.sh", "openssl enc -aes-256-cbc -pass pass:⟦<:simple>⟧ -in a -out b\n"),
        ("e.sh", "openssl rsa -passin pass:⟦<:password>⟧ -in k\n"),
    ),
    place(
        "keytool",
        ("k.sh", "keytool -genkey -storepass ⟦<:weak>⟧ -keypass ⟦<:weak>⟧ -alias a\n"),
        ("build.gradle", "storePassword \"⟦<:password>⟧\"\nkeyPassword '⟦<:simple>⟧'\n"),
    ),
    place("archive password", ("z.sh", "zip -P ⟦<:simple>⟧ a.zip b\n7z a -p⟦<:simple>⟧ a.7z b\n")),
    place("gpg passphrase", ("g.sh", 'gpg --batch --passphrase "⟦<:password>⟧" -d a.gpg\n')),
    place(
        "service login",
        ("az.sh", "az login --service-principal -u <:uuid> -p ⟦<b64u:34>⟧ --tenant <:uuid>\n"),
        ("h.ps1", "net use Z: \\\\srv\\s ⟦<:password>⟧ /user:acme\\bob\n"),
        ("l.sh", "ldapsearch -x -D cn=admin -w ⟦<:password>⟧ -b dc=acme\n"),
    ),
    place(
        "Authorization header",
        ("c.http", "GET /v1 HTTP/1.1\nAuthorization: Bearer ⟦<b62:40>⟧\n"),
        ("c.py", 'headers = {"Authorization": "Basic ⟦<:b64login>⟧"}\n'),
        ("c.js", "headers: { 'Authorization': 'Token ⟦<hex:40>⟧' }\n"),
    ),
    place(
        "key header",
        ("c.http", "X-Auth-Key: ⟦<hex:37>⟧\n"),
        ("c.py", 'headers = {"X-API-Key": "⟦<b62:32>⟧"}\n'),
        ("c.rb", '"X-Auth-Token" => "⟦<b62:32>⟧"\n'),
        ("c.yml", "  Ocp-Apim-Subscription-Key: ⟦<hex:32>⟧\n"),
    ),
    place(
        "session cookie",
        ("c.http", "Cookie: sessionid=⟦<az09:32>⟧; theme=dark\n"),
        ("r.txt", "Set-Cookie: PHPSESSID=⟦<az09:26>⟧; path=/; HttpOnly\n"),
        ("c.py", 'cookies = {"session": "⟦<b64u:60>⟧"}\n'),
        ("har.json", '{"name": "connect.sid", "value": "⟦s%3A<b64u:32>.<b62:43>⟧"}\n'),
    ),
    place(
        "key in an address",
        ("u.py", 'URL = "https://api.acme.io/v1?api_key=⟦<hex:32>⟧&q=1"\n'),
        ("u.md", "<https://a.io/hook?token=⟦<b62:32>⟧>\n"),
        ("u.js", "fetch('https://maps.acme.io/tile?access_token=⟦<b64u:43>⟧')\n"),
    ),
    place(
        "setPassword",
        ("A.java", 'dataSource.setPassword("⟦<:password>⟧");\n'),
        ("B.java", 'config.setSecretKey("⟦<b62:40>⟧");\n'),
        ("C.kt", 'ds.setPassword("⟦<:simple>⟧")\n'),
        ("d.cs", 'x.SetPassword("⟦<:password>⟧");\n'),
    ),
    place(
        "login call",
        ("s.py", 'smtp.login("me@acme.io", "⟦<:password>⟧")\n'),
        ("f.py", 'ftp = FTP("h", "bob", passwd="⟦<:simple>⟧")\n'),
        ("r.py", 'requests.get(url, auth=("bob", "⟦<:password>⟧"))\n'),
        ("N.cs", 'new NetworkCredential("bob", "⟦<:password>⟧")\n'),
        ("D.java", 'DriverManager.getConnection(url, "app", "⟦<:password>⟧");\n'),
    ),
    place(
        "builder call",
        ("B.java", '.withPassword("⟦<:password>⟧")\n'),
        ("b.rs", '    .password("⟦<:simple>⟧")\n'),
        ("J.java", '.signWith(key("⟦<b62:40>⟧")).secret("⟦<b62:32>⟧")\n'),
    ),
    place(
        "SQL password",
        ("i.sql", "CREATE USER app IDENTIFIED BY '⟦<:password>⟧';\n"),
        ("p.sql", "ALTER ROLE app WITH PASSWORD '⟦<:simple>⟧';\n"),
        ("m.sql", "CREATE LOGIN app WITH PASSWORD = '⟦<:password>⟧';\n"),
        ("s.sql", "SET PASSWORD FOR 'a'@'%' = PASSWORD('⟦<:weak>⟧');\n"),
    ),
    place(
        "WordPress salts",
        (
            "wp-config.php",
            "define( 'DB_PASSWORD', '⟦<:password>⟧' );\ndefine('AUTH_KEY',         '⟦<b62:20>|<b62:20>,<b62:20>⟧');\n",
        ),
    ),
    place(
        "Jenkins credentials",
        ("credentials.xml", "<password>{⟦AQAAABAAAA<b64:60>=⟧}</password>\n"),
        ("c.xml", "<apiToken>⟦<hex:34>⟧</apiToken>\n"),
    ),
    place(
        "s3cfg",
        (".s3cfg", "[default]\naccess_key = <b62:20>\nsecret_key = ⟦<b64:40>⟧\n"),
        ("rclone.conf", "[r]\ntype = s3\npass = ⟦<b64u:30>⟧\n"),
    ),
    place(
        "AWS credentials",
        (".aws/credentials", "[default]\naws_access_key_id = ⟦AKIA<b32:16>⟧\naws_secret_access_key = ⟦<b64:40>⟧\n"),
    ),
    place(
        "service account",
        (
            "sa.json",
            '{\n "type": "service_account",\n "private_key_id": "⟦<hex:40>⟧",\n'
            ' "private_key": "-----BEGIN PRIVATE KEY-----\\n⟦<:pem1>⟧\\n-----END PRIVATE KEY-----\\n"\n}\n',
        ),
    ),
    place(
        "GitHub Actions",
        (
            ".github/workflows/a.yml",
            "    env:\n      DEPLOY_KEY: ⟦<b62:40>⟧\n    steps:\n      - run: ./x --token ⟦<b62:40>⟧\n",
        ),
    ),
    place(
        "Helm values",
        ("values.yaml", 'postgresql:\n  auth:\n    password: ⟦<:password>⟧\n    postgresPassword: "⟦<:simple>⟧"\n'),
    ),
    place(
        "Compose file",
        (
            "docker-compose.yml",
            "    environment:\n      - POSTGRES_PASSWORD=⟦<:simple>⟧\n      MYSQL_ROOT_PASSWORD: ⟦<:password>⟧\n",
        ),
    ),
    place(
        "Dockerfile",
        ("Dockerfile", "ENV DB_PASSWORD=⟦<:password>⟧ PORT=80\nARG API_TOKEN=⟦<b62:32>⟧\nENV SECRET_KEY ⟦<b62:50>⟧\n"),
    ),
    place(
        "Rails master key", ("config/master.key", "⟦<hex:32>⟧\n"), ("config/credentials/production.key", "⟦<hex:32>⟧\n")
    ),
    place(
        "token over two lines",
        ("t.py", 'T = ("⟦ghp_<b62:18>⟧"\n     "⟦<b62:18>⟧")\n'),
        ("t.js", "const t = '⟦sk_live_<b62:10>⟧' +\n  '⟦<b62:14>⟧';\n"),
        ("t.sh", "TOKEN=⟦glpat-<b62:10>⟧\\\n⟦<b62:10>⟧\n"),
        ("u.py", 'api_key = (\n    "⟦<hex:20>⟧"\n    "⟦<hex:20>⟧"\n)\n'),
    ),
    place(
        "Spring properties",
        ("application.yml", "spring:\n  datasource:\n    username: app\n    password: ⟦<:password>⟧\n"),
        (
            "application.properties",
            "spring.datasource.password=⟦<:simple>⟧\nserver.ssl.key-store-password=⟦<:password>⟧\n",
        ),
    ),
    place("Wi-Fi key", ("wpa_supplicant.conf", 'network={\n    ssid="home"\n    psk="⟦<:password>⟧"\n}\n')),
    place(
        "SNMP and RADIUS",
        ("radius.conf", "client nas {\n    secret = ⟦<:simple>⟧\n}\n"),
        ("ipsec.secrets", ': PSK "⟦<:password>⟧"\n'),
    ),
    place(
        "Cisco password", ("router.cfg", "enable secret 5 ⟦$1$<b62:4>$<b62:22>⟧\nusername bob password 7 ⟦<HEX:24>⟧\n")
    ),
)
