package wiregauge_runner;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** The conversation with the gauge on standard input and output. */
public final class Serve {
    /** By what the gauge knows that memory was wanted without bound. */
    private static final int OUT_OF_MEMORY = 86;

    private Serve() {}

    /** Answers requests until there are no more. What libraries print goes to standard error. */
    public static void serve(Supplier<Codec> factory, Form form) throws IOException {
        InputStream requests = new BufferedInputStream(System.in);
        OutputStream replies = new BufferedOutputStream(System.out);
        System.setOut(System.err);
        Runner runner = new Runner(factory, form);
        for (String line = line(requests); line != null; line = line(requests)) {
            String[] words = line.split(" ");
            if (words[0].equals("quit")) {
                break;
            }
            byte[] payload = new byte[0];
            boolean hasPayload = switch (words[0]) {
                case "schema", "message", "decode" -> words.length == 2;
                default -> false;
            };
            if (hasPayload) {
                int size = Integer.parseInt(words[1]);
                payload = requests.readNBytes(size);
                if (payload.length != size) {
                    break;
                }
            }
            String word = "ok";
            byte[] reply;
            try {
                reply = runner.answer(words, payload);
            } catch (Rejected error) {
                word = "rejected";
                reply = error.getMessage().getBytes(StandardCharsets.UTF_8);
            } catch (Exception | StackOverflowError error) {
                // Whatever a library throws; the runner lives on.
                word = "error";
                reply = error.toString().getBytes(StandardCharsets.UTF_8);
            } catch (OutOfMemoryError error) {
                // What is left of the heap is anybody's guess, and so would be the next answer.
                System.err.println(error);
                Runtime.getRuntime().halt(OUT_OF_MEMORY);
                return;
            }
            replies.write((word + " " + reply.length + "\n").getBytes(StandardCharsets.US_ASCII));
            replies.write(reply);
            replies.flush();
        }
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int octet = in.read(); octet >= 0; octet = in.read()) {
            if (octet == '\n') {
                return line.toString(StandardCharsets.US_ASCII);
            }
            line.write(octet);
        }
        return null;
    }
}
