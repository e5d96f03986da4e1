; PowerShell: names have neither $ nor script: in front (see clauses.py).

(function_statement (function_name) @name (script_block)? @body) @definition.function
(class_statement . (simple_name) @name) @definition.class
(enum_statement . (simple_name) @name) @definition.enum
(class_method_definition (simple_name) @name (script_block)? @body) @definition.method
(class_property_definition (variable) @name) @definition.variable
(program
  (statement_list
    (pipeline
      (assignment_expression
        . (left_assignment_expression
          (logical_expression
            (bitwise_expression
              (comparison_expression
                (additive_expression
                  (multiplicative_expression
                    (format_expression
                      (range_expression
                        (array_literal_expression (unary_expression (variable) @name)))))))))))) @definition.variable))

((command
  command_name: (command_name) @_using
  command_elements: (command_elements
    . (command_argument_sep)
    . (generic_token) @_what
    . (command_argument_sep)
    . (generic_token) @reference.import))
  (#match? @_using "^[Uu]sing$")
  (#match? @_what "^([Mm]odule|[Nn]amespace)$"))
((command
  command_name: (command_name) @_import
  command_elements: (command_elements
    . (command_argument_sep)? . [
      (generic_token) @reference.import
      (array_literal_expression (unary_expression (string_literal) @reference.import))
    ]))
  (#match? @_import "^([Ii]mport-[Mm]odule|ipmo)$"))
((command
  (command_invokation_operator) @_source
  command_name: [
    (command_name) @reference.import
    (command_name_expr [(string_literal) (path_command_name)] @reference.import)
  ])
  (#eq? @_source "."))

((command command_name: (command_name) @reference.call)
  (#not-match? @reference.call "^(using|param|Import-Module)$"))
(invokation_expression (member_name (simple_name) @reference.call))

(type_identifier) @reference.type
(class_statement . (simple_name) (simple_name) @reference.type)
