package wiregauge;

/** What Protobuf's wire wants of a holder. */
public interface Tagged {
    /**
     * Puts its fields, the last one first.
     *
     * @param encoder what they are put into
     * @throws WireException when it may not be written
     */
    void put(Encoder encoder) throws WireException;

    /**
     * Reads fields to the end of the bytes or the group, into what is there.
     *
     * @param decoder what they are read with
     * @throws WireException when they are no fields
     */
    void merge(Decoder decoder) throws WireException;

    /** Makes it what it begins as. */
    void clear();
}
