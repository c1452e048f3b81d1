import java.nio.ByteBuffer;
import wiregauge_runner.Codec;
import wiregauge_runner.Tally;

/**
 * A codec that reads numbers of the object that {@code parse} returns. A library that can read a
 * part of a message alone overrides the readings.
 */
abstract class ParsingCodec extends Codec {
    @Override
    public double project(ByteBuffer wire) throws Exception {
        return Numbers.project(parse(wire));
    }

    @Override
    public double fixed(ByteBuffer wire) throws Exception {
        return Numbers.fixed(parse(wire));
    }

    @Override
    public double element(ByteBuffer wire) throws Exception {
        return Numbers.element(parse(wire));
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) throws Exception {
        return Numbers.exact(reading, parse(wire));
    }
}
