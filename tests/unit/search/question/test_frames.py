from __future__ import annotations

import pytest

from codefathom.search.question.frames import MAX_FRAMES, Frame, frames, same_place

PYTHON = """Traceback (most recent call last):
  File "/home/me/app/main.py", line 12, in <module>
    run()
  File "/home/me/app/store/orders.py", line 40, in run
    raise KeyError(name)
KeyError: 'x'
"""


def test_python_writes_the_innermost_last() -> None:
    assert frames(PYTHON) == [Frame("/home/me/app/store/orders.py", 40), Frame("/home/me/app/main.py", 12)]


DIFF = """diff --git a/app/orders.py b/app/orders.py
--- a/app/orders.py
+++ b/app/orders.py
@@ -30,7 +31,8 @@ def run():
-    old
+    new
@@ -80 +82,2 @@ def stop():
+    more
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+first
"""


def test_a_diff_names_its_changed_lines_as_they_are_now() -> None:
    assert frames(DIFF) == [Frame("app/orders.py", 34), Frame("app/orders.py", 85), Frame("new.py", 1)]
    assert frames(DIFF.replace("@@ -", "@@ ")) == []  # no diff: a line of it only


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("    at price (/srv/web/src/cart.ts:12:7)\n    at main (index.js:3:1)",
         [Frame("/srv/web/src/cart.ts", 12), Frame("index.js", 3)]),
        ("\tat com.shop.Export.write(Export.java:17)", [Frame("Export.java", 17)]),
        ("panic: boom\n\ngoroutine 1 [running]:\nmain.retry(...)\n\t/go/api/retry.go:21 +0x1d",
         [Frame("/go/api/retry.go", 21)]),
        ("thread 'main' panicked at src/labels.rs:7:5:", [Frame("src/labels.rs", 7)]),
        ("app/models/order.rb:10:in `price'", [Frame("app/models/order.rb", 10)]),
        (r"   at Shop.Cart.Add() in C:\src\Shop\Cart.cs:line 88", [Frame("C:/src/Shop/Cart.cs", 88)]),
        ("PHP Fatal error: x in /var/www/Router.php on line 5", [Frame("/var/www/Router.php", 5)]),
        ("#0 /var/www/Router.php(31): run()", [Frame("/var/www/Router.php", 31)]),
        ("see https://example.org/o/r/blob/4f2a/shop/pricing.py#L10-L20 for the line",
         [Frame("//example.org/o/r/blob/4f2a/shop/pricing.py", 10)]),
        ("lib/url.c:120: undefined reference to `x'", [Frame("lib/url.c", 120)]),
    ],
)  # fmt: skip
def test_places_as_languages_write_them(text: str, places: list[Frame]) -> None:
    assert frames(text) == places


@pytest.mark.parametrize(
    "text", ["", "how is a route parsed", "http://localhost:8900/", "at 12:30 the job runs", "version 3.11:2", "a.b.c"]
)
def test_what_names_no_line_of_a_file(text: str) -> None:
    assert frames(text) == []


def test_a_place_stands_once_and_a_long_trace_is_cut() -> None:
    assert frames("a.py:3 a.py:3") == [Frame("a.py", 3)]
    assert len(frames(" ".join(f"a.py:{line}" for line in range(500)))) == MAX_FRAMES


@pytest.mark.parametrize(
    ("written", "path", "n_same"),
    [
        ("/home/me/app/store/orders.py", "app/store/orders.py", 3),
        ("orders.py", "store/orders.py", 1),
        ("store/orders.py", "other/orders.py", 1),
        ("orders.py", "store/order.py", 0),
    ],
)
def test_how_much_of_two_paths_is_the_same(written: str, path: str, n_same: int) -> None:
    assert same_place(written, path) == n_same
