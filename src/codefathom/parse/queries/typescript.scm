; inherits: _types _ecma
