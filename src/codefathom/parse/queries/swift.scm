; Swift: the keyword tells classes, structs, enums, actors and extensions apart; `let` is a constant.

(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @definition.enum
(enum_entry name: (simple_identifier) @name) @definition.constant
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @definition.class
(class_declaration name: (_) @name body: (_) @body) @definition.class
(protocol_declaration name: (_) @name body: (_) @body) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

(function_declaration name: (simple_identifier) @name body: (_)? @body) @definition.function
(function_declaration ["==" "<" "+" "-" "!=" "*" "/" "%" "~" (custom_operator)] @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.method
(init_declaration "init" @name body: (_)? @body) @definition.method
(deinit_declaration "deinit" @name body: (_)? @body) @definition.method
(subscript_declaration "subscript" @name (computed_property)? @body) @definition.method
(macro_declaration (simple_identifier) @name) @definition.macro

(property_declaration
  (value_binding_pattern) @_binding
  name: (pattern bound_identifier: (simple_identifier) @name)
  (#eq? @_binding "let")) @definition.constant
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_)? @body) @definition.variable
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.variable

(import_declaration (identifier) @reference.import)

(call_expression . (simple_identifier) @reference.call)
(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @reference.call)))
(call_expression . (prefix_expression target: (simple_identifier) @reference.call))

(user_type (type_identifier) @reference.type .)
(user_type (type_identifier) @reference.type . (type_arguments))
(navigation_expression target: (simple_identifier) @reference.value)

; Local names.
[
  (function_declaration) (init_declaration) (lambda_literal) (if_statement) (for_statement) (catch_block)
] @local.scope
(class_body) @local.barrier
(parameter name: (simple_identifier) @local.value)
(lambda_parameter name: (simple_identifier) @local.value)
(property_declaration) @local.declaration
(pattern bound_identifier: (simple_identifier) @local.value)
(guard_statement bound_identifier: (simple_identifier) @local.value)
(if_statement bound_identifier: (simple_identifier) @local.value)
(type_parameter (type_identifier) @local.type)
