"""Texts in which a value stands: behind a name, and where nothing but its own shape tells it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Surrounding:
    """`{name}` and `{value}` are filled in; without a name in it, only the shape of the value can tell."""

    title: str
    path: str
    text: str
    late: bool = False  # written after the rules

    @property
    def is_named(self) -> bool:
        """Whether a name stands before the value."""
        return "{name}" in self.text


SURROUNDINGS = (
    Surrounding("Python", "a.py", 'import os\n\n{name} = "{value}"\nprint(1)\n'),
    Surrounding("Python, single quotes", "a.py", "{name} = '{value}'\n"),
    Surrounding("Python, keyword", "a.py", 'client = Client(host, {name}="{value}", timeout=3)\n'),
    Surrounding("Python, dictionary", "a.py", 'conf = {{"{name}": "{value}", "port": 1}}\n'),
    Surrounding("Python, default", "a.py", 'x = os.environ.get("{name}", "{value}")\n'),
    Surrounding("JSON", "a.json", '{{\n  "{name}": "{value}",\n  "port": 1\n}}\n'),
    Surrounding("JSON in one line", "a.json", '{{"host":"h","{name}":"{value}"}}\n'),
    Surrounding("YAML", "a.yaml", "app:\n  {name}: {value}\n  port: 1\n"),
    Surrounding("YAML, quoted", "a.yml", 'app:\n  {name}: "{value}"\n'),
    Surrounding("shell", "a.sh", "#!/bin/sh\nexport {name}='{value}'\n"),
    Surrounding("shell, quoted", "a.sh", '{name}="{value}"\n./run\n'),
    Surrounding("TOML", "a.toml", '[app]\n{name} = "{value}"\n'),
    Surrounding("INI", "a.ini", "[app]\n{name} = {value}\nport = 1\n"),
    Surrounding("properties", "a.properties", "{name}={value}\n"),
    Surrounding("Dockerfile", "Dockerfile", "FROM x\nENV {name}={value}\n"),
    Surrounding("HCL", "a.tf", 'resource "a" "b" {{\n  {name} = "{value}"\n}}\n'),
    Surrounding("HCL, default", "b.tf", 'variable "{name}" {{\n  default = "{value}"\n}}\n'),
    Surrounding("Java", "A.java", 'class A {{\n  private static final String {name} = "{value}";\n}}\n'),
    Surrounding("JavaScript", "a.js", "const {name} = '{value}';\n"),
    Surrounding("JavaScript, object", "a.js", "module.exports = {{\n  {name}: '{value}',\n  port: 1\n}};\n"),
    Surrounding("JavaScript, default", "a.js", "const x = process.env.{name} || '{value}';\n"),
    Surrounding("TypeScript", "a.ts", 'export const {name}: string = "{value}";\n'),
    Surrounding("Go", "a.go", 'const {name} = "{value}"\n'),
    Surrounding("Go, short", "a.go", '\t{name} := "{value}"\n'),
    Surrounding("PHP", "a.php", "<?php\nreturn ['{name}' => '{value}'];\n"),
    Surrounding("Ruby", "a.rb", "ENV['{name}'] = '{value}'\n"),
    Surrounding("C#", "A.cs", 'var {name} = "{value}";\n'),
    Surrounding("XML attribute", "a.config", '<add key="{name}" value="{value}" />\n'),
    Surrounding("XML element", "a.xml", "<{name}>{value}</{name}>\n"),
    Surrounding("Markdown", "README.md", "Set `{name}` to `{value}` first.\n"),
    Surrounding("Markdown, list", "README.md", "- {name}: {value}\n"),
    Surrounding("argument", "a.sh", "./deploy --{name}={value} --verbose\n"),
    # Without a name.
    Surrounding("call", "a.py", 'client = connect("{value}", 3)\n'),
    Surrounding("comment", "a.py", "# it was {value} before\nx = 1\n"),
    Surrounding("list in YAML", "a.yaml", "items:\n  - {value}\n  - other\n"),
    Surrounding("array in JSON", "a.json", '["{value}", "b"]\n'),
    Surrounding("log line", "a.log", "2024-01-01 12:00:00 INFO using {value} for host\n"),
    Surrounding("plain name", "a.js", "let x = `{value}`;\n"),
    Surrounding("prose", "notes.md", "We got {value}, which works.\n"),
    Surrounding("shell argument", "a.sh", "./run {value} prod\n"),
)
