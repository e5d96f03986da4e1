; Shell: functions, assignments at the top level, and sourced files.

(function_definition name: (word) @name body: (_) @body) @definition.function
; A bats test: the grammar sees its first line only as a command.
(command
  name: (command_name (word) @_command)
  .
  argument: (string (string_content) @name)
  (#eq? @_command "@test")) @definition.function

(program
  (declaration_command
    ["readonly" "declare" "typeset" "export"] @_keyword
    (word)? @_option
    (variable_assignment name: (variable_name) @name)
    (#match? @_keyword "^readonly$")) @definition.constant)
(program
  (declaration_command
    (word) @_option
    (variable_assignment name: (variable_name) @name)
    (#match? @_option "^-[a-zA-Z]*r")) @definition.constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @definition.variable)
(program (variable_assignment name: (variable_name) @name) @definition.variable)

(command
  name: (command_name (word) @_command)
  .
  argument: (_) @reference.import
  (#any-of? @_command "source" "." "load"))

(command name: (command_name (word) @reference.call) (#match? @reference.call "^[A-Za-z_]"))
