package tools;

import java.util.List;

/** Writes orders as comma separated values for the accountant. */
public class Export {
    private final char separator;

    public Export(char separator) {
        this.separator = separator;
    }

    /** One line of the file. */
    public String line(List<String> cells) {
        return String.join(String.valueOf(separator), cells);
    }
}
