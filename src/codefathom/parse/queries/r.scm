; R: functions are values of names; S4, reference and R6 classes are calls.

(binary_operator
  lhs: [(identifier) (string (string_content))] @name
  operator: ["<-" "<<-" "=" ":="]
  rhs: (function_definition body: (_) @body)) @definition.function

(binary_operator
  lhs: (identifier) @name
  operator: ["<-" "="]
  rhs: (call
    function: [(identifier) @_make (namespace_operator rhs: (identifier) @_make)]
    arguments: (_) @body)
  (#any-of? @_make "R6Class" "setRefClass" "setClass" "new_class" "ggproto")) @definition.class
(program
  (call
    function: (identifier) @_make
    arguments: (arguments . (argument value: (string content: (_) @name)))
    (#any-of? @_make "setClass" "setRefClass" "setClassUnion")) @definition.class)
(program
  (call
    function: (identifier) @_make
    arguments: (arguments . (argument value: (string content: (_) @name)))
    (#any-of? @_make "setGeneric" "setValidity")) @definition.function)
(program
  (call
    function: (identifier) @_make
    arguments: (arguments
      . (argument value: (string content: (_) @name))
      . (comma)
      . (argument value: (string content: (_) @scope)))
    (#eq? @_make "setMethod")) @definition.method)
(call
  function: [(identifier) @_make (namespace_operator rhs: (identifier) @_make)]
  arguments: (arguments
    (argument
      value: (call
        arguments: (arguments
          (argument name: (identifier) @name value: (function_definition body: (_) @body)) @definition.method))))
  (#any-of? @_make "R6Class" "setRefClass"))

(program
  (binary_operator
    lhs: (identifier) @name
    operator: ["<-" "="]
    rhs: (_)) @definition.variable)

(call
  function: (identifier) @_function
  arguments: (arguments . (argument value: [(string content: (_) @reference.import) (identifier) @reference.import]))
  (#any-of? @_function "library" "require" "requireNamespace" "loadNamespace" "source" "sys.source"))

(call
  function: (identifier) @reference.call
  (#not-match? @reference.call "^(library|require|requireNamespace|loadNamespace|source|sys\\.source)$"))
(call function: (namespace_operator rhs: (identifier) @reference.call))
(call function: (extract_operator rhs: (identifier) @reference.call))
