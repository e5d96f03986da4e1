"""`fathom status` says how many definitions were read without syntax, and which old encodings were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.cli import main

KOTLIN = "".join(f"@Shown\n@Sized(width = {n})\ninternal fun page{n}() {{\n    draw()\n}}\n\n" for n in range(3))


def test_status_counts_definitions_without_syntax_and_old_encodings(
    tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fathom.toml").touch()
    (tmp_path / "Pages.kt").write_text(KOTLIN)
    (tmp_path / "shop.c").write_bytes(
        "/* 计算订单的总金额，不含税，打开配置文件并检查版本号 */\nint a;\n".encode("gb18030")
    )
    with Engine.open(str(tmp_path)) as engine:
        engine.index()
        status = engine.status()
        names = {found.symbol.name for found in engine.symbols("page")}
    assert names >= {"page0", "page1", "page2"}
    assert (status.n_by_head, status.n_files_by_head, dict(status.encodings)) == (2, 1, {"gb18030": 1})
    assert status.broken == ()  # nothing of it is missing
    monkeypatch.chdir(tmp_path)
    main(["status"])
    shown = capsys.readouterr().out
    assert "2 definitions read without syntax in 1 file\n" in shown
    assert "gb18030 1 (not UTF-8)" in shown
