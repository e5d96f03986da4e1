; Julia: the text before a definition documents it; f(x) = … defines a function too.

(module_definition name: (identifier) @name) @definition.module

(struct_definition
  (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . (identifier) @name)
    (binary_expression . (parametrized_type_expression . (identifier) @name))
  ])
  (block)? @body) @definition.struct
(abstract_definition
  (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . (identifier) @name)
    (binary_expression . (parametrized_type_expression . (identifier) @name))
  ])) @definition.type
(primitive_definition (type_head [(identifier) @name (binary_expression . (identifier) @name)])) @definition.type
((macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)])) @definition.enum
  (#eq? @_macro "enum"))

(function_definition
  (signature [
    (identifier) @name
    (call_expression . [
      (identifier) @name
      (operator) @name
      (field_expression value: (_) @scope (identifier) @name .)
      (field_expression
        value: (_) @scope
        (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]) .)
      (parametrized_type_expression . (identifier) @name)
    ])
    (typed_expression . (call_expression . [
      (identifier) @name
      (field_expression value: (_) @scope (identifier) @name .)
    ]))
    (where_expression . (call_expression . [
      (identifier) @name
      (operator) @name
      (field_expression value: (_) @scope (identifier) @name .)
      (field_expression
        value: (_) @scope
        (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]) .)
      (parametrized_type_expression . (identifier) @name)
    ]))
    (where_expression . (typed_expression . (call_expression . (identifier) @name)))
  ])
  (block)? @body) @definition.function
(macro_definition (signature (call_expression . (identifier) @name)) (block)? @body) @definition.macro
(assignment
  . [
    (call_expression . [
      (identifier) @name
      (operator) @name
      (field_expression value: (_) @scope (identifier) @name .)
      (field_expression
        value: (_) @scope
        (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]) .)
      (parametrized_type_expression . (identifier) @name)
    ])
    (typed_expression . (call_expression . [
      (identifier) @name
      (field_expression value: (_) @scope (identifier) @name .)
    ]))
    (where_expression . (call_expression . [
      (identifier) @name
      (operator) @name
      (field_expression value: (_) @scope (identifier) @name .)
      (field_expression
        value: (_) @scope
        (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]) .)
      (parametrized_type_expression . (identifier) @name)
    ]))
    (where_expression . (typed_expression . (call_expression . (identifier) @name)))
  ]
  . (operator) . (_) @body) @definition.function

(const_statement (assignment . [(identifier) @name (typed_expression . (identifier) @name)])) @definition.constant
(source_file (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
(module_definition
  (block (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable))

((string_literal) @margin.comment
  . [
    (module_definition) (struct_definition) (abstract_definition) (primitive_definition) (function_definition)
    (macro_definition) (assignment) (const_statement) (macrocall_expression)
  ])

(using_statement [(identifier) (import_path)] @reference.import)
(using_statement (selected_import . (_) @reference.import))
(import_statement [(identifier) (import_path)] @reference.import)
(import_statement (selected_import . (_) @reference.import))
(import_statement (import_alias . (_) @reference.import))
(call_expression
  . (identifier) @_include
  (argument_list . (string_literal (content) @reference.import))
  (#eq? @_include "include"))

(call_expression . (identifier) @reference.call (#not-match? @reference.call "^(include|new)$"))
(call_expression . (field_expression (identifier) @reference.call .))
(call_expression . (parametrized_type_expression . (identifier) @reference.call))
(broadcast_call_expression . (identifier) @reference.call)
(broadcast_call_expression . (field_expression (identifier) @reference.call .))
(macrocall_expression (macro_identifier (identifier) @reference.call))

(typed_expression (_) . (identifier) @reference.type)
(typed_expression (_) . (parametrized_type_expression . (identifier) @reference.type))
(parametrized_type_expression (curly_expression (identifier) @reference.type))
(type_head (binary_expression (_) (operator) . (identifier) @reference.type))
(curly_expression (binary_expression (_) (operator) . (identifier) @reference.type))
