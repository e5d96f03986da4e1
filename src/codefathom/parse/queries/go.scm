; Go: a method belongs to the type of its receiver; constants and variables count at package level alone.

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @scope
        (generic_type type: (type_identifier) @scope)
        (pointer_type (type_identifier) @scope)
        (pointer_type (generic_type type: (type_identifier) @scope))
      ]))
  name: (field_identifier) @name
  body: (_)? @body) @definition.method

(type_spec name: (type_identifier) @name type: (struct_type (_) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (type_identifier) @name) @definition.type
(type_alias name: (type_identifier) @name) @definition.type
(interface_type (method_elem name: (field_identifier) @name) @definition.method)

; In a group the name stands for itself: the group is no part of one constant.
(source_file (const_declaration "(" (const_spec name: (identifier) @name @definition.constant)))
(source_file (const_declaration (const_spec name: (identifier) @name) @definition.constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @definition.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.variable)))

(import_spec path: (_) @reference.import)

(call_expression function: (identifier) @reference.call)
(call_expression function: (selector_expression field: (field_identifier) @reference.call))
(call_expression function: (index_expression operand: (identifier) @reference.call))
(type_conversion_expression type: (generic_type type: (type_identifier) @reference.call))

(type_identifier) @reference.type
(selector_expression field: (field_identifier) @reference.value)
(argument_list (identifier) @reference.value)
(binary_expression (identifier) @reference.value)
(expression_list (identifier) @reference.value)

; Local names.
[
  (function_declaration) (method_declaration) (func_literal) (type_declaration) (block) (if_statement) (for_statement)
  (expression_switch_statement) (type_switch_statement) (communication_case)
] @local.scope
[(function_type) (interface_type)] @local.barrier
(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(type_parameter_declaration name: (identifier) @local.type)
(range_clause left: (expression_list (identifier) @local)) @local.declaration
(short_var_declaration left: (expression_list (identifier) @local)) @local.declaration
(receive_statement left: (expression_list (identifier) @local)) @local.declaration
(type_switch_statement alias: (expression_list (identifier) @local))
(var_spec name: (identifier) @local) @local.declaration
(const_spec name: (identifier) @local) @local.declaration
