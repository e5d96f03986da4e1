using System;

namespace Depot.Label
{
    using Ink = System.ConsoleColor;

    public class Label
    {
        private readonly string text;

        public Label(string text)
        {
            this.text = text ?? throw new ArgumentNullException(nameof(text));
        }

        public Label(Label label) : this(label.text)
        {
        }

        public string Print(Ink ink) => $"[{ink}] {text}";
    }
}
