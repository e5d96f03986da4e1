; Perl: a package reaches to the next one, and names have no sign ($ @ %) in front (see clauses.py).

(package_statement (package_name) @name body: (block)? @body) @definition.module

(function_definition name: (_) @name body: (_)? @body) @definition.function

(use_constant_statement constant: (identifier) @name) @definition.constant
(use_constant_statement
  value: (hash_ref
    (call_expression_with_bareword function_name: (identifier) @name) @definition.constant
    . (fat_comma)))
((variable_declaration
  (scope) @_scope
  variable_name: (_) @name) @definition.variable
  (#any-of? @_scope "our" "state"))

(comments) @margin.comment
(pod_statement) @margin.comment

(use_no_statement
  package_name: (package_name) @reference.import
  (#not-match? @reference.import "^(strict|warnings|utf8|feature|vars|lib|integer|bytes|overload)$"))
(require_statement package_name: (package_name) @reference.import)
(use_parent_statement [(string_single_quoted) (string_double_quoted)] @reference.import)
(use_parent_statement (word_list_qw (list_item) @reference.import))

(call_expression_with_args_with_brackets (call_expression_with_bareword function_name: (identifier) @reference.call))
(call_expression_with_spaced_args (call_expression_with_bareword function_name: (identifier) @reference.call))
(call_expression_with_bareword (package_name) function_name: (identifier) @reference.call)
(method_invocation function_name: (identifier) @reference.call)

(method_invocation package_name: (package_name) @reference.type)
