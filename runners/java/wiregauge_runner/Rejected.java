package wiregauge_runner;

/**
 * A message that the format cannot say. It is no fault of the codec, which is then shown as
 * rejected and not as failed.
 */
public final class Rejected extends Exception {
    private static final long serialVersionUID = 1;

    public Rejected(String why) {
        super(why);
    }
}
