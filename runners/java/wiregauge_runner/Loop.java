package wiregauge_runner;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * One run of an experiment: so many messages, taking turns over the samples. With a sample to prove
 * it is done once more on that, untimed, by the same code.
 *
 * <p>Each experiment has a loop of its own, so that what the compiler learned of one does not change
 * another. What comes out is either added up, or put where every thread could see it: the compiler
 * must then make all of it.
 */
final class Loop {
    /** Bytes of objects that are made ahead where only what follows is timed. */
    private static final int AHEAD = 1 << 16;

    private static final VarHandle SEEN;

    /** What was made last. */
    @SuppressWarnings("unused")
    private static Object seen;

    static {
        try {
            SEEN = MethodHandles.lookup().findStaticVarHandle(Loop.class, "seen", Object.class);
        } catch (ReflectiveOperationException error) {
            throw new ExceptionInInitializerError(error);
        }
    }

    /** Makes the codec anew for each message where scratch is fresh; null where it is kept. */
    private final Supplier<Codec> factory;

    private final Codec kept;
    private final List<Sample> samples;
    private final int iterations;
    private final Sample prove;

    /** How long it took. */
    long ns;

    /** What it added up to. */
    double sum;

    /** The bytes that one more iteration made. */
    byte[] encoded;

    /** The message that one more iteration made. */
    Object decoded;

    Loop(Supplier<Codec> factory, Codec kept, List<Sample> samples, int iterations, Sample prove) {
        this.factory = factory;
        this.kept = kept;
        this.samples = samples;
        this.iterations = iterations;
        this.prove = prove;
    }

    /** The names of what a codec can do. */
    static List<String> experiments(Codec codec) {
        List<String> names = new ArrayList<>(
                Arrays.asList("encode", "decode", "project", "fixed", "element", "roundtrip"));
        if (codec.isPhased()) {
            names.addAll(Arrays.asList(
                    "encode/populate", "encode/write", "decode/parse", "decode/extract"));
        }
        if (codec.hasClients()) {
            names.add("client");
        }
        if (codec.verifies()) {
            names.add("verify");
            if (codec.isUnchecked()) {
                names.addAll(Arrays.asList("decode/checked", "project/checked"));
            }
        }
        return names;
    }

    /** The compiler has to make all of an object that others may see. */
    private static void consume(Object made) {
        SEEN.setRelease(made);
    }

    private Codec codec() {
        if (factory == null) {
            return kept;
        }
        Codec fresh = factory.get();
        fresh.objectsReused = kept.objectsReused;
        fresh.buffersReused = kept.buffersReused;
        return fresh;
    }

    /** Does an experiment. */
    void run(String experiment) throws Exception {
        switch (experiment) {
            case "encode" -> encode();
            case "decode" -> decode();
            case "project" -> project();
            case "fixed" -> fixed();
            case "element" -> element();
            case "roundtrip" -> roundtrip();
            case "client" -> client();
            case "encode/populate" -> populate();
            case "encode/write" -> write();
            case "decode/parse" -> parse();
            case "decode/extract" -> extract();
            case "verify" -> verify();
            case "decode/checked" -> decodeChecked();
            case "project/checked" -> projectChecked();
            default -> throw new IllegalArgumentException(
                    "there is no experiment '" + experiment + "'");
        }
    }

    private Sample turn(int turn) {
        return samples.get(turn % samples.size());
    }

    private static ByteBuffer encode(Codec codec, Sample sample) throws Exception {
        return codec.write(codec.populate(sample.message));
    }

    private static Object decode(Codec codec, ByteBuffer wire) throws Exception {
        return codec.extract(codec.parse(wire));
    }

    static byte[] copy(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return copy;
    }

    private void encode() throws Exception {
        long total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            ByteBuffer wire = encode(codec(), turn(turn));
            consume(wire.array());
            total += wire.remaining();
        }
        ns = System.nanoTime() - start;
        sum = total;
        if (prove != null) {
            encoded = copy(encode(codec(), prove));
        }
    }

    private void decode() throws Exception {
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            consume(decode(codec(), turn(turn).wire()));
        }
        ns = System.nanoTime() - start;
        if (prove != null) {
            decoded = decode(codec(), prove.wire());
        }
    }

    private void decodeChecked() throws Exception {
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            Codec codec = codec();
            codec.verify(turn(turn).wire());
            consume(decode(codec, turn(turn).wire()));
        }
        ns = System.nanoTime() - start;
        if (prove != null) {
            decoded = decode(codec(), prove.wire());
        }
    }

    private void project() throws Exception {
        double total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            total += codec().project(turn(turn).wire());
        }
        ns = System.nanoTime() - start;
        sum = total;
    }

    private void projectChecked() throws Exception {
        double total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            Codec codec = codec();
            codec.verify(turn(turn).wire());
            total += codec.project(turn(turn).wire());
        }
        ns = System.nanoTime() - start;
        sum = total;
    }

    private void fixed() throws Exception {
        double total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            total += codec().fixed(turn(turn).wire());
        }
        ns = System.nanoTime() - start;
        sum = total;
    }

    private void element() throws Exception {
        double total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            total += codec().element(turn(turn).wire());
        }
        ns = System.nanoTime() - start;
        sum = total;
    }

    private void roundtrip() throws Exception {
        long total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            Codec codec = codec();
            ByteBuffer wire = encode(codec, turn(turn));
            total += wire.remaining();
            consume(decode(codec, wire));
        }
        ns = System.nanoTime() - start;
        sum = total;
        if (prove != null) {
            Codec codec = codec();
            ByteBuffer wire = encode(codec, prove);
            encoded = copy(wire.duplicate());
            decoded = decode(codec, wire);
        }
    }

    /** Builds the library's object, and reads what was parsed. */
    private void client() throws Exception {
        double total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            Codec codec = codec();
            total += codec.project(codec.write(codec.build(turn(turn).message)));
        }
        ns = System.nanoTime() - start;
        sum = total;
        if (prove != null) {
            Codec codec = codec();
            encoded = copy(codec.write(codec.build(prove.message)));
        }
    }

    private void populate() throws Exception {
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            consume(codec().populate(turn(turn).message));
        }
        ns = System.nanoTime() - start;
    }

    private void parse() throws Exception {
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            consume(codec().parse(turn(turn).wire()));
        }
        ns = System.nanoTime() - start;
    }

    private void verify() throws Exception {
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            codec().verify(turn(turn).wire());
        }
        ns = System.nanoTime() - start;
    }

    /** Objects are populated ahead, one for each message. */
    private void write() throws Exception {
        boolean reused = kept.objectsReused;
        kept.objectsReused = false;
        if (kept.remembers()) {
            writeOnce();
        } else {
            writeAgain();
        }
        if (prove != null) {
            encoded = copy(codec().write(kept.populate(prove.message)));
        }
        kept.objectsReused = reused;
    }

    private void writeAgain() throws Exception {
        Object[] items = new Object[samples.size()];
        for (int place = 0; place < items.length; place++) {
            items[place] = kept.populate(samples.get(place).message);
        }
        long total = 0;
        long start = System.nanoTime();
        for (int turn = 0; turn < iterations; turn++) {
            ByteBuffer wire = codec().write(items[turn % items.length]);
            consume(wire.array());
            total += wire.remaining();
        }
        ns = System.nanoTime() - start;
        sum = total;
    }

    /** Each object is written once: so many are populated ahead, untimed. */
    private void writeOnce() throws Exception {
        Object[] items = ahead();
        long total = 0;
        for (int done = 0; done < iterations; done += items.length) {
            int count = Math.min(items.length, iterations - done);
            for (int place = 0; place < count; place++) {
                items[place] = kept.populate(turn(done + place).message);
            }
            long start = System.nanoTime();
            for (int place = 0; place < count; place++) {
                ByteBuffer wire = codec().write(items[place]);
                consume(wire.array());
                total += wire.remaining();
            }
            ns += System.nanoTime() - start;
        }
        sum = total;
    }

    /** Room for as many objects as keep the clock's own cost small. */
    private Object[] ahead() {
        int largest = 1;
        for (Sample sample : samples) {
            largest = Math.max(largest, sample.size());
        }
        return new Object[Math.min(Math.max(AHEAD / largest, 1), 64)];
    }

    /** Objects are parsed ahead, and only their extraction is timed. */
    private void extract() throws Exception {
        boolean reused = kept.objectsReused;
        kept.objectsReused = false;
        Object[] parsed = ahead();
        for (int done = 0; done < iterations; done += parsed.length) {
            int count = Math.min(parsed.length, iterations - done);
            for (int place = 0; place < count; place++) {
                parsed[place] = kept.parse(turn(done + place).wire());
            }
            long start = System.nanoTime();
            for (int place = 0; place < count; place++) {
                consume(codec().extract(parsed[place]));
            }
            ns += System.nanoTime() - start;
        }
        if (prove != null) {
            decoded = kept.extract(kept.parse(prove.wire()));
        }
        kept.objectsReused = reused;
    }
}
