; Ruby: attr_* are variables of their class; `X = Struct.new … do` and `X = Class.new(…)` are classes.

(module name: (constant) @name body: (_)? @body) @definition.module
(module name: (scope_resolution scope: (_) @scope name: (constant) @name) body: (_)? @body) @definition.module
(class name: (constant) @name body: (_)? @body) @definition.class
(class name: (scope_resolution scope: (_) @scope name: (constant) @name) body: (_)? @body) @definition.class
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_receiver
    method: (identifier) @_method
    block: (_)? @body)
  (#any-of? @_receiver "Struct" "Class" "Data")
  (#any-of? @_method "new" "define")) @definition.class
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_receiver
    method: (identifier) @_method
    block: (_)? @body)
  (#eq? @_receiver "Module")
  (#eq? @_method "new")) @definition.module

(method name: (setter) @name body: (_)? @body) @definition.function
(method name: (_) @name body: (_)? @body) @definition.function
(singleton_method name: (_) @name body: (_)? @body) @definition.function
(call
  method: (identifier) @_method
  arguments: (argument_list . (simple_symbol) @name)
  block: (_)? @body
  (#any-of? @_method "define_method" "define_singleton_method")) @definition.function
(alias name: (identifier) @name) @definition.function
(call
  method: (identifier) @_method
  arguments: (argument_list . (simple_symbol) @name)
  (#eq? @_method "alias_method")) @definition.function
(call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list . [
    (simple_symbol) @name
    (pair key: [(simple_symbol) (hash_key_symbol)] @name)
    (string (string_content) @name)
  ])
  block: (_)? @body
  (#eq? @_method "task")) @definition.function

(call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list . (simple_symbol) @name .)
  (#any-of? @_method
    "attr_accessor" "attr_reader" "attr_writer" "class_attribute" "cattr_accessor" "cattr_reader" "mattr_accessor"
    "mattr_reader" "thread_mattr_accessor")) @definition.variable
; Of several names in one call each is its own place.
(call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list (simple_symbol) @name @definition.variable)
  (#any-of? @_method
    "attr_accessor" "attr_reader" "attr_writer" "class_attribute" "cattr_accessor" "cattr_reader" "mattr_accessor"
    "mattr_reader" "thread_mattr_accessor"))
(assignment left: (constant) @name) @definition.constant
(assignment left: (left_assignment_list (constant) @name)) @definition.constant
(operator_assignment left: (constant) @name) @definition.constant
(program (assignment left: (global_variable) @name) @definition.variable)

(call
  method: (identifier) @_method
  arguments: (argument_list . (string (string_content) @reference.import))
  (#any-of? @_method "require" "require_relative" "load" "require_dependency" "import"))
(call
  method: (identifier) @_method
  arguments: (argument_list (_) . (string (string_content) @reference.import))
  (#eq? @_method "autoload"))

(call
  method: (identifier) @reference.call
  (#not-match? @reference.call "^(require(_relative)?|load|autoload|attr_[a-z]+|private|protected|public)$"))
(call method: (constant) @reference.call)

(superclass (constant) @reference.type)
(superclass (scope_resolution name: (constant) @reference.type))
(call receiver: (constant) @reference.type)
(call receiver: (scope_resolution name: (constant) @reference.type))
(argument_list (constant) @reference.type)
(argument_list (scope_resolution name: (constant) @reference.type))
(exceptions (constant) @reference.type)
(exceptions (scope_resolution name: (constant) @reference.type))
(constant) @reference.value

; Local names: a variable hides no method that is called with arguments.
[(method) (singleton_method) (lambda) (block) (do_block)] @local.scope
[(class) (module)] @local.barrier
(method_parameters (identifier) @local.object)
(lambda_parameters (identifier) @local.object)
(block_parameters (identifier) @local.object)
(optional_parameter name: (identifier) @local.object)
(keyword_parameter name: (identifier) @local.object)
(splat_parameter name: (identifier) @local.object)
(block_parameter name: (identifier) @local.object)
(destructured_parameter (identifier) @local.object)
(assignment left: (identifier) @local.object)
(left_assignment_list (identifier) @local.object)
(exception_variable (identifier) @local.object)
