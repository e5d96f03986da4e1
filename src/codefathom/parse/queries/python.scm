; Python: in the body of a class every assignment counts, elsewhere only those of the module.

(class_definition
  name: (identifier) @name
  body: (block . (expression_statement (string (string_content) @doc))) @body) @definition.class
(class_definition name: (identifier) @name body: (_) @body) @definition.class

(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string (string_content) @doc))) @body) @definition.function
(function_definition name: (identifier) @name body: (_) @body) @definition.function

(type_alias_statement left: (type (identifier) @name)) @definition.type
(type_alias_statement left: (type (generic_type . (identifier) @name))) @definition.type
(module
  (expression_statement
    (assignment left: (identifier) @name type: (type) @_type) @definition.type
    (#match? @_type "TypeAlias$")))

(module
  (expression_statement (assignment left: (identifier) @name) @definition.constant
    (#match? @name "^_*[A-Z][A-Z0-9_]*$")))
(module
  (expression_statement (assignment left: (pattern_list (identifier) @name)) @definition.constant
    (#match? @name "^_*[A-Z][A-Z0-9_]*$")))
(module (expression_statement (assignment left: (identifier) @name) @definition.variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @definition.variable))
(module
  (if_statement
    (block (expression_statement (assignment left: (identifier) @name) @definition.variable))))
(module
  (try_statement
    (block (expression_statement (assignment left: (identifier) @name) @definition.variable))))

(class_definition
  body: (block
    (expression_statement (assignment left: (identifier) @name) @definition.constant)
    (#match? @name "^_*[A-Z][A-Z0-9_]*$")))
(class_definition
  body: (block (expression_statement (assignment left: (identifier) @name) @definition.variable)))

(import_statement name: (dotted_name) @reference.import)
(import_statement name: (aliased_import name: (dotted_name) @reference.import))
(import_from_statement module_name: (_) @import.module)
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import name: (dotted_name) @import.name))

(call function: (identifier) @reference.call)
(call function: (attribute attribute: (identifier) @reference.call))
(decorator (identifier) @reference.call)
(decorator (attribute attribute: (identifier) @reference.call))

(class_definition superclasses: (argument_list (identifier) @reference.type))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @reference.type)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @reference.type)))
(type (identifier) @reference.type)
(type (attribute attribute: (identifier) @reference.type))
(type (generic_type (identifier) @reference.type))
(type (subscript value: (identifier) @reference.type))
(type (binary_operator (identifier) @reference.type))
(type (binary_operator (attribute attribute: (identifier) @reference.type)))
(type (string (string_content) @reference.type (#match? @reference.type "^[A-Za-z_][A-Za-z0-9_]*$")))
(except_clause value: (identifier) @reference.type)
(except_clause value: (as_pattern (identifier) @reference.type))

(attribute object: (identifier) @reference.value)
(attribute attribute: (identifier) @reference.value)
(argument_list (identifier) @reference.value)
(keyword_argument value: (identifier) @reference.value)
(pair value: (identifier) @reference.value)
(list (identifier) @reference.value)
(tuple (identifier) @reference.value)
(assignment right: (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(binary_operator (identifier) @reference.value)
(comparison_operator (identifier) @reference.value)
(subscript (identifier) @reference.value)
(if_statement condition: (identifier) @reference.value)
(elif_clause condition: (identifier) @reference.value)
(while_statement condition: (identifier) @reference.value)
(conditional_expression (identifier) @reference.value)
(boolean_operator (identifier) @reference.value)
(not_operator argument: (identifier) @reference.value)
(unary_operator argument: (identifier) @reference.value)
(parenthesized_expression (identifier) @reference.value)
(augmented_assignment right: (identifier) @reference.value)
(named_expression value: (identifier) @reference.value)
(for_statement right: (identifier) @reference.value)
(for_in_clause right: (identifier) @reference.value)
(if_clause (identifier) @reference.value)
(list_comprehension body: (identifier) @reference.value)
(list_splat (identifier) @reference.value)
(dictionary_splat (identifier) @reference.value)
(set (identifier) @reference.value)
(slice (identifier) @reference.value)
(interpolation expression: (identifier) @reference.value)
(with_item value: (identifier) @reference.value)
(raise_statement (identifier) @reference.value)
(assert_statement (identifier) @reference.value)
(await (identifier) @reference.value)
(yield (identifier) @reference.value)
(lambda body: (identifier) @reference.value)
(match_statement subject: (identifier) @reference.value)
(expression_list (identifier) @reference.value)
(default_parameter value: (identifier) @reference.value)
(typed_default_parameter value: (identifier) @reference.value)

; Local names. An assignment anywhere in a function makes a name local in all of it; a class keeps its names to itself.
[(function_definition) (lambda)] @local.scope
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @local.scope
(class_definition) @local.barrier
(parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_parameter . (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(list_splat_pattern (identifier) @local)
(dictionary_splat_pattern (identifier) @local)
(assignment left: (identifier) @local)
(pattern_list (identifier) @local)
(tuple_pattern (identifier) @local)
(list_pattern (identifier) @local)
(for_statement left: (identifier) @local)
(for_in_clause left: (identifier) @local)
(as_pattern_target (identifier) @local)
(as_pattern_target (tuple (identifier) @local))
(named_expression name: (identifier) @local)
(case_pattern (dotted_name . (identifier) @local .))
(global_statement (identifier) @local.outer)
(import_statement name: (dotted_name . (identifier) @local.outer))
(import_from_statement name: (dotted_name . (identifier) @local.outer))
(aliased_import alias: (identifier) @local.outer)
