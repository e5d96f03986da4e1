; Scala 2 and 3: objects and givens are classes; a given without a name is left out.

(package_object name: (identifier) @name body: (_) @body) @definition.module
(class_definition name: (_) @name body: (_)? @body) @definition.class
(object_definition name: (_) @name body: (_)? @body) @definition.class
(trait_definition name: (_) @name body: (_)? @body) @definition.trait
(enum_definition name: (_) @name body: (_) @body) @definition.enum
(simple_enum_case name: (_) @name) @definition.constant
(full_enum_case name: (_) @name) @definition.constant
(given_definition name: (_) @name body: (_)? @body) @definition.class
(type_definition name: (type_identifier) @name) @definition.type

(extension_definition
  (parameters . (parameter type: [(type_identifier) @scope (generic_type type: (type_identifier) @scope)]))
  (function_definition name: (_) @name body: (_) @body) @definition.function)
(instance_expression
  (template_body (function_definition name: (_) @name body: (_) @body) @definition.method))
(function_definition name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name) @definition.function

(val_definition pattern: (identifier) @name) @definition.variable
(val_definition pattern: (tuple_pattern (identifier) @name)) @definition.variable
(val_declaration name: (identifier) @name) @definition.variable
(var_definition pattern: (identifier) @name) @definition.variable
(var_declaration name: (identifier) @name) @definition.variable

(import_declaration) @reference.import

(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression field: (identifier) @reference.call))
(call_expression function: (generic_function function: (identifier) @reference.call))
(call_expression function: (generic_function function: (field_expression field: (identifier) @reference.call)))
(instance_expression . (type_identifier) @reference.call)
(instance_expression . (generic_type type: (type_identifier) @reference.call))
(infix_expression operator: (identifier) @reference.call)
(case_class_pattern type: (type_identifier) @reference.type)

(extends_clause (type_identifier) @reference.type)
(generic_type type: (type_identifier) @reference.type)
(generic_type type: (stable_type_identifier (type_identifier) @reference.type))
(type_arguments (type_identifier) @reference.type)
(parameter type: (type_identifier) @reference.type)
(class_parameter type: (type_identifier) @reference.type)
(function_definition return_type: (type_identifier) @reference.type)
(function_declaration return_type: (type_identifier) @reference.type)
(val_definition type: (type_identifier) @reference.type)
(stable_type_identifier (type_identifier) @reference.type)
(annotation name: (type_identifier) @reference.type)
(field_expression value: (identifier) @reference.value)
(field_expression field: (identifier) @reference.value)
