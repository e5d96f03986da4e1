; OCaml, also its interfaces: values with parameters are functions, other values of a module constants.

(module_definition (module_binding (module_name) @name body: (structure)? @body)) @definition.module
(module_type_definition (module_type_name) @name body: (_)? @body) @definition.interface
(type_definition . (type_binding name: (_) @name) .) @definition.type
(type_definition (type_binding name: (_) @name) @definition.type)
(exception_definition (constructor_declaration (constructor_name) @name)) @definition.type

(class_definition . (class_binding (class_name) @name body: (_)? @body) .) @definition.class
(class_definition (class_binding (class_name) @name body: (_)? @body) @definition.class)
(class_type_definition (class_type_binding (class_type_name) @name)) @definition.interface
(method_definition (method_name) @name body: (_)? @body) @definition.method
(method_specification (method_name) @name) @definition.method
(instance_variable_definition (instance_variable_name) @name) @definition.variable

(value_definition
  . (let_binding pattern: [(value_name) @name (parenthesized_operator (_) @name)] . (parameter) body: (_) @body)
  .) @definition.function
(value_definition (let_binding pattern: (parenthesized_operator (_) @name) body: (_) @body)) @definition.function
(value_definition
  . (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)] @body)
  .) @definition.function
(value_definition
  (let_binding
    pattern: [(value_name) @name (parenthesized_operator (_) @name)]
    . (parameter)
    body: (_) @body) @definition.function)
(value_definition
  (let_binding
    pattern: (value_name) @name
    body: [(fun_expression) (function_expression)] @body) @definition.function)
(compilation_unit (value_definition (let_binding pattern: (value_name) @name)) @definition.constant)
(structure (value_definition (let_binding pattern: (value_name) @name)) @definition.constant)

(value_specification
  [(value_name) @name (parenthesized_operator (_) @name)]
  type: [(function_type) (polymorphic_type (function_type))]) @definition.function
(value_specification (value_name) @name) @definition.constant
(external [(value_name) @name (parenthesized_operator (_) @name)]) @definition.function

(open_module module: (_) @reference.import)
(include_module module: (module_path) @reference.import)
(module_binding body: (module_path) @reference.import)

(application_expression function: (value_path (value_name) @reference.call))
(new_expression (class_path (class_name) @reference.call))
(method_invocation method: (method_name) @reference.call)
(infix_expression
  operator: (_) @_operator
  right: (value_path (value_name) @reference.call)
  (#eq? @_operator "|>"))
(infix_expression
  left: (value_path (value_name) @reference.call)
  operator: (_) @_operator
  (#eq? @_operator "@@"))

(type_constructor_path (type_constructor) @reference.type)
(module_type_path (module_type_name) @reference.type)
