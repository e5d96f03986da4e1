; Clojure: a form whose first word defines; the namespace holds its file (see clauses.py).

((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit) @name
  . (str_lit)? @doc) @definition.module
  (#eq? @_form "ns"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit name: (sym_name) @name)
  . (str_lit)? @doc
  . [(vec_lit) (list_lit)] @body) @definition.function
  (#any-of? @_form "defn" "defn-" "deftask"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit name: (sym_name) @name)
  . (str_lit)? @doc) @definition.function
  (#any-of? @_form "defn" "defn-" "defmulti" "defmethod" "deftest" "deftask"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit name: (sym_name) @name)
  . (str_lit)? @doc) @definition.macro
  (#eq? @_form "defmacro"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit name: (sym_name) @name)
  . (str_lit)? @doc) @definition.interface
  (#any-of? @_form "defprotocol" "definterface"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit name: (sym_name) @name)) @definition.class
  (#any-of? @_form "defrecord" "deftype" "extend-type"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit name: (sym_name) @name)
  . (str_lit) @doc
  . (_)) @definition.variable
  (#any-of? @_form "def" "defonce"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  . (sym_lit name: (sym_name) @name)
  . (_)) @definition.variable
  (#any-of? @_form "def" "defonce"))
((list_lit
  . (sym_lit name: (sym_name) @_form)
  (list_lit . (sym_lit name: (sym_name) @name) . (vec_lit) @body) @definition.method)
  (#any-of? @_form "defrecord" "deftype" "extend-type" "defprotocol" "definterface"))

((list_lit
  . (sym_lit) @_form
  (list_lit
    . (kwd_lit) @_use
    [(sym_lit) @reference.import (vec_lit . (sym_lit) @reference.import)]))
  (#eq? @_form "ns")
  (#any-of? @_use ":require" ":use" ":import" ":require-macros"))
((list_lit
  . (sym_lit) @_form
  (list_lit . (kwd_lit) @_use (list_lit . (sym_lit) @import.module (sym_lit)+ @import.name)))
  (#eq? @_form "ns")
  (#eq? @_use ":import"))
((list_lit
  . (sym_lit) @_form
  (quoting_lit [(sym_lit) @reference.import (vec_lit . (sym_lit) @reference.import)]))
  (#any-of? @_form "require" "use" "import"))

((list_lit . (sym_lit name: (sym_name) @reference.call))
  (#not-match? @reference.call "^(ns|def[a-z-]*|declare|extend-(type|protocol)|let|letfn|fn|(if|when)(-[a-z]+)?|condp?|case|do|loop|recur|quote|var|try|catch|finally|throw|new|set!|comment|for|doseq|dotimes|and|or|not|require|use|import|.*\\..+|\\.|(some|as|cond)?->>?)$"))

((list_lit
  . (sym_lit) @_form
  . (sym_lit)
  (sym_lit name: (sym_name) @reference.type))
  (#any-of? @_form "defrecord" "deftype" "extend-type" "extend-protocol"))
((sym_lit name: (sym_name) @reference.type) (#match? @reference.type "^[A-Z][A-Za-z0-9]+$"))
((sym_lit namespace: (sym_ns) @reference.type) (#match? @reference.type "^[A-Z]"))
