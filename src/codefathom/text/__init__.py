"""Text as such: words, regular expressions, and how foreign text is shown."""
