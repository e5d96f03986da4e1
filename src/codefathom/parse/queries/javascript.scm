; inherits: _jsx _ecma

(class_body
  (field_definition
    property: (_) @name
    value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method)
(class_body (field_definition property: (_) @name) @definition.variable)

(class_heritage (identifier) @reference.type)
(class_heritage (member_expression property: (property_identifier) @reference.type))

(formal_parameters (identifier) @local.value)
(formal_parameters (assignment_pattern left: (identifier) @local.value))
