; Fortran: modules and programs hold procedures; those of an interface block are left out.

(module (module_statement (name) @name)) @definition.module
(submodule (submodule_statement (name) @name .)) @definition.module
(program (program_statement (name) @name)) @definition.module

(interface (function (function_statement name: (name) @name)) @definition.prototype)
(interface (subroutine (subroutine_statement name: (name) @name)) @definition.prototype)
(interface (interface_statement [(name) (operator)] @name)) @definition.interface
(function (function_statement name: (name) @name)) @definition.function
(subroutine (subroutine_statement name: (name) @name)) @definition.function
(module_procedure (module_procedure_statement name: (name) @name)) @definition.function

(derived_type_definition (derived_type_statement (type_name) @name)) @definition.struct
(derived_type_procedures
  (procedure_statement
    declarator: [(method_name) @name (binding (binding_name (identifier) @name))]) @definition.method)

(module
  (variable_declaration
    attribute: (type_qualifier) @_parameter
    declarator: (init_declarator left: [(identifier) @name (sized_declarator . (identifier) @name)])
    (#match? @_parameter "^[Pp][Aa][Rr][Aa][Mm][Ee][Tt][Ee][Rr]$")) @definition.constant)
(module
  (variable_declaration
    declarator: [
      (identifier) @name
      (sized_declarator . (identifier) @name)
      (init_declarator left: [(identifier) @name (sized_declarator . (identifier) @name)])
    ]) @definition.variable)

(use_statement (module_name) @reference.import)
(include_statement path: (filename) @reference.import)

(call_expression . (identifier) @reference.call)
(call_expression . (derived_type_member_expression (type_member) @reference.call .))
(subroutine_call subroutine: (identifier) @reference.call)
(subroutine_call subroutine: (derived_type_member_expression (type_member) @reference.call .))

(derived_type name: (type_name) @reference.type)
(base_type_specifier (identifier) @reference.type)
