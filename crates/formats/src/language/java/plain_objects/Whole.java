import java.nio.ByteBuffer;
import wiregauge_runner.Codec;
import wiregauge_runner.Tally;

/** A library that takes the normalized form as it is, and reads no part of a message alone. */
abstract class Whole extends Codec {
    @Override
    public final double project(ByteBuffer wire) throws Exception {
        return Numbers.project(parse(wire));
    }

    @Override
    public final double fixed(ByteBuffer wire) throws Exception {
        return Numbers.fixed(parse(wire));
    }

    @Override
    public final double element(ByteBuffer wire) throws Exception {
        return Numbers.element(parse(wire));
    }

    @Override
    public final Tally exact(String reading, ByteBuffer wire) throws Exception {
        return Numbers.exact(reading, parse(wire));
    }
}
