; Dart: the body of a function stands behind its signature. Fields are variables, mixins traits.

(class_definition name: (identifier) @name body: (_) @body) @definition.class
(mixin_declaration (identifier) @name (class_body) @body) @definition.trait
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_constant name: (identifier) @name) @definition.constant
(extension_declaration name: (identifier) @name body: (_) @body) @definition.class
(extension_type_declaration name: (identifier) @name) @definition.class
(type_alias . (type_identifier) @name) @definition.type

(program ((function_signature name: (identifier) @name) @definition.function . (function_body) @body))
(program ((getter_signature name: (identifier) @name) @definition.function . (function_body) @body))
(program ((setter_signature name: (identifier) @name) @definition.function . (function_body) @body))

((method_signature [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (operator_signature [(binary_operator) "[]" "[]=" "~"] @name)
  (constructor_signature name: (identifier) name: (identifier) @name)
  (constructor_signature . name: (identifier) @name . parameters: (_))
  (factory_constructor_signature . (identifier) . (identifier) @name)
  (factory_constructor_signature . (identifier) @name . (formal_parameter_list))
]) @definition.method . (function_body) @body)
(declaration [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (operator_signature [(binary_operator) "[]" "[]=" "~"] @name)
  (constructor_signature name: (identifier) name: (identifier) @name)
  (constructor_signature . name: (identifier) @name . parameters: (_))
  (constant_constructor_signature (const_builtin) . (identifier) . (identifier) @name)
  (constant_constructor_signature (const_builtin) . (identifier) @name . (formal_parameter_list))
  (redirecting_factory_constructor_signature . (identifier) . (identifier) @name)
]) @definition.method

(declaration (const_builtin) (static_final_declaration_list (static_final_declaration . (identifier) @name)))
  @definition.constant
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @definition.variable
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @definition.variable
(program ((const_builtin) (type_identifier)? . (static_final_declaration_list
  (static_final_declaration . (identifier) @name)) @definition.constant))
(program (static_final_declaration_list (static_final_declaration . (identifier) @name)) @definition.variable)
(program (initialized_identifier_list (initialized_identifier . (identifier) @name)) @definition.variable)

(configurable_uri (uri) @reference.import)
(part_directive (uri) @reference.import)
(part_of_directive (uri) @reference.import)

(_ (identifier) @reference.call . (selector (argument_part)))
(_
  (selector [
    (unconditional_assignable_selector (identifier) @reference.call)
    (conditional_assignable_selector (identifier) @reference.call)
  ])
  . (selector (argument_part)))
(cascade_section (cascade_selector (identifier) @reference.call) . (argument_part))
(new_expression (type_identifier) @reference.call)
(const_object_expression (type_identifier) @reference.call)
(annotation name: (identifier) @reference.call)

(type_identifier) @reference.type
