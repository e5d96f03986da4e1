; What JavaScript and TypeScript share.

(class_declaration name: (_) @name body: (_) @body) @definition.class
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @definition.class
(assignment_expression
  left: [(identifier) @name (member_expression property: (property_identifier) @name)]
  right: (class !name body: (_) @body)) @definition.class
(assignment_expression
  left: [(identifier) @name (member_expression property: (property_identifier) @name)]
  right: (class name: (_) body: (_) @body)
  (#not-eq? @name "exports")) @definition.class
; What `module.exports` is has a name of its own.
(assignment_expression
  left: (member_expression property: (property_identifier) @_exports)
  right: (class name: (_) @name body: (_) @body)
  (#eq? @_exports "exports")) @definition.class

(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(lexical_declaration
  (variable_declarator
    name: (identifier) @name
    value: [
      (arrow_function body: (_) @body)
      (function_expression body: (_) @body)
      (generator_function body: (_) @body)
    ])) @definition.function
(variable_declaration
  (variable_declarator
    name: (identifier) @name
    value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function

(method_definition name: (_) @name body: (_) @body) @definition.method
(variable_declarator
  value: (object
    (pair
      key: (property_identifier) @name
      value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))
(export_statement
  value: (object
    (pair
      key: (property_identifier) @name
      value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))
(assignment_expression
  right: (object
    (pair
      key: (property_identifier) @name
      value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))

(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @scope property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]
  (#eq? @_prototype "prototype")) @definition.function
(assignment_expression
  left: (member_expression
    object: [(identifier) @_exports (member_expression object: (identifier) @_exports)]
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]
  (#any-of? @_exports "exports" "module")) @definition.function
(assignment_expression
  left: (member_expression object: (identifier) @scope property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.function
(assignment_expression
  left: (member_expression
    object: (member_expression property: (property_identifier) @scope)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.function
; Another name of a method.
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @scope property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: (member_expression object: (member_expression property: (property_identifier) @_other))
  (#eq? @_prototype "prototype")
  (#eq? @_other "prototype")) @definition.function
; A function that is handed on has a name of its own.
(arguments (function_expression name: (identifier) @name body: (_) @body) @definition.function)
(return_statement (function_expression name: (identifier) @name body: (_) @body) @definition.function)

; Of the variables of a module those that hold another module are left out.
(program
  (lexical_declaration
    kind: "const"
    (variable_declarator name: (identifier) @name value: (_) @_value)
    (#not-match? @_value "^(await )?(require|import) ?\\(")) @definition.constant)
(program
  (lexical_declaration
    kind: "let"
    (variable_declarator name: (identifier) @name)) @definition.variable)
(program
  (variable_declaration
    (variable_declarator name: (identifier) @name value: (_) @_value)
    (#not-match? @_value "^(await )?(require|import) ?\\(")) @definition.variable)
(export_statement
  (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name)) @definition.constant)
(export_statement
  (lexical_declaration
    kind: "const"
    (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name))) @definition.constant)
(export_statement
  (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name)) @definition.variable)
(export_statement
  (variable_declaration (variable_declarator name: (identifier) @name)) @definition.variable)

(import_statement source: (string) @reference.import)
(export_statement source: (string) @reference.import)
(call_expression function: (import) arguments: (arguments . (string) @reference.import))
(call_expression
  function: (identifier) @_require
  arguments: (arguments . (string) @reference.import)
  (#eq? @_require "require"))

(call_expression function: (identifier) @reference.call (#not-eq? @reference.call "require"))
(call_expression function: (member_expression property: (property_identifier) @reference.call))
(new_expression constructor: (identifier) @reference.call)
(new_expression constructor: (member_expression property: (property_identifier) @reference.call))
(decorator (identifier) @reference.call)
(decorator (call_expression function: (identifier) @reference.call))

(member_expression object: (identifier) @reference.value)
(member_expression property: (property_identifier) @reference.value)
(arguments (identifier) @reference.value)
(array (identifier) @reference.value)
(pair value: (identifier) @reference.value)
(shorthand_property_identifier) @reference.value
(spread_element (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(variable_declarator value: (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(binary_expression (identifier) @reference.value)
(ternary_expression (identifier) @reference.value)
(template_substitution (identifier) @reference.value)
(subscript_expression object: (identifier) @reference.value)

; Local names. A module that a function loads is one from outside.
[
  (function_declaration) (function_expression) (generator_function_declaration) (generator_function)
  (arrow_function) (method_definition) (statement_block) (for_statement) (for_in_statement) (catch_clause)
] @local.scope
(class_body) @local.barrier
(arrow_function parameter: (identifier) @local.value)
(variable_declarator name: (identifier) @local.value)
(shorthand_property_identifier_pattern) @local.value
(pair_pattern value: (identifier) @local.value)
(array_pattern (identifier) @local.value)
(rest_pattern (identifier) @local.value)
(for_in_statement left: (identifier) @local.value)
(catch_clause parameter: (identifier) @local.value)
(variable_declarator
  name: [
    (identifier) @local.outer
    (object_pattern (shorthand_property_identifier_pattern) @local.outer)
    (object_pattern (pair_pattern value: (identifier) @local.outer))
  ]
  value: [
    (call_expression function: (identifier) @_require)
    (member_expression object: (call_expression function: (identifier) @_require))
  ]
  (#eq? @_require "require"))
(variable_declarator
  name: [
    (identifier) @local.outer
    (object_pattern (shorthand_property_identifier_pattern) @local.outer)
    (object_pattern (pair_pattern value: (identifier) @local.outer))
  ]
  value: (await_expression (call_expression function: (import))))
