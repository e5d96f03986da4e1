; SQL: what CREATE makes. Columns are left out; a name with a schema is qualified by it (see clauses.py).

(create_table (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (column_definitions)? @body) @definition.struct
(create_view (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (create_query)? @body) @definition.struct
(create_materialized_view (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (create_query)? @body) @definition.struct
(create_type (object_reference schema: (identifier)? @scope name: (identifier) @name)) @definition.type
(create_function
  (keyword_function)
  . (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (function_body)? @body) @definition.function
(create_trigger
  (keyword_trigger)
  . (object_reference schema: (identifier)? @scope name: (identifier) @name)) @definition.function
(create_sequence (object_reference schema: (identifier)? @scope name: (identifier) @name)) @definition.variable
(create_index column: (identifier) @name) @definition.variable
(create_schema (identifier) @name) @definition.module

(marginalia) @margin.comment

(invocation . (object_reference name: (identifier) @reference.call))
(create_trigger (keyword_execute) (object_reference name: (identifier) @reference.call))

(relation (object_reference name: (identifier) @reference.type))
(from (object_reference name: (identifier) @reference.type))
(insert (object_reference name: (identifier) @reference.type))
(column_definition (keyword_references) (object_reference name: (identifier) @reference.type))
(constraint (keyword_references) (object_reference name: (identifier) @reference.type))
(create_index (object_reference name: (identifier) @reference.type))
(create_trigger (keyword_on) . (object_reference name: (identifier) @reference.type))
(alter_table (object_reference name: (identifier) @reference.type))
