; Haskell: a signature and the equations below it are one symbol (see clauses.py); an instance is named by its class.

; The doc of the first declaration stands outside the declarations.
(haskell
  [(haddock) @doc (imports (haddock) @doc .) (header (haddock) @doc .)]
  .
  (declarations . (signature name: (variable) @name) @definition.function))
(haskell
  [(haddock) @doc (imports (haddock) @doc .)]
  .
  (declarations . (data_type name: (name) @name) @definition.type))
(declarations (signature name: (variable) @name) @definition.function)
(declarations (signature names: (binding_list name: (variable) @name)) @definition.function)
(declarations (signature name: (prefix_id (operator) @name)) @definition.function)
(declarations (function name: (variable) @name) @definition.function)
(declarations (function name: (prefix_id (operator) @name)) @definition.function)
(declarations (function (infix operator: (operator) @name)) @definition.function)
(declarations (function (infix operator: (infix_id (variable) @name))) @definition.function)
(declarations (bind name: (variable) @name) @definition.function)
(declarations (bind name: (prefix_id (operator) @name)) @definition.function)
(declarations (foreign_import signature: (signature name: (variable) @name)) @definition.function)
(declarations (pattern_synonym (equation synonym: (apply function: (constructor) @name))) @definition.function)

(data_type name: (name) @name) @definition.type
(newtype name: (name) @name) @definition.type
(type_synomym name: (name) @name) @definition.type
(declarations (type_family name: (name) @name) @definition.type)
(declarations (data_family name: (name) @name) @definition.type)
(class name: (name) @name declarations: (_)? @body) @definition.class
(class_declarations (signature name: (variable) @name) @definition.method)
(class_declarations (signature names: (binding_list name: (variable) @name)) @definition.method)
(class_declarations (signature name: (prefix_id (operator) @name)) @definition.method)
(class_declarations (function name: (variable) @name) @definition.method)
(class_declarations (bind name: (variable) @name) @definition.method)
(instance
  name: [(name) @name (qualified id: (name) @name)]
  patterns: (type_patterns . [
    (name) @scope
    (qualified id: (name) @scope)
    (parens (apply constructor: (name) @scope))
    (parens (apply constructor: (qualified id: (name) @scope)))
    (parens (apply constructor: (apply constructor: (name) @scope)))
  ])
  declarations: (_)? @body) @definition.class
(instance name: [(name) @name (qualified id: (name) @name)] declarations: (_)? @body) @definition.class
(instance_declarations (function name: (variable) @name) @definition.method)
(instance_declarations (function name: (prefix_id (operator) @name)) @definition.method)
(instance_declarations (function (infix operator: (operator) @name)) @definition.method)
(instance_declarations (bind name: (variable) @name) @definition.method)

(import module: (module) @reference.import)

(apply function: (variable) @reference.call)
(apply function: (qualified id: (variable) @reference.call))
(apply function: (constructor) @reference.call)
(apply function: (qualified id: (constructor) @reference.call))
(infix left_operand: (variable) @reference.call operator: (operator) @_operator
  (#any-of? @_operator "$" "." "<$>" "$!" "<*>" ">>=" "=<<" "<=<" ">=>" ">>"))
(infix operator: (operator) @_operator right_operand: (variable) @reference.call
  (#any-of? @_operator "." ">>=" "<=<" ">=>" "&" "<&>" ">>"))
(infix_id (variable) @reference.call)
(exp (variable) @reference.call)

(instance name: (name) @reference.type)
(name) @reference.type
