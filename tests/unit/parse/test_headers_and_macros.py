"""Headers are read by the grammar that fits, and macros take no definition away."""

from __future__ import annotations

import pytest

from codefathom.parse import parse
from codefathom.source.documents import kind_of
from codefathom.types import Document, ParsedDocument


def header(text: str, path: str = "src/shelf.h") -> ParsedDocument:
    return parse(Document(path, kind_of(path, text), text, "f1", len(text)))


def outline(document: ParsedDocument) -> list[str]:
    return [f"{item.kind} {item.qualified_name}" for item in document.symbols]


UNREAL = """UENUM(BlueprintType)
enum class EShade : uint8
{
	Light UMETA(DisplayName = "Light one"),
	Dark
};

UCLASS(Blueprintable)
class SHOP_API AShop : public AActor
{
	GENERATED_BODY()
public:
	UPROPERTY(EditAnywhere, Category = "Shop")
	float Width = 3.0f;
	UFUNCTION(BlueprintCallable)
	void Open(int32 N);
};
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("enum class Wood : int { Oak, Pine };\n", ["enum Wood", "constant Wood.Oak", "constant Wood.Pine"]),
        ("enum struct Wood { Oak };\n", ["enum Wood", "constant Wood.Oak"]),
        ("class Later;\nint fill(Later* later);\n", ["function fill"]),
        (
            "struct Shelf { virtual ~Shelf() = default; bool operator==(const Shelf&) const; };\n",
            ["struct Shelf", "method Shelf.~Shelf", "method Shelf.operator=="],
        ),
        (
            "struct Shelf { int width = 0; int fill() { return width; } };\n",
            ["struct Shelf", "variable Shelf.width", "method Shelf.fill"],
        ),
        ("inline int twice(const struct Point& p) { return 2; }\n", ["function twice"]),
        (
            UNREAL,
            [
                *("enum EShade", "constant EShade.Light", "constant EShade.Dark"),
                *("class AShop", "variable AShop.Width", "method AShop.Open"),
            ],
        ),
    ],
)
def test_a_header_of_cpp_is_read_as_cpp(text: str, expected: list[str]) -> None:
    document = header(text)
    assert (outline(document), document.problems) == (expected, ())


@pytest.mark.parametrize(
    "text",
    [
        "struct shelf { int width; };\nint class_of(struct shelf *s);\n",
        "/* a class of things;\n   virtual ones */\nint operator_of(int a);\n",
        "int new, delete, class, template;\nint f(int this) { return this; }\n",
    ],
)
def test_a_header_of_c_stays_one(text: str) -> None:
    document = header(text)
    assert (document.document.language, document.problems) == ("c", ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define LOCK do { /* none */; } while (0)\nint f(void) { return 1; }\n", ["macro LOCK", "function f"]),
        ("#define BOTH (A | /* a */ \\\n  B)  /* b */\nint f(void) { return 1; }\n", ["macro BOTH", "function f"]),
        ('#define MARK "/*" \nint f(void) { return 1; } /* a */\n', ["macro MARK", "function f"]),
        ("DEFINE_SHELF(oak)\nDEFINE_SHELF(pine)\nint f(void) { return 1; }\n", ["function f"]),
    ],
)
def test_a_macro_hides_nothing_behind_it(text: str, expected: list[str]) -> None:
    document = header(text, "src/shelf.c")
    assert (outline(document), document.problems) == (expected, ())
