; inherits: _c
; C++: a function defined outside its class belongs to the scopes that its name gives.
; What looks like a prototype within a function is a local variable, and so left out.

(compound_statement
  (declaration declarator: (function_declarator declarator: (identifier) @name)) @definition.variable)

; A friend lies in what is around the class; only one with a body is defined there.
(friend_declaration
  (declaration declarator: [
    (identifier) @name
    (function_declarator declarator: [(identifier) (operator_name)] @name)
    (_ (function_declarator declarator: [(identifier) (operator_name)] @name))
  ])) @definition.prototype
(friend_declaration
  (function_definition
    declarator: [
      (function_declarator declarator: [(identifier) (operator_name)] @name)
      (_ (function_declarator declarator: [(identifier) (operator_name)] @name))
      (_ (_ (function_declarator declarator: [(identifier) (operator_name)] @name)))
    ]
    body: (_)? @body)) @definition.friend

(namespace_definition name: (_) @name body: (_) @body) @definition.module

(class_specifier name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body) @definition.class
(class_specifier name: (qualified_identifier scope: (_) @scope name: (_) @name) body: (_) @body) @definition.class
(struct_specifier name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body) @definition.struct
(struct_specifier name: (qualified_identifier scope: (_) @scope name: (_) @name) body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.constant
(concept_definition name: (identifier) @name) @definition.type
(alias_declaration name: (type_identifier) @name) @definition.type

(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition
  declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (primitive_type) @name
    (function_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (type_identifier) @name))
    (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  ]) @definition.type

; A name and its declarator: plain, or behind * or &, or behind **; the field initializers end the signature too.
(function_definition
  declarator: (function_declarator declarator: [(identifier) (field_identifier) (operator_name) (destructor_name)] @name)
  [(field_initializer_list) (compound_statement) (try_statement)]? @body) @definition.function
(function_definition
  declarator: (_
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
  body: (_)? @body) @definition.function
(function_definition
  declarator: (_ (_
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name)))
  body: (_)? @body) @definition.function

(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier
      scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
      name: [(identifier) (operator_name) (destructor_name)] @name))
  [(field_initializer_list) (compound_statement) (try_statement)]? @body) @definition.method
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier
      scope: (_) @scope
      name: (qualified_identifier
        scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
        name: [(identifier) (operator_name) (destructor_name)] @name)))
  [(field_initializer_list) (compound_statement) (try_statement)]? @body) @definition.method
(function_definition
  declarator: (_
    (function_declarator
      declarator: (qualified_identifier
        scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
        name: [(identifier) (operator_name)] @name)))
  body: (_)? @body) @definition.method
(function_definition
  declarator: (_
    (function_declarator
      declarator: (qualified_identifier
        scope: (_) @scope
        name: (qualified_identifier
          scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
          name: [(identifier) (operator_name)] @name))))
  body: (_)? @body) @definition.method

; Within namespaces that are written out.
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier
      scope: (_) @scope
      name: (qualified_identifier
        scope: (_) @scope
        name: (qualified_identifier
          scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
          name: [(identifier) (operator_name) (destructor_name)] @name))))
  [(field_initializer_list) (compound_statement) (try_statement)]? @body) @definition.method
(function_definition
  declarator: (_
    (function_declarator
      declarator: (qualified_identifier
        scope: (_) @scope
        name: (qualified_identifier
          scope: (_) @scope
          name: (qualified_identifier
            scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
            name: [(identifier) (operator_name)] @name)))))
  body: (_)? @body) @definition.method

; A template's own form for some types.
(function_definition
  declarator: (function_declarator declarator: (template_function name: (identifier) @name))
  body: (_)? @body) @definition.function
(function_definition
  declarator: (_ (function_declarator declarator: (template_function name: (identifier) @name)))
  body: (_)? @body) @definition.function
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier
      scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
      name: (template_function name: (identifier) @name)))
  body: (_)? @body) @definition.method

(function_definition declarator: (operator_cast) @name body: (_)? @body) @definition.method
(function_definition
  declarator: (qualified_identifier
    scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
    name: (operator_cast) @name)
  body: (_)? @body) @definition.method
(function_definition
  declarator: (qualified_identifier
    scope: (_) @scope
    name: (qualified_identifier
      scope: [(namespace_identifier) @scope (template_type name: (_) @scope)]
      name: (operator_cast) @name))
  body: (_)? @body) @definition.method

(declaration
  declarator: (function_declarator declarator: [(identifier) (operator_name) (destructor_name)] @name))
  @definition.function
(declaration
  declarator: (_ (function_declarator declarator: [(identifier) (operator_name)] @name))) @definition.function
(declaration declarator: (operator_cast) @name) @definition.method
(field_declaration
  declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)) @definition.method
(field_declaration
  declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @definition.method

(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name value: (_)? @body) @definition.macro

(field_declaration
  (storage_class_specifier "static")
  (type_qualifier ["const" "constexpr"])
  declarator: (field_identifier) @name) @definition.constant
(field_declaration
  declarator: [
    (field_identifier) @name
    (reference_declarator (field_identifier) @name)
    (array_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
    (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))
  ]) @definition.variable
(declaration
  (type_qualifier ["const" "constexpr"])
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
(call_expression function: (qualified_identifier name: (identifier) @reference.call))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @reference.call)))
(template_function name: (identifier) @reference.call)
(template_method name: (field_identifier) @reference.call)
(new_expression type: (type_identifier) @reference.call)

(type_identifier) @reference.type
(qualified_identifier scope: (namespace_identifier) @reference.value)
(qualified_identifier name: (identifier) @reference.value)
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
[
  (function_definition) (compound_statement) (lambda_expression) (for_statement) (for_range_loop) (catch_clause)
] @local.scope
(field_declaration_list) @local.barrier
(optional_parameter_declaration declarator: (identifier) @local.value)
(parameter_declaration declarator: (reference_declarator (identifier) @local.value))
(init_declarator declarator: (reference_declarator (identifier) @local.value))
(for_range_loop declarator: (identifier) @local.value)
(for_range_loop declarator: (reference_declarator (identifier) @local.value))
(structured_binding_declarator (identifier) @local.value)
