; A Svelte component in one file: the file is the component, its scripts are read in their own language.

(document) @definition.component

(script_element
  (start_tag
    (attribute
      (attribute_name) @_name
      (quoted_attribute_value (attribute_value) @_language)
      (#eq? @_name "lang")
      (#any-of? @_language "ts" "typescript")))
  (raw_text) @embedded.typescript)
(script_element (raw_text) @embedded.javascript)

(start_tag (tag_name) @reference.call (#match? @reference.call "^[A-Z]|-"))
(self_closing_tag (tag_name) @reference.call (#match? @reference.call "^[A-Z]|-"))
