; C#: properties and events are variables of their class, records are classes, plain fields are left out.

(namespace_declaration name: (_) @name body: (_) @body) @definition.module
(file_scoped_namespace_declaration name: (_) @name) @definition.module

(class_declaration name: (identifier) @name body: (_)? @body) @definition.class
(record_declaration "struct" name: (identifier) @name body: (_)? @body) @definition.struct
(record_declaration name: (identifier) @name body: (_)? @body) @definition.class
(struct_declaration name: (identifier) @name body: (_)? @body) @definition.struct
(interface_declaration name: (identifier) @name body: (_)? @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_)? @body) @definition.enum
(enum_member_declaration name: (identifier) @name) @definition.constant
(delegate_declaration name: (identifier) @name) @definition.type

(method_declaration name: (identifier) @name body: (_)? @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_)? @body) @definition.method
(operator_declaration operator: _ @name body: (_)? @body) @definition.method
(local_function_statement name: (identifier) @name body: (_)? @body) @definition.function

(field_declaration
  (modifier) @_modifier
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#any-of? @_modifier "const" "readonly")) @definition.constant
(property_declaration name: (identifier) @name [accessors: (_) value: (_)] @body) @definition.variable
(event_declaration name: (identifier) @name accessors: (_)? @body) @definition.variable
(event_field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @definition.variable

(using_directive name: (identifier) [(identifier) (qualified_name) (alias_qualified_name)] @reference.import)
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @reference.import)

(invocation_expression function: (identifier) @reference.call)
(invocation_expression function: (generic_name (identifier) @reference.call))
(invocation_expression function: (member_access_expression name: (identifier) @reference.call))
(invocation_expression function: (member_access_expression name: (generic_name (identifier) @reference.call)))
(invocation_expression
  function: (conditional_access_expression (member_binding_expression name: (identifier) @reference.call)))
(invocation_expression
  function: (conditional_access_expression
    (member_binding_expression name: (generic_name (identifier) @reference.call))))
(object_creation_expression type: (identifier) @reference.call)
(object_creation_expression type: (generic_name (identifier) @reference.call))
(object_creation_expression type: (qualified_name name: (identifier) @reference.call))

(base_list (identifier) @reference.type)
(base_list (qualified_name name: (identifier) @reference.type))
(base_list (primary_constructor_base_type type: (identifier) @reference.type))
(generic_name (identifier) @reference.type)
(type_argument_list (identifier) @reference.type)
(parameter type: (identifier) @reference.type)
(method_declaration returns: (identifier) @reference.type)
(property_declaration type: (identifier) @reference.type)
(variable_declaration type: (identifier) @reference.type)
(nullable_type type: (identifier) @reference.type)
(array_type type: (identifier) @reference.type)
(cast_expression type: (identifier) @reference.type)
(as_expression right: (identifier) @reference.type)
(typeof_expression type: (identifier) @reference.type)
(type_parameter_constraint type: (identifier) @reference.type)
(declaration_pattern type: (identifier) @reference.type)
(catch_declaration type: (identifier) @reference.type)
(attribute name: (identifier) @reference.type)
(member_access_expression expression: (identifier) @reference.value)
(member_access_expression name: (identifier) @reference.value)

; Local names.
[
  (method_declaration) (constructor_declaration) (local_function_statement) (lambda_expression) (block)
  (foreach_statement) (for_statement) (using_statement) (catch_clause) (class_declaration) (interface_declaration)
] @local.scope
(parameter name: (identifier) @local.value)
(implicit_parameter) @local.value
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @local.value)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @local.value)))
(for_statement (variable_declaration (variable_declarator name: (identifier) @local.value)))
(foreach_statement left: (identifier) @local.value)
(catch_declaration name: (identifier) @local.value)
(declaration_pattern name: (identifier) @local.value)
(declaration_expression name: (identifier) @local.value)
(type_parameter name: (identifier) @local.type)
