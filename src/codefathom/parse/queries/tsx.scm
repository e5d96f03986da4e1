; inherits: _jsx _types _ecma
