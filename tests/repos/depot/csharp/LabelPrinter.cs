namespace Depot.Label
{
    public class LabelPrinter
    {
        public Label Label { get; set; }

        public string Print() => Label.Print(System.ConsoleColor.Black);
    }
}
