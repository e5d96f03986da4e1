; HCL, above all Terraform: a block is a symbol by its last label, the labels before it are its owners.

((body
  (block
    . (identifier) @_kind
    . (string_lit (template_literal) @scope)
    . (string_lit (template_literal) @name)
    . (block_start) @body) @definition.class)
  (#eq? @_kind "resource"))
((body
  (block
    . (identifier) @scope @_kind
    . (string_lit (template_literal) @scope)
    . (string_lit (template_literal) @name)
    . (block_start) @body) @definition.class)
  (#any-of? @_kind "data" "ephemeral"))
((body (block . (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) @body) @definition.module)
  (#any-of? @_kind "module" "provider"))
((body (block . (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) @body) @definition.variable)
  (#any-of? @_kind "variable" "output"))
((body (block . (identifier) @_kind (body (attribute . (identifier) @name) @definition.constant)))
  (#any-of? @_kind "locals" "inputs"))
(config_file
  (body
    (block
      . (identifier)
      . (string_lit (template_literal) @scope)
      . (string_lit (template_literal) @name)
      . (block_start) @body) @definition.class))
(config_file
  (body (block . (identifier) . (string_lit (template_literal) @name) . (block_start) @body) @definition.class))
(config_file (body (attribute . (identifier) @name) @definition.variable))

((body
  (block
    . (identifier) @_kind
    (body
      (attribute
        . (identifier) @_source
        (expression (literal_value (string_lit (template_literal) @reference.import)))))))
  (#any-of? @_kind "module" "terraform" "include")
  (#any-of? @_source "source" "path"))

(function_call . (identifier) @reference.call)

(expression
  . (variable_expr (identifier) @_space)
  . (get_attr (identifier) @reference.type)
  (#not-match? @_space "^(data|each|self|count|path|terraform|ephemeral)$"))
(expression
  . (variable_expr (identifier) @_space)
  . (get_attr)
  . (get_attr (identifier) @reference.type)
  (#eq? @_space "data"))
