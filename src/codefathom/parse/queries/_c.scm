; Local names of C and C++.

(parameter_declaration declarator: (identifier) @local.value)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @local.value))
(parameter_declaration
  declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @local.value))))
(declaration) @local.declaration
(declaration declarator: (identifier) @local.value)
(declaration declarator: (pointer_declarator declarator: (identifier) @local.value))
(init_declarator declarator: (identifier) @local.value)
(init_declarator declarator: (pointer_declarator declarator: (identifier) @local.value))
