; Erlang: the module holds its file; a specification and the clauses below it are one symbol (see clauses.py).

(module_attribute name: (atom) @name) @definition.module

(spec fun: (atom) @name) @definition.function
(fun_decl clause: (function_clause name: (atom) @name body: (_) @body)) @definition.function
(callback fun: (atom) @name) @definition.function

(record_decl name: (atom) @name) @definition.struct
(type_alias name: (type_name name: (atom) @name)) @definition.type
(opaque name: (type_name name: (atom) @name)) @definition.type
(pp_define lhs: (macro_lhs name: [(var) (atom)] @name)) @definition.macro

(behaviour_attribute name: (atom) @reference.import)
(import_attribute module: (atom) @reference.import)
(pp_include file: (string) @reference.import)
(pp_include_lib file: (string) @reference.import)

(call expr: (atom) @reference.call)
(call expr: (remote fun: (atom) @reference.call))
(external_fun fun: (atom) @reference.call)
(internal_fun fun: (atom) @reference.call)
(macro_call_expr
  name: [(var) (atom)] @reference.call
  (#not-match? @reference.call "^(MODULE|LINE|FILE|FUNCTION_NAME)$"))

(remote_module module: (atom) @reference.type)
(record_name name: (atom) @reference.type)
(field_type expr: (call expr: (atom) @reference.type))
