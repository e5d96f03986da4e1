; Elixir: everything is a call. Clauses of one function are one symbol (see clauses.py).

(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (do_block
    (unary_operator
      operator: "@"
      operand: (call
        target: (identifier) @_attribute
        (arguments [(string) @doc (sigil (quoted_content) @doc)])))) @body
  (#any-of? @_keyword "defmodule" "defprotocol")
  (#eq? @_attribute "moduledoc")) @definition.module
(call
  target: (identifier) @_keyword
  (arguments . (alias) @scope (keywords . (pair value: [(alias) @name (list . (alias) @name)])))
  (do_block)? @body
  (#eq? @_keyword "defimpl")) @definition.module
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (do_block)? @body
  (#any-of? @_keyword "defmodule" "defprotocol")) @definition.module
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name .)
  (do_block)? @body
  (#eq? @_keyword "defimpl")) @definition.module
(call
  target: (identifier) @name
  (#any-of? @name "defstruct" "defexception")) @definition.struct

(call
  target: (identifier) @_keyword
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator operator: ["+" "-" "*" "/" "==" "<>" "|>" "++" "--" "and" "or" "=~" ">>>" "<<<" "~>"] @name)
  ])
  (do_block)? @body
  (#any-of? @_keyword "def" "defp" "defdelegate")) @definition.function
(call
  target: (identifier) @_keyword
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
  ])
  (do_block)? @body
  (#any-of? @_keyword "defmacro" "defmacrop" "defguard" "defguardp")) @definition.macro
(call
  target: (identifier) @_keyword
  (arguments . (string (quoted_content) @name))
  (do_block) @body
  (#any-of? @_keyword "test" "describe")) @definition.function

(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . (binary_operator left: [
      (identifier) @name
      (call target: (identifier) @name)
    ])))
  (#any-of? @_attribute "type" "typep" "opaque")) @definition.type
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . [
      (binary_operator left: (call target: (identifier) @name))
      (binary_operator left: (binary_operator left: (call target: (identifier) @name)))
    ]))
  (#eq? @_attribute "callback")) @definition.function
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . (binary_operator left: (call target: (identifier) @name))))
  (#eq? @_attribute "macrocallback")) @definition.macro
(do_block
  (unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @definition.constant
  (#not-match? @name
    "^((module|type)?doc|spec|typep?|opaque|(macro)?callback|impl|behaviour|derive|deprecated|enforce_keys|optional_callbacks|dialyzer|compile|(before|after)_compile|on_(load|definition)|external_resource|(module|describe)?tag|since|shortdoc|fallback_to_any)$"))

; What stands above a definition and says something of it.
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute)
  (#any-of? @_attribute
    "doc" "typedoc" "spec" "impl" "deprecated" "since" "dialyzer" "derive" "enforce_keys" "tag")) @margin.attribute
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . [(string (quoted_content) @margin.doc) (sigil (quoted_content) @margin.doc)]))
  (#any-of? @_attribute "doc" "typedoc"))

(call
  target: (identifier) @_keyword
  (arguments . [(alias) (dot left: (alias) right: (tuple))] @reference.import)
  (#any-of? @_keyword "use" "import" "alias" "require"))
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute (arguments . (alias) @reference.import))
  (#eq? @_attribute "behaviour"))

(call
  target: (identifier) @reference.call
  (#not-match? @reference.call
    "^(def[a-z]*|use|import|alias|require|if|unless|case|cond|with|for|quote|unquote(_splicing)?|receive|try|raise|(module|type)?doc|spec|typep?|opaque|(macro)?callback|behaviour)$"))

(call target: (dot right: (identifier) @reference.call))
(binary_operator operator: "|>" right: (identifier) @reference.call)
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @reference.call operator: "/"))
(unary_operator
  operator: "&"
  operand: (binary_operator left: (call target: (dot right: (identifier) @reference.call)) operator: "/"))

(struct (alias) @reference.type)
(dot left: (alias) @reference.type right: (identifier))
