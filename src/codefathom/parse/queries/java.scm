; Java: static final fields are constants, other fields are left out.

(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_constant name: (identifier) @name body: (_)? @body) @definition.constant

(method_declaration name: (identifier) @name body: (_)? @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method

(field_declaration
  (modifiers "static" "final")
  declarator: (variable_declarator name: (identifier) @name)) @definition.constant
(field_declaration
  (modifiers "final" "static")
  declarator: (variable_declarator name: (identifier) @name)) @definition.constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant

(import_declaration [(scoped_identifier) (identifier)] @reference.import)

(method_invocation name: (identifier) @reference.call)
(method_reference "::" (identifier) @reference.call)
(object_creation_expression type: (type_identifier) @reference.call)
(object_creation_expression type: (scoped_type_identifier (type_identifier) @reference.call .))
(object_creation_expression type: (generic_type (type_identifier) @reference.call))
(object_creation_expression type: (generic_type (scoped_type_identifier (type_identifier) @reference.call .)))

(type_identifier) @reference.type
(marker_annotation name: (identifier) @reference.type)
(annotation name: (identifier) @reference.type)
(method_invocation object: (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(field_access object: (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(field_access field: (identifier) @reference.value)
(switch_label (identifier) @reference.value)
(argument_list (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(variable_declarator value: (identifier) @reference.value)
(binary_expression (identifier) @reference.value)

; Local names: methods and types have names of their own, so that a variable hides nothing but what stands before a dot.
[
  (method_declaration) (constructor_declaration) (lambda_expression) (block) (for_statement) (enhanced_for_statement)
  (try_with_resources_statement) (catch_clause) (class_declaration) (interface_declaration) (record_declaration)
] @local.scope
(formal_parameter name: (identifier) @local.object)
(spread_parameter (variable_declarator name: (identifier) @local.object))
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local.object))
(enhanced_for_statement name: (identifier) @local.object)
(lambda_expression parameters: (identifier) @local.object)
(inferred_parameters (identifier) @local.object)
(resource name: (identifier) @local.object)
(catch_formal_parameter name: (identifier) @local.object)
(type_parameter (type_identifier) @local.type)
