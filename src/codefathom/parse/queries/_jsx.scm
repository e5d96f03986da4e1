; Components: what has a capital, and returns an element in the end.

(function_declaration
  name: (identifier) @name
  body: (statement_block
    (return_statement [
      (jsx_element)
      (jsx_self_closing_element)
      (parenthesized_expression [(jsx_element) (jsx_self_closing_element)])
      (ternary_expression)
    ] @_returned)) @body
  (#match? @name "^[A-Z]")
  (#match? @_returned "<")) @definition.component
(lexical_declaration
  (variable_declarator
    name: (identifier) @name
    value: [
      (arrow_function body: [(jsx_element) (jsx_self_closing_element)] @body)
      (arrow_function
        body: (parenthesized_expression [(jsx_element) (jsx_self_closing_element)]) @body)
      (arrow_function
        body: (statement_block
          (return_statement [
            (jsx_element)
            (jsx_self_closing_element)
            (parenthesized_expression [(jsx_element) (jsx_self_closing_element)])
          ])) @body)
      (call_expression
        arguments: (arguments
          . [
            (arrow_function body: [(jsx_element) (jsx_self_closing_element)] @body)
            (arrow_function
              body: (parenthesized_expression [(jsx_element) (jsx_self_closing_element)]) @body)
            (arrow_function
              body: (statement_block
                (return_statement [
                  (jsx_element)
                  (jsx_self_closing_element)
                  (parenthesized_expression [(jsx_element) (jsx_self_closing_element)])
                ])) @body)
            (function_expression
              body: (statement_block
                (return_statement [
                  (jsx_element)
                  (jsx_self_closing_element)
                  (parenthesized_expression [(jsx_element) (jsx_self_closing_element)])
                ])) @body)
          ]))
    ])
  (#match? @name "^[A-Z]")) @definition.component
(class_declaration
  name: (_) @name
  (class_heritage) @_heritage
  body: (_) @body
  (#match? @_heritage "\\b(Pure)?Component\\b")) @definition.component

(jsx_opening_element name: (identifier) @reference.call (#match? @reference.call "^[A-Z]"))
(jsx_opening_element name: (member_expression property: (property_identifier) @reference.call))
(jsx_self_closing_element name: (identifier) @reference.call (#match? @reference.call "^[A-Z]"))
(jsx_self_closing_element name: (member_expression property: (property_identifier) @reference.call))
