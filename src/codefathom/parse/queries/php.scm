; PHP: promoted constructor parameters are left out.

(namespace_definition name: (_) @name body: (_)? @body) @definition.module

(class_declaration name: (name) @name body: (_) @body) @definition.class
(trait_declaration name: (name) @name body: (_) @body) @definition.trait
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(enum_declaration name: (name) @name body: (_) @body) @definition.enum
(enum_case name: (name) @name) @definition.constant
(function_definition name: (name) @name body: (_) @body) @definition.function
(method_declaration name: (name) @name body: (_)? @body) @definition.method

(const_declaration (const_element . (name) @name)) @definition.constant
(function_call_expression
  function: (name) @_function
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_function "define")) @definition.constant
(property_declaration (property_element name: (variable_name (name) @name))) @definition.variable

(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @reference.import))
(namespace_use_declaration
  (namespace_name) @import.module
  body: (namespace_use_group (namespace_use_clause . (_) @import.name)))
(include_expression (_) @reference.import)
(include_once_expression (_) @reference.import)
(require_expression (_) @reference.import)
(require_once_expression (_) @reference.import)

(function_call_expression function: (name) @reference.call)
(function_call_expression function: (qualified_name (name) @reference.call .))
(member_call_expression name: (name) @reference.call)
(nullsafe_member_call_expression name: (name) @reference.call)
(scoped_call_expression name: (name) @reference.call)
(object_creation_expression (name) @reference.call)
(object_creation_expression (qualified_name (name) @reference.call .))

(base_clause (name) @reference.type)
(base_clause (qualified_name (name) @reference.type .))
(class_interface_clause (name) @reference.type)
(class_interface_clause (qualified_name (name) @reference.type .))
(use_declaration (name) @reference.type)
(use_declaration (qualified_name (name) @reference.type .))
(named_type (name) @reference.type)
(named_type (qualified_name (name) @reference.type .))
(scoped_call_expression scope: (name) @reference.type)
(scoped_call_expression scope: (qualified_name (name) @reference.type .))
(class_constant_access_expression . (name) @reference.type)
(class_constant_access_expression . (qualified_name (name) @reference.type .))
(scoped_property_access_expression scope: (name) @reference.type)
(binary_expression operator: "instanceof" right: (name) @reference.type)
(attribute (name) @reference.type)
(class_constant_access_expression (name) @reference.value .)
