package depot;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A crate holds parcels in the order in which they came, up to its capacity.
 * Who asks a crate for a parcel gets the oldest one; nothing is taken out of the
 * middle. A crate that is full refuses what is put into it, and says so: the
 * caller decides if another crate is opened or the parcel waits at the gate.
 * 
 * A crate belongs to one shelf at a time. When it is moved, its shelf tells the
 * ledger before the crate is lifted, so that a count in the middle of a move finds
 * each crate exactly once. Whoever counts holds no lock, and may see a crate at its
 * old place; it will not see it twice.
 * 
 * A crate is closed by its seal. A crate with a seal can be moved and weighed, and
 * nothing can be put into it or taken out of it until somebody breaks the seal,
 * which the ledger keeps with the name of that person and the hour. The weight of
 * a crate is that of its parcels and of its own wood, which is weighed once, when
 * the crate is made, in grams.
 * 
 * Crates are compared by their number alone, and a number is given only once; two
 * crates with the same parcels are two crates. The number is printed on each of
 * the four sides, and on the lid.
 */
public final class Crate {
    private static final int WOOD_GRAMS = 1200;
    private final Deque<Parcel> parcels = new ArrayDeque<>();
    private final int capacity;
    private final long number;
    private Seal seal;

    public Crate(long number) {
        this(number, 12);
    }

    public Crate(long number, int capacity) {
        if (capacity <= 0) {
            throw new IllegalArgumentException("Crate: the capacity of a crate is at least 1, not " + capacity);
        }
        if (number < 0) {
            throw new IllegalArgumentException("Crate: the number of a crate is not negative: " + number);
        }
        this.number = number;
        this.capacity = capacity;
    }

    public Crate(Crate other) {
        this(other.number, other.capacity);
        for (Parcel parcel : other.parcels) {
            put(new Parcel(parcel));
        }
        if (other.seal != null) {
            seal = other.seal.copyFor(this);
        }
    }

    public void put(Parcel parcel) {
        if (seal != null) {
            throw new IllegalStateException("crate " + number + " is sealed");
        }
        if (parcels.size() == capacity) {
            throw new IllegalStateException("crate " + number + " is full");
        }
        parcels.addLast(parcel);
    }

    public Parcel take() {
        if (seal != null) {
            throw new IllegalStateException("crate " + number + " is sealed");
        }
        return parcels.removeFirst();
    }

    public int grams() {
        int sum = WOOD_GRAMS;
        for (Parcel parcel : parcels) {
            sum += parcel.grams();
        }
        return sum;
    }
}
