import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import limits.Limited;
import limits.Point;
import limits.String_;
import wiregauge.Wire;
import wiregauge.WireException;
import wiregauge.WireException.Problem;

/** What a message may not hold is refused when it is written, each for its reason. */
final class Limits {
    private Limits() {}

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static void refused(Problem problem, Consumer<Limited> change) {
        Limited message = new Limited();
        change.accept(message);
        ByteBuffer room = ByteBuffer.allocate(4096);
        try {
            Wire.CDR.serialize(message, room);
        } catch (WireException error) {
            check(error.problem() == problem, problem + " is wanted, not " + error.problem());
            check(room.position() == 0, "the position of a buffer has moved");
            return;
        }
        throw new AssertionError("not refused: " + problem);
    }

    public static void main(String[] arguments) throws WireException {
        refused(Problem.OUT_OF_RANGE, message -> message.small = 256);
        refused(Problem.OUT_OF_RANGE, message -> message.small = -1);
        refused(Problem.OUT_OF_RANGE, message -> message.middle = 65536);
        refused(Problem.OUT_OF_RANGE, message -> message.large = 1L << 32);
        refused(Problem.OUT_OF_RANGE, message -> message.large = -1);
        refused(Problem.TOO_MANY, message -> message.Arrays_ = new float[3]);
        refused(Problem.TOO_MANY, message -> message.word = "äöü");
        refused(Problem.TOO_MANY, message -> message.words = List.of("a", "bc", "def"));
        refused(Problem.OTHER_LENGTH, message -> message.three = new double[2]);
        refused(Problem.OTHER_LENGTH, message -> message.corners = new Point[3]);
        refused(Problem.IS_NULL, message -> message.word = null);
        refused(Problem.IS_NULL, message -> message.three = null);
        refused(Problem.IS_NULL, message -> message.words = Arrays.asList("a", null));
        refused(Problem.IS_NULL, message -> message.corners[1] = null);
        refused(Problem.IS_NULL, message -> message.Point = null);
        refused(Problem.IS_NULL, message -> message.points = null);
        refused(Problem.IS_NULL, message -> message.data = null);
        refused(Problem.NO_TEXT, message -> message.word = "\ud83d");
        refused(Problem.NO_TEXT, message -> message.word = "\udfff!");
        refused(Problem.NO_TEXT, message -> message.word = "\0");

        Limited message = new Limited();
        message.small = 255;
        message.middle = 65535;
        message.large = 0xffffffffL;
        message.biggest = -1;
        message.data = new byte[] {(byte) 200};
        message.word = "\ud83d\ude00";
        // Lists that may not be changed are replaced, not read into.
        message.words = List.of("ß", "");
        message.points = List.of(new Point());
        String_ text = new String_();
        text.data = "ß\ufffd";
        message.string = text;
        for (Wire wire : Wire.values()) {
            ByteBuffer bytes = wire.serialize(message);
            Limited again = wire.deserialize(bytes.duplicate(), new Limited());
            check(again.equals(message) && !again.equals(new Limited()), wire + ": another");
            check(again.large == 0xffffffffL && again.biggest == -1, wire + ": other numbers");
            check(again.toString().contains("biggest=18446744073709551615"), again.toString());
            wire.deserialize(bytes.duplicate(), message);
            check(again.equals(message), wire + ": another when used again");
        }
        check(Limited.int_ == -3 && Limited.MOST == 0xffffffffffffffffL, "other constants");
        check(Limited.WORD.equals("ß\\u000a\"") && Limited.LARGE == 4294967295L, Limited.WORD);
        System.out.println("done");
    }
}
