; Objective-C: what C has, and classes, protocols, methods by the first part of their selector, properties. A variable that is const
; is a constant (see clauses.py).

(class_interface . (identifier) @name) @definition.class
(class_implementation . (identifier) @name) @definition.class
(protocol_declaration . (identifier) @name) @definition.interface
(method_declaration . (method_type)? . (identifier) @name) @definition.method
(method_definition . (method_type)? . (identifier) @name) @definition.method
(property_declaration
  (struct_declaration
    (struct_declarator [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
    ]))) @definition.variable

(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  ]
  body: (_) @body) @definition.function
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  ]) @definition.function

(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.constant
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition
  declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (function_declarator
      declarator: (parenthesized_declarator [
        (pointer_declarator declarator: (type_identifier) @name)
        (block_pointer_declarator declarator: (type_identifier) @name)
      ]))
  ]) @definition.type

(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name value: (_)? @body) @definition.macro

(declaration
  declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  ]) @definition.variable

(preproc_include path: [(string_literal) (system_lib_string)] @reference.import)
(module_import path: (identifier) @reference.import)

(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression field: (field_identifier) @reference.call))
(message_expression . receiver: (_) . method: (identifier) @reference.call)

(type_identifier) @reference.type
(class_interface superclass: (identifier) @reference.type)
(protocol_reference_list (identifier) @reference.type)
((message_expression receiver: (identifier) @reference.type) (#match? @reference.type "^[A-Z]"))
