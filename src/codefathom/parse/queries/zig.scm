; Zig: a type is a constant that holds a container; `const x = @import(…)` is an import and no constant.

(variable_declaration . (identifier) @name [(struct_declaration) (opaque_declaration)] @body) @definition.struct
(variable_declaration . (identifier) @name (union_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration) @body) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration) @body) @definition.enum

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(test_declaration [(string (string_content) @name) (identifier) @name] (block) @body) @definition.function

(source_file
  (variable_declaration "const" . (identifier) @name . (_) @_value (#not-match? @_value "^@(import|This)"))
  @definition.constant)
(struct_declaration
  (variable_declaration "const" . (identifier) @name . (_) @_value (#not-match? @_value "^@(import|This)"))
  @definition.constant)
(enum_declaration
  (variable_declaration "const" . (identifier) @name . (_) @_value (#not-match? @_value "^@(import|This)"))
  @definition.constant)
(union_declaration
  (variable_declaration "const" . (identifier) @name . (_) @_value (#not-match? @_value "^@(import|This)"))
  @definition.constant)
(source_file (variable_declaration "var" . (identifier) @name) @definition.variable)
(struct_declaration (variable_declaration "var" . (identifier) @name) @definition.variable)

(builtin_function
  (builtin_identifier) @_builtin
  (arguments . (string (string_content) @reference.import))
  (#any-of? @_builtin "@import" "@cImport" "@cInclude" "@embedFile"))

(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression member: (identifier) @reference.call))
(struct_initializer . (identifier) @reference.call)

(parameter type: (identifier) @reference.type)
(parameter type: (pointer_type (identifier) @reference.type))
(function_declaration type: (identifier) @reference.type)
(function_declaration type: (error_union_type ok: (identifier) @reference.type))
(container_field type: (identifier) @reference.type)
(variable_declaration type: (identifier) @reference.type)
