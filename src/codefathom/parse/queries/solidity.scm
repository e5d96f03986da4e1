; Solidity: a contract is a class, so are libraries; errors and events are types.

(contract_declaration name: (identifier) @name body: (_) @body) @definition.class
(library_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(struct_declaration name: (identifier) @name body: (_) @body) @definition.struct
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_value) @name @definition.constant
(error_declaration name: (identifier) @name) @definition.type
(event_definition name: (identifier) @name) @definition.type
(user_defined_type_definition name: (identifier) @name) @definition.type

(function_definition name: (identifier) @name body: (_)? @body) @definition.function
(modifier_definition name: (identifier) @name body: (_)? @body) @definition.function
(constructor_definition "constructor" @name body: (_) @body) @definition.method
(fallback_receive_definition ["fallback" "receive"] @name body: (_)? @body) @definition.method

(constant_variable_declaration name: (identifier) @name) @definition.constant
(state_variable_declaration ["constant" (immutable)] name: (identifier) @name) @definition.constant
(state_variable_declaration name: (identifier) @name) @definition.variable

(import_directive source: (string) @reference.import)

(call_expression function: (expression (identifier) @reference.call))
(call_expression function: (expression (member_expression property: (identifier) @reference.call)))
(emit_statement name: (expression (identifier) @reference.call))
(revert_statement error: (expression (identifier) @reference.call))
(modifier_invocation . (identifier) @reference.call)
(new_expression name: (type_name (user_defined_type (identifier) @reference.call .)))

(user_defined_type (identifier) @reference.type .)
(using_directive (type_alias (identifier) @reference.type))
