"""`fathom lsp` in Neovim, without a window, set up by the lines that docs/editors.md shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import LONG_S

PAGE = Path(__file__).parents[2] / "docs" / "editors.md"
# Each question is asked as the editor itself asks it, for the place at which the cursor would stand.
QUESTIONS = """
local function fail(text)
  vim.fn.writefile({ tostring(text) }, os.getenv("OUT") .. ".error")
  vim.cmd("cquit 1")
end

local function ask()
  local wait_ms = tonumber(os.getenv("WAIT_MS"))
  local clients = function()
    return vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
  end
  assert(vim.wait(wait_ms, function()
    local _, client = next(clients())
    return client ~= nil and client.initialized
  end, 20), "no client was attached")
  local document = { uri = vim.uri_from_bufnr(0) }
  local at = { textDocument = document, position = { line = 21, character = 20 } }
  local questions = {
    ["textDocument/definition"] = at,
    ["textDocument/references"] = vim.tbl_extend("force", at, { context = { includeDeclaration = true } }),
    ["textDocument/hover"] = at,
    ["textDocument/prepareCallHierarchy"] = at,
    ["textDocument/codeLens"] = { textDocument = document },
    ["workspace/symbol"] = { query = "where are discounts computed" },
  }
  local answers = {}
  for method, params in pairs(questions) do
    local replies, problem = vim.lsp.buf_request_sync(0, method, params, wait_ms)
    assert(replies, method .. ": " .. tostring(problem))
    local _, reply = next(replies)
    answers[method] = reply.result or reply.err or reply.error
  end
  vim.fn.writefile({ vim.fn.json_encode(answers) }, os.getenv("OUT"))
  vim.cmd("quitall!")
end

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    local is_done, problem = pcall(ask)
    if not is_done then
      fail(problem)
    end
  end,
})
"""


def editor() -> str:
    """Return the path of Neovim; skip the test where it is missing, and fail it where everything must be there."""
    path = shutil.which("nvim")
    if path is None:
        if os.environ.get("CI") and not os.environ.get("TESTS_WITHOUT_EDITOR"):
            pytest.fail("nvim is not installed: apt-get install neovim")
        pytest.skip("nvim is not installed: apt-get install neovim")
    return path


def published_lines() -> str:
    """Return the lines of the page for Neovim."""
    (lines,) = re.findall(r"(?ms)^Neovim .*?^```lua\n(.*?)^```", PAGE.read_text(encoding="utf-8"))
    assert '{ "fathom", "lsp" }' in lines
    return lines


def answers_in_neovim(project: Path, folder: Path) -> dict[str, Any]:
    """Return what Neovim gets from `fathom lsp` for some questions, by their methods."""
    program = editor()
    settings, out = folder / "init.lua", folder / "answers.json"
    settings.write_text(published_lines() + QUESTIONS, encoding="utf-8")
    own = {"OUT": str(out), "WAIT_MS": str(int(LONG_S * 1000)), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    done = subprocess.run(
        [program, "--headless", "-n", "-i", "NONE", "-u", str(settings), "shop/orders.py"],
        check=False,
        cwd=project,
        env={**os.environ, **own, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG_S,
    )
    assert out.exists(), (done.returncode, done.stdout, done.stderr, list(map(Path.read_text, folder.glob("*.error"))))
    return json.loads(out.read_text(encoding="utf-8"))


def place(root: Path, location: Any) -> str:
    start = location["range"]["start"]
    return f"{location['uri'].removeprefix(root.as_uri() + '/')}:{start['line'] + 1}:{start['character'] + 1}"


def test_neovim_gets_answers_with_the_published_lines(shop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "editor"
    folder.mkdir()
    answers = answers_in_neovim(shop, folder)
    definition = answers["textDocument/definition"]
    assert [place(shop, item) for item in definition] == ["shop/pricing.py:6:5"]
    assert [place(shop, item) for item in answers["textDocument/references"]] == [
        "shop/pricing.py:6:5",
        "shop/orders.py:22:17",
        "shop/orders.py:5:36",
    ]
    assert "Return the sum of all prices." in answers["textDocument/hover"]["contents"]["value"]
    assert [item["name"] for item in answers["textDocument/prepareCallHierarchy"]] == ["total_cents"]
    assert [item["range"]["start"]["line"] + 1 for item in answers["textDocument/codeLens"]] == [10, 16, 20, 26]
    assert place(shop, answers["workspace/symbol"][0]["location"]) == "shop/pricing.py:11:5"
