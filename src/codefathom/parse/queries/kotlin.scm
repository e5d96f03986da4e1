; Kotlin: an extension belongs to its receiver; a companion object without a name adds nothing to the names in it.

(class_declaration
  (modifiers (class_modifier) @_modifier)
  name: (identifier) @name
  (enum_class_body)? @body
  (#eq? @_modifier "enum")) @definition.enum
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration name: (identifier) @name (class_body)? @body) @definition.class
(object_declaration name: (identifier) @name (class_body)? @body) @definition.class
(companion_object name: (identifier) @name (class_body)? @body) @definition.class
; The grammar reads an annotation class that has annotations as an infix expression.
(source_file
  (annotated_expression
    (infix_expression . (identifier) @_annotation . (identifier) @_class . (identifier) @name)) @definition.class
  (#eq? @_annotation "annotation")
  (#eq? @_class "class"))
(source_file
  (annotated_expression
    (annotated_expression
      (infix_expression . (identifier) @_annotation . (identifier) @_class . (identifier) @name))) @definition.class
  (#eq? @_annotation "annotation")
  (#eq? @_class "class"))
; What the grammar does not know yet leaves a whole class as an error; the head of the class is still found in it.
(ERROR . (modifiers)? . "class" . (identifier) @name (primary_constructor)? @body) @definition.class
(ERROR "class" . (identifier) @name @definition.class)
(type_alias type: (identifier) @name) @definition.type
(enum_entry (identifier) @name) @definition.constant

(function_declaration
  [
    (user_type (identifier) @scope .)
    (user_type (identifier) @scope . (type_arguments) .)
    (nullable_type (user_type (identifier) @scope .))
    (nullable_type (user_type (identifier) @scope . (type_arguments) .))
  ]
  .
  name: (identifier) @name
  (function_body)? @body) @definition.function
(function_declaration name: (identifier) @name (function_body)? @body) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.method

(property_declaration
  (modifiers (property_modifier) @_modifier)
  (variable_declaration . (identifier) @name)
  (#eq? @_modifier "const")) @definition.constant
(property_declaration
  [
    (user_type (identifier) @scope .)
    (user_type (identifier) @scope . (type_arguments) .)
    (nullable_type (user_type (identifier) @scope .))
    (nullable_type (user_type (identifier) @scope . (type_arguments) .))
  ]
  .
  (variable_declaration . (identifier) @name)) @definition.variable
(property_declaration (variable_declaration . (identifier) @name)) @definition.variable

(import (qualified_identifier) @reference.import)

(call_expression . (identifier) @reference.call)
(call_expression . (navigation_expression (identifier) @reference.call .))
(call_expression . (call_expression . (identifier) @reference.call))
(constructor_invocation (user_type (identifier) @reference.call .))
(constructor_invocation (user_type (identifier) @reference.call . (type_arguments) .))
(infix_expression (_) . (identifier) @reference.call . (_))
(callable_reference (identifier) @reference.call .)

(user_type (identifier) @reference.type .)
(user_type (identifier) @reference.type . (type_arguments) .)
(navigation_expression (identifier) @reference.value)

; Local names.
[
  (function_declaration) (lambda_literal) (anonymous_function) (block) (for_statement) (catch_block) (class_declaration)
] @local.scope
(class_body) @local.barrier
(function_value_parameters (parameter . (identifier) @local.value))
(function_body (block (property_declaration (variable_declaration . (identifier) @local.value)) @local.declaration))
(block (property_declaration (variable_declaration . (identifier) @local.value)) @local.declaration)
(lambda_literal (property_declaration (variable_declaration . (identifier) @local.value)) @local.declaration)
(multi_variable_declaration (variable_declaration . (identifier) @local.value))
(for_statement (variable_declaration . (identifier) @local.value))
(lambda_parameters (variable_declaration . (identifier) @local.value))
(catch_block . (identifier) @local.value)
(type_parameter (identifier) @local.type)
