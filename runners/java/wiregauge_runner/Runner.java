package wiregauge_runner;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** One runner: a codec and the messages that it was given. */
final class Runner {
    private static final String[] READINGS = {"project", "fixed", "element"};

    /**
     * How long the compiler is given before allocations are counted, in nanoseconds. Tests to
     * which their number is nothing give it less.
     */
    private static final long COMPILED = Long.getLong("wiregauge.compiled", 500_000_000);

    private final Supplier<Codec> factory;
    private final Form form;
    private final Codec codec;
    private final List<Sample> samples = new ArrayList<>();

    /** Nanoseconds of the first encoding and the first decoding; less than 0 before them. */
    private long firstEncode = -1;

    private long firstDecode = -1;

    /** Whether the messages are among the old objects, which small collections leave alone. */
    private boolean isSettled;

    Runner(Supplier<Codec> factory, Form form) {
        this.factory = factory;
        this.form = form;
        this.codec = factory.get();
    }

    /** The reply to a request. */
    byte[] answer(String[] words, byte[] payload) throws Exception {
        switch (words[0]) {
            case "hello":
                return hello(words[1]);
            case "schema":
                return new byte[0]; // it is built in
            case "reset":
                samples.clear();
                isSettled = false;
                return new byte[0];
            case "message":
                return message(payload);
            case "decode":
                return decode(payload);
            case "values":
                return values(samples.get(Integer.parseInt(words[1])));
            case "run":
                return run(words);
            case "allocations":
                return allocations(words);
            case "cold":
                return cold();
            case "collections":
                return collections(words);
            default:
                throw new IllegalArgumentException("there is no request '" + words[0] + "'");
        }
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private byte[] hello(String version) {
        if (!version.equals("2")) {
            throw new IllegalArgumentException(
                    "protocol " + version + " is asked for, this runner speaks 2");
        }
        return text("library " + codec.library()
                + "\nexperiments " + String.join(" ", Loop.experiments(codec))
                + "\nunchecked " + (codec.isUnchecked() ? "yes" : "no")
                + "\nmanaged yes"
                + "\ncompiles yes\n");
    }

    private byte[] message(byte[] canonical) throws Exception {
        Object message = form.read(canonical);
        codec.admit(message);
        long start = System.nanoTime();
        var wire = codec.write(codec.populate(message));
        long ns = System.nanoTime() - start;
        firstEncode = firstEncode < 0 ? ns : firstEncode;
        byte[] bytes = Loop.copy(wire);
        samples.add(new Sample(message, bytes));
        isSettled = false;
        return bytes;
    }

    private byte[] decode(byte[] wire) throws Exception {
        var bytes = java.nio.ByteBuffer.wrap(wire);
        long start = System.nanoTime();
        Object message = codec.extract(codec.parse(bytes));
        long ns = System.nanoTime() - start;
        firstDecode = firstDecode < 0 ? ns : firstDecode;
        return form.write(message);
    }

    private byte[] values(Sample sample) throws Exception {
        StringBuilder reply = new StringBuilder();
        for (String reading : READINGS) {
            double value = switch (reading) {
                case "project" -> codec.project(sample.wire());
                case "fixed" -> codec.fixed(sample.wire());
                default -> codec.element(sample.wire());
            };
            Tally tally = codec.exact(reading, sample.wire());
            reply.append(reading + " " + value + " " + tally.count + " "
                    + Long.toUnsignedString(tally.hash) + "\n");
        }
        return text(reply.toString());
    }

    private byte[] run(String[] words) throws Exception {
        String experiment = words[1];
        if (!words[6].startsWith("prove=")) {
            throw new IllegalArgumentException(
                    "prove=INDEX or prove=none, not '" + words[6] + "'");
        }
        String which = words[6].substring("prove=".length());
        Sample prove = which.equals("none") ? null : samples.get(Integer.parseInt(which));
        Loop loop = loop(words, prove);
        loop.run(experiment);
        String head = "ns " + Math.max(loop.ns, 1) + "\nsum " + loop.sum + "\n";
        String whole = experiment.split("/")[0];
        if (prove == null) {
            return text(head);
        }
        if (List.of(READINGS).contains(whole)) {
            Tally tally = codec.exact(whole, prove.wire());
            return text(head + "count " + tally.count + "\nhash "
                    + Long.toUnsignedString(tally.hash) + "\n");
        }
        if (experiment.equals("client")) {
            Tally tally = codec.exact("project", java.nio.ByteBuffer.wrap(loop.encoded));
            head += "count " + tally.count + "\nhash " + Long.toUnsignedString(tally.hash) + "\n";
        }
        byte[] encoded = loop.encoded == null ? new byte[0] : loop.encoded;
        byte[] decoded = loop.decoded == null ? new byte[0] : form.write(loop.decoded);
        if (loop.encoded != null) {
            head += "encoded " + encoded.length + "\n";
        }
        if (loop.decoded != null) {
            head += "decoded " + decoded.length + "\n";
        }
        if (loop.encoded == null && loop.decoded == null) {
            return text(head);
        }
        byte[] lines = text(head + "\n");
        byte[] reply = java.util.Arrays.copyOf(
                lines, lines.length + encoded.length + decoded.length);
        System.arraycopy(encoded, 0, reply, lines.length, encoded.length);
        System.arraycopy(decoded, 0, reply, lines.length + encoded.length, decoded.length);
        return reply;
    }

    private byte[] collections(String[] words) throws Exception {
        Loop loop = loop(words, null);
        long before = Machine.collecting();
        long count = Machine.collections();
        loop.run(words[1]);
        // It is told in milliseconds.
        long collecting = Math.min((Machine.collecting() - before) * 1_000_000, loop.ns);
        return text("ns " + Math.max(loop.ns, 1) + "\ncollecting " + collecting
                + "\ncollections " + (Machine.collections() - count) + "\n");
    }

    private byte[] cold() {
        if (firstEncode < 0 || firstDecode < 0) {
            throw new IllegalArgumentException("no message was encoded and decoded yet");
        }
        return text("encode " + firstEncode + "\ndecode " + firstDecode + "\n");
    }

    /** Bytes for each message, by the code as the compiler leaves it: it makes some need none. */
    private byte[] allocations(String[] words) throws Exception {
        String[] turns = {
            words[0], words[1], String.valueOf(samples.size()), words[2], words[3], words[4]
        };
        long start = System.nanoTime();
        do {
            loop(turns, null).run(words[1]);
        } while (System.nanoTime() - start < COMPILED);
        Loop loop = loop(turns, null);
        long before = Machine.allocated();
        long nothing = Machine.allocated() - before;
        before = Machine.allocated();
        loop.run(words[1]);
        double bytes = Machine.allocated() - before - nothing;
        return text("bytes " + Math.max(bytes, 0) / samples.size() + "\n");
    }

    /** The loop with these settings, all of which have to be stated. */
    private Loop loop(String[] words, Sample prove) {
        if (samples.isEmpty()) {
            throw new IllegalArgumentException("no message is loaded");
        }
        if (!Loop.experiments(codec).contains(words[1])) {
            throw new IllegalArgumentException("there is no experiment '" + words[1] + "'");
        }
        if (!isSettled) {
            System.gc();
            isSettled = true;
        }
        boolean keeps = lives(words[3], "scratch");
        codec.objectsReused = lives(words[4], "objects");
        codec.buffersReused = lives(words[5], "buffers");
        return new Loop(
                keeps ? null : factory, codec, samples, Integer.parseInt(words[2]), prove);
    }

    /** Whether it is reused, by a word {@code NAME=reused} or {@code NAME=fresh}. */
    private static boolean lives(String word, String name) {
        if (!word.equals(name + "=reused") && !word.equals(name + "=fresh")) {
            throw new IllegalArgumentException(
                    name + "=reused or " + name + "=fresh, not '" + word + "'");
        }
        return word.endsWith("=reused");
    }
}
