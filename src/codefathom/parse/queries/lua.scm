; Lua: functions in tables belong to the table; `local x = require(…)` is an import and no variable.

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(function_declaration
  name: (dot_index_expression table: (_) @scope field: (identifier) @name)
  body: (_)? @body) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @scope method: (identifier) @name)
  body: (_)? @body) @definition.method
(variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name .)
    (expression_list . value: (function_definition body: (_)? @body) .))) @definition.function
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_)? @body) .)) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @scope field: (identifier) @name) .)
  (expression_list . value: (function_definition body: (_)? @body) .)) @definition.function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function
(field name: (string content: (_) @name) value: (function_definition body: (_)? @body)) @definition.function
; What a function is where there was none.
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (binary_expression right: (function_definition body: (_)? @body)) .)) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @scope field: (identifier) @name) .)
  (expression_list . value: (binary_expression right: (function_definition body: (_)? @body)) .)) @definition.function

(chunk
  (variable_declaration
    (assignment_statement
      (variable_list name: (identifier) @name)
      (expression_list . value: (_) @_value))) @definition.variable
  (#not-match? @_value "^require\\b"))
(chunk
  (assignment_statement
    (variable_list . name: (identifier) @name .)
    (expression_list . value: (_) @_value)) @definition.variable
  (#not-match? @_value "^require\\b"))
(chunk
  (assignment_statement
    (variable_list . name: (dot_index_expression table: (_) @scope field: (identifier) @name) .)
    (expression_list . value: (_) @_value)) @definition.variable
  (#not-match? @_value "^require\\b"))

(function_call
  name: (identifier) @_function
  arguments: (arguments . (string content: (_) @reference.import))
  (#any-of? @_function "require" "dofile" "loadfile"))

(function_call name: (identifier) @reference.call)
(function_call name: (dot_index_expression field: (identifier) @reference.call))
(function_call name: (method_index_expression method: (identifier) @reference.call))

; Local names.
[(function_declaration) (function_definition) (for_statement) (block)] @local.scope
(parameters name: (identifier) @local)
(block local_declaration: (variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
  @local.declaration)
(for_generic_clause (variable_list name: (identifier) @local))
(for_numeric_clause name: (identifier) @local)
