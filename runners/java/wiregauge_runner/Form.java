package wiregauge_runner;

/** The normalized form: objects, read from canonical bytes and written as such, untimed. */
public interface Form {
    /** The message in canonical bytes. */
    Object read(byte[] canonical);

    /** The canonical bytes of a message. */
    byte[] write(Object message);
}
