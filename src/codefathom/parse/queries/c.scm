; inherits: _c
; C: what looks like a prototype within a function is a local variable, and so left out.

(compound_statement
  (declaration declarator: (function_declarator declarator: (identifier) @name)) @definition.variable)

(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator
      declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]
  body: (_) @body) @definition.function
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator
      declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]) @definition.function

(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.constant

(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition
  declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (primitive_type) @name
    (array_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (type_identifier) @name))
    (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  ]) @definition.type

(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name value: (_)? @body) @definition.macro

(declaration
  (type_qualifier "const")
  declarator: (init_declarator
    declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (identifier) @name)
    ])) @definition.constant
(declaration
  declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  ]) @definition.variable

(preproc_include path: [(string_literal) (system_lib_string)] @reference.import)

(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression field: (field_identifier) @reference.call))

(type_identifier) @reference.type
(argument_list (identifier) @reference.value)
(binary_expression (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(init_declarator value: (identifier) @reference.value)
(initializer_list (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(case_statement value: (identifier) @reference.value)
(preproc_def value: (preproc_arg) @reference.macro)
(preproc_function_def value: (preproc_arg) @reference.macro)

; Local names.
[(function_definition) (compound_statement) (for_statement)] @local.scope
