; What TypeScript adds.

(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_body name: (_) @name @definition.constant)
(enum_assignment name: (_) @name) @definition.constant
(type_alias_declaration name: (_) @name value: (object_type) @body) @definition.type
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name body: (_)? @body) @definition.module
(module name: (_) @name body: (_)? @body) @definition.module

(function_signature name: (identifier) @name) @definition.function
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method

(public_field_definition
  name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition name: (_) @name) @definition.variable
(ambient_declaration
  (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)

(import_require_clause source: (string) @reference.import)

(type_identifier) @reference.type
(extends_clause value: (identifier) @reference.type)
(extends_clause value: (member_expression property: (property_identifier) @reference.type))

[(interface_declaration) (type_alias_declaration) (class_declaration) (abstract_class_declaration)] @local.scope
(type_parameter name: (type_identifier) @local.type)
(required_parameter pattern: (identifier) @local.value)
(optional_parameter pattern: (identifier) @local.value)
