package wiregauge;

/** A message that may not be written, or bytes that are no message. */
public final class WireException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    private final Problem problem;

    /**
     * Of what is wrong.
     *
     * @param problem what is wrong
     */
    public WireException(Problem problem) {
        super(problem.words);
        this.problem = problem;
    }

    /**
     * What is wrong.
     *
     * @return what is wrong
     */
    public Problem problem() {
        return problem;
    }

    /** What may be wrong. */
    public enum Problem {
        /** The bytes end too early. */
        ENDS_TOO_EARLY("the bytes end too early"),
        /** Bytes are left over behind the message. */
        LEFT_OVER("bytes are left over behind the message"),
        /** A list or text is longer than its bound. */
        TOO_MANY("a list or text is longer than its bound"),
        /** A list takes other bytes than its size says. */
        OTHER_SIZE("a list takes other bytes than its size says"),
        /** A fixed array has another length. */
        OTHER_LENGTH("a fixed array has another length"),
        /** An unsigned number is negative or too large. */
        OUT_OF_RANGE("an unsigned number is negative or too large"),
        /** Something that must be there is null. */
        IS_NULL("something that must be there is null"),
        /** A truth value is neither 0 nor 1. */
        NO_TRUTH_VALUE("a truth value is neither 0 nor 1"),
        /** A text cannot be said in UTF-8, or has a zero where it does not end. */
        NO_TEXT("a text is not UTF-8, or has a zero where it does not end"),
        /** The bytes do not begin with the wire's header for little-endian. */
        NO_HEADER("the bytes do not begin with the wire's header for little-endian"),
        /** The buffer is too small for the message, or the message for any. */
        NO_ROOM("the memory is too small for the message"),
        /** An integer or a key is too long, or a key that cannot be. */
        NO_INTEGER("an integer or a key is too long, or a key that cannot be"),
        /** A group does not end, or another one does. */
        NO_GROUP("a group does not end, or another one does"),
        /** Records are more than 100 deep in each other. */
        TOO_DEEP("records are more than 100 deep in each other"),
        /** A required field is missing. */
        MISSING("a required field is missing");

        private final String words;

        Problem(String words) {
            this.words = words;
        }
    }
}
