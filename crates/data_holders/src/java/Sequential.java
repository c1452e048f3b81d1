package wiregauge;

/** What wires that write field after field want of a holder. */
public interface Sequential {
    /**
     * Adds what it takes.
     *
     * @param sizer what it is added to
     * @throws WireException when it may not be written
     */
    void measure(Sizer sizer) throws WireException;

    /**
     * Writes it, after it was measured.
     *
     * @param writer what it is written with
     */
    void write(Writer writer);

    /**
     * Reads it; what it holds is used again.
     *
     * @param reader what it is read with
     * @throws WireException when it is not what is there
     */
    void read(Reader reader) throws WireException;
}
