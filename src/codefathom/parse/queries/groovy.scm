; Groovy: its grammar knows neither traits nor enums nor constructors, which are read as what it takes them for.

(class_definition "interface" name: (identifier) @name body: (_) @body) @definition.interface
(class_definition name: (identifier) @name body: (_) @body) @definition.class
((identifier) @definition.trait
  . (identifier) @name
  . (closure) @body
  (#eq? @definition.trait "trait"))
((identifier) @definition.enum
  . (identifier) @name
  . (closure) @body
  (#eq? @definition.enum "enum"))

(function_definition function: [(identifier) (quoted_identifier)] @name body: (_) @body) @definition.function
(function_declaration function: [(identifier) (quoted_identifier)] @name) @definition.function
(class_definition
  name: (identifier) @_class
  body: (closure
    (function_call
      function: (identifier) @name
      args: (argument_list (closure) @body .)) @definition.method)
  (#eq? @_class @name))

((identifier) @_task
  . (function_call function: (identifier) @name args: (argument_list (closure) @body .)) @definition.function
  (#eq? @_task "task"))
((function_call
  function: (dotted_identifier (identifier) @_tasks (identifier) @_make)
  args: (argument_list . (string (string_content) @name))) @definition.function
  (#eq? @_tasks "tasks")
  (#any-of? @_make "register" "create"))

(class_definition
  body: (closure
    (declaration (modifier) @_static (modifier) @_final name: (identifier) @name) @definition.constant)
  (#eq? @_static "static")
  (#eq? @_final "final"))
(class_definition body: (closure (declaration name: (identifier) @name) @definition.variable))
(source_file (declaration name: (identifier) @name) @definition.variable)

(groovy_doc) @margin.comment

(groovy_import import: (_) @reference.import)
((juxt_function_call
  function: (identifier) @_apply
  args: (argument_list
    (map_item key: (identifier) @_from value: (string (string_content) @reference.import))))
  (#eq? @_apply "apply")
  (#any-of? @_from "from" "plugin"))

(function_call function: (identifier) @reference.call)
(function_call function: (dotted_identifier (identifier) @reference.call .))
(juxt_function_call function: (identifier) @reference.call)
(juxt_function_call function: (dotted_identifier (identifier) @reference.call .))

(class_definition superclass: (identifier) @reference.type)
(class_definition (ERROR (identifier) @reference.type) (#not-eq? @reference.type "implements"))
(declaration type: (identifier) @reference.type)
(parameter type: (identifier) @reference.type)
(function_definition type: (identifier) @reference.type)
(function_declaration type: (identifier) @reference.type)
(type_with_generics (identifier) @reference.type)
(generics (identifier) @reference.type)
(annotation (identifier) @reference.type)
