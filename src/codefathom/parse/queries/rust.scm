; Rust: an impl block is a class of its type's name, so its functions are methods of the type.

(function_item name: (_) @name body: (_) @body) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (type_identifier) @name body: (_)? @body) @definition.struct
(union_item name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_item name: (type_identifier) @name body: (_) @body) @definition.enum
(enum_variant name: (identifier) @name) @definition.constant
(trait_item name: (type_identifier) @name body: (_) @body) @definition.trait
(impl_item
  type: [
    (type_identifier) @name
    (primitive_type) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: (type_identifier) @name)
    (reference_type type: (generic_type type: (type_identifier) @name))
    (dynamic_type trait: (type_identifier) @name)
  ]
  body: (_) @body) @definition.class
(mod_item name: (identifier) @name body: (_) @body) @definition.module
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(const_item name: (identifier) @name) @definition.constant
(static_item (mutable_specifier) name: (identifier) @name) @definition.variable
(static_item name: (identifier) @name) @definition.constant
(macro_definition name: (identifier) @name . (_) @body) @definition.macro

(use_declaration argument: (_) @reference.import)
(extern_crate_declaration name: (identifier) @reference.import)
(mod_item name: (identifier) @reference.import !body)

(call_expression function: (identifier) @reference.call)
(call_expression function: (scoped_identifier name: (identifier) @reference.call))
(call_expression function: (field_expression field: (field_identifier) @reference.call))
(generic_function function: (identifier) @reference.call)
(generic_function function: (scoped_identifier name: (identifier) @reference.call))
(generic_function function: (field_expression field: (field_identifier) @reference.call))
(struct_expression name: (type_identifier) @reference.call)
(macro_invocation macro: (identifier) @reference.call)
(macro_invocation macro: (scoped_identifier name: (identifier) @reference.call))

(type_identifier) @reference.type
(scoped_identifier path: (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(scoped_identifier name: (identifier) @reference.value)
(arguments (identifier) @reference.value)
(binary_expression (identifier) @reference.value)
; In the arguments of a macro there are only words and brackets.
(token_tree (identifier) @reference.call . (token_tree . "("))
(token_tree (identifier) @reference.value)
(attribute_item (attribute (identifier) @_derive arguments: (token_tree (identifier) @reference.type))
  (#eq? @_derive "derive"))

; Local names; a name with a capital in a pattern is that of a variant.
[
  (function_item) (closure_expression) (block) (for_expression) (if_expression) (while_expression) (match_arm)
  (impl_item) (struct_item) (enum_item) (trait_item) (type_item)
] @local.scope
(parameter pattern: (identifier) @local.value)
(closure_parameters (identifier) @local.value)
(let_declaration pattern: (identifier) @local.value) @local.declaration
(let_declaration) @local.declaration
(let_condition) @local.declaration
(for_expression pattern: (identifier) @local.value)
(reference_pattern (identifier) @local.value)
(tuple_pattern (identifier) @local.value)
(mut_pattern (identifier) @local.value)
(tuple_struct_pattern (identifier) @local.value (#match? @local.value "^[a-z_]"))
(shorthand_field_identifier) @local.value
(field_pattern pattern: (identifier) @local.value)
(match_pattern (identifier) @local.value (#match? @local.value "^[a-z_]"))
(type_parameters (type_parameter name: (type_identifier) @local.type))
