package depot;

public class Parcel {
    private final int grams;

    public Parcel(int grams) {
        this.grams = grams;
    }

    public Parcel(Parcel other) {
        this(other.grams);
    }

    public int grams() {
        return grams;
    }
}
